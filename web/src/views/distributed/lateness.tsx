// How late each rank starts each collective of a step: of the ranks' own spans, so of few ranks, or when asked.
import { useMemo } from "preact/hooks";
import { tableFrom } from "../../data/made_table.ts";
import { allRows, largestOf, sumsBy } from "../../data/rows.ts";
import type { Table } from "../../data/table.ts";
import { source, useSpans, useStartNs, valueOf, type Loaded } from "../../data/use.ts";
import { shortName } from "../../format.ts";
import { param, setParam } from "../../state.ts";
import { rankName } from "../../widgets/choice.tsx";
import { DataTable } from "../../widgets/data_table.tsx";
import { HeatMap } from "../../widgets/heat_map.tsx";
import { Empty, Ready } from "../../widgets/loaded.tsx";
import { stepWindow } from "../shared/step_windows.ts";
import { collectiveRuns, collectivesOf, type Blame, type Collective, type Run } from "./data.ts";
import { timelineAt } from "./links.ts";

const FEW_RANKS = 16;
const MOST_COLUMNS = 60;

interface Props {
  ranks: string[];
  steps: Table;
  numbers: string[];
  step: string;
  collectives: Table;
  blamed: Blame | null;
}

export function Lateness(props: Props) {
  const { ranks, steps, numbers } = props;
  const worstStep = largestOf(sumsBy(steps, "wait_ns", (row) => steps.exact("number", row))); // where most is waited
  const step = props.step || worstStep || numbers[0] || "";
  const isAsked = ranks.length <= FEW_RANKS || source.value?.kind === "report" || param("lateness") === "1";
  return (
    <section aria-labelledby="lateness">
      <h2 id="lateness">How late each rank comes to each collective of step {step}</h2>
      {isAsked ? <Matrix {...props} step={step} /> : (
        <p>This needs the spans of {ranks.length} ranks. <button type="button" onClick={() => setParam("lateness", "1")}>Load them</button></p>
      )}
    </section>
  );
}

function Matrix({ steps, step, ranks, collectives, blamed }: Props) {
  const startNs = useStartNs();
  const loaded = ranks.map((rank) => useSpans(rank, ranks.length));
  const all = together(loaded);
  const values = valueOf(all);
  const groups = new Set(allRows(collectives).map((row) => collectives.text("group", row)));
  const found = useMemo(() => {
    if (values === null) return [];
    const runs: Run[][] = values.map((spans, i) => {
      const rank = ranks[i]!;
      const at = stepWindow(steps, rank === "none" ? "" : rank, step, startNs);
      return at === null ? [] : collectiveRuns(spans, rank, startNs, { from: Number(at.params.from), to: Number(at.params.to) });
    });
    return collectivesOf(runs, groups.size <= 1);
  }, [steps, step, startNs, groups.size, ...(values ?? [])]);
  return (
    <Ready of={all}>
      {() => found.length === 0
        ? <Empty>No collective of this step was recorded on two ranks or more.</Empty>
        : <Found found={found} ranks={ranks} step={step} blamed={blamed} isOneGroup={groups.size <= 1} />}
    </Ready>
  );
}

function together(loaded: Loaded<Table>[]): Loaded<Table[]> {
  const failed = loaded.find((each) => each.state === "failed");
  if (failed?.state === "failed") return failed;
  const values = loaded.flatMap((each) => (each.state === "here" ? [each.value] : []));
  return values.length < loaded.length ? { state: "loading" } : { state: "here", value: values };
}

function Found({ found, ranks, step, blamed, isOneGroup }: { found: Collective[]; ranks: string[]; step: string; blamed: Blame | null; isOneGroup: boolean }) {
  const shown = found.length <= MOST_COLUMNS ? found : mostSkewed(found);
  const order = new Map(found.map((each, i) => [each, i + 1]));
  const late = shown.map((each) => new Map(each.runs.map((run) => [run.rank, run.start - each.first])));
  const table = useMemo(() => collectiveTable(found, step), [found, step]);
  return (
    <>
      <p class="muted">
        A row is a rank, a column a collective in order of time{shown.length < found.length && `, of ${found.length} the ${shown.length} whose ranks start furthest apart`}; dark is late.
        A cell leads to its collective in the timeline, on all ranks.
        {!isOneGroup && " Runs of several groups of ranks are told apart by their ends, which come together."}
      </p>
      <HeatMap label={`Start of each rank after the first one, by rank and collective of step ${step}`} unit="ns"
        rows={ranks.map((rank) => rankName(rank) + (rank === blamed?.rank ? " ⚑" : ""))} columns={shown.map((each) => String(order.get(each)))}
        cell={(r, c) => ({ value: late[c]!.get(ranks[r]!) ?? Number.NaN, link: timelineAt(shown[c]!) })} />
      <DataTable table={table} from="collectives" sort="-skew_ns" link={(row) => timelineAt(found[row]!)} label={`Collectives of step ${step}`} />
    </>
  );
}

function mostSkewed(found: Collective[]): Collective[] {
  const kept = new Set([...found].sort((a, b) => b.skew - a.skew).slice(0, MOST_COLUMNS));
  return found.filter((each) => kept.has(each));
}

const collectiveTable = (found: Collective[], step: string): Table =>
  tableFrom(`collectives_of_step_${step}`, [
    { name: "order", type: "integer", role: "key", help: "Place in the step, by the first start" },
    { name: "name", type: "text", help: "Kernel, or span on the host" },
    { name: "skew_ns", type: "integer", unit: "ns", help: "The last rank's start minus the first one's" },
    { name: "last_rank", type: "text", help: "Who starts last" },
    { name: "shortest_ns", type: "integer", unit: "ns", help: "The shortest of its runs: as long as it takes when nobody has to be waited for" },
    { name: "ranks", type: "integer", unit: "count", help: "Ranks that take part" },
  ], found.map((each, i) => [
    i + 1, shortName(each.name), each.skew, each.last.rank, Math.min(...each.runs.map((run) => run.end - run.start)), each.runs.length,
  ]));
