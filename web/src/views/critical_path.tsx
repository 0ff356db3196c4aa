// What would make the step shorter: what the critical path of each step is made of, by whom and by what name, and how long it
// would be if something took another time.
import { allRows, pickRows, ranksIn, rowsOfRank } from "../data/rows.ts";
import type { Table } from "../data/table.ts";
import { rankOf } from "../data/table_columns.ts";
import { source, useStartNs, useTable } from "../data/use.ts";
import { human, shortName } from "../format.ts";
import { chosenRank, here, linkTo, param } from "../state.ts";
import { Bars, type Bar } from "../widgets/bars.tsx";
import { rankName, RankChoice } from "../widgets/choice.tsx";
import { DataTable } from "../widgets/data_table.tsx";
import { Exact } from "../widgets/exact.tsx";
import { Empty, Ready } from "../widgets/loaded.tsx";
import { jobShares, largestPart, longestRank, meanLengths, parseWhatIf, pathBars, type PathBar } from "./critical_path/data.ts";
import { WhatIfForm } from "./critical_path/what_if.tsx";
import { windowOf } from "./shared/step_windows.ts";

export function CriticalPath() {
  // A report has no other lengths than the ones there were.
  const asked = source.value?.kind === "server" ? param("what_if") : "";
  const path = useTable("critical_path", parseWhatIf(asked) === null ? {} : { params: { what_if: asked } });
  return (
    <Ready of={path}>
      {(table) => table.rows === 0
        ? <Empty>No steps: neither marks of steps nor device work was recorded, so that there is no end to follow back from. Call <code>profiler.step()</code> after each step.</Empty>
        : <Paths table={table} asked={asked} />}
    </Ready>
  );
}

function Paths({ table, asked }: { table: Table; asked: string }) {
  const ranks = ranksIn(table);
  const rank = ranks.includes(chosenRank()) ? chosenRank() : longestRank(table);
  const bars = pathBars(table, rank);
  return (
    <>
      {ranks.length > 1 && <OfJob />}
      <section aria-labelledby="steps">
        <h2 id="steps">The critical path of each step{ranks.length > 1 && ` of ${rankName(rank)}`}</h2>
        <Answer bars={bars} rank={rank} asked={asked} />
        {ranks.length > 1 && <p><RankChoice ranks={ranks} all={false} value={rank} /></p>}
        <StepBars bars={bars} rank={rank} />
      </section>
      <Names rank={rank} bars={bars} asked={asked} />
      <section aria-labelledby="table">
        <h2 id="table">Paths of all ranks</h2>
        <DataTable table={table} link={(row) => here({ rank: rankOf(table, row) })} />
      </section>
    </>
  );
}

function Answer({ bars, rank, asked }: { bars: PathBar[]; rank: string; asked: string }) {
  const most = largestPart(bars);
  const { length, whatIf } = meanLengths(bars);
  const what = parseWhatIf(asked);
  if (asked !== "" && what === null) return <Empty>"{asked}" is no NAME=FACTOR, such as gemm=0.5.</Empty>;
  if (what !== null && Number.isFinite(whatIf)) {
    return (
      <p class="answer">
        If all whose name contains <strong title={what.name}>{shortName(what.name)}</strong> took {what.factor} of its time, a step{rank === "none" ? "" : ` of rank ${rank}`} would take{" "}
        <strong><Exact value={whatIf} unit="ns" /></strong> instead of <Exact value={length} unit="ns" />: {whatIf <= length ? "▼" : "▲"}{" "}
        <Exact value={Math.abs(length - whatIf)} unit="ns" /> (<Exact value={Math.abs(length - whatIf) / length} unit="ratio" />) {whatIf <= length ? "less" : "more"}.{" "}
        <a href={here({ what_if: "" })}>As it was</a>
      </p>
    );
  }
  return (
    <p class="answer">
      {most !== null && <>The end of a step{rank === "none" ? "" : ` of rank ${rank}`} waits most for <strong>{most.label}</strong>: <Exact value={most.share} unit="ratio" /> of its path. </>}
      A step takes <Exact value={length} unit="ns" /> on average. Only what is on the path makes the step shorter.
    </p>
  );
}

function StepBars({ bars, rank }: { bars: PathBar[]; rank: string }) {
  const steps = useTable("steps");
  const startNs = useStartNs();
  const links = new Map<string, string>();
  if (steps.state === "here")
    for (let row = 0; row < steps.value.rows; ++row)
      if (rankOf(steps.value, row) === rank) links.set(steps.value.exact("number", row), linkTo("timeline", { open: rank, ...windowOf(steps.value, row, startNs).params }));
  const shown: Bar[] = bars.map((bar) => {
    const link = links.get(bar.step);
    return { label: `step ${bar.step}`, parts: bar.parts, ...(link === undefined ? {} : { link }) };
  });
  return <Bars label="What the critical path of each step is made of" unit="ns" bars={shown} most={Math.max(...bars.map((bar) => Math.max(bar.length, bar.whatIf || 0)))} />;
}

function OfJob() {
  const path = useTable("job_critical_path");
  if (path.state === "loading") return <p class="muted" aria-busy="true">Loading …</p>;
  // On request, so that a report may not hold it.
  if (path.state === "failed") return <p class="muted">Across ranks: {path.error}</p>;
  const shares = jobShares(path.value);
  if (shares.length === 0) return null;
  const [first] = shares;
  const isOne = first!.share > 1.5 / shares.length;
  const what = [...first!.parts].sort((a, b) => b.value - a.value)[0]!;
  return (
    <section aria-labelledby="of-job">
      <h2 id="of-job">Whom the job's steps wait for</h2>
      <p class="answer">
        {isOne ? <><span class="flag" aria-hidden="true">⚑ </span><strong>{first!.rank === "none" ? "A file without a rank" : `Rank ${first!.rank}`}</strong> is what the steps wait for <Exact value={first!.share} unit="ratio" /> of their time, most of it for its {what.label}.</>
          : "No single rank holds the steps up: the path goes over several."}
      </p>
      <Bars label="Time on the job's critical path, by whose it is" unit="ns"
        bars={shares.slice(0, 16).map((each, i) => ({
          label: rankName(each.rank), parts: each.parts, link: here({ rank: each.rank }),
          ...(i === 0 && isOne ? { mark: "what the steps wait for most" } : {}),
        }))} />
      {shares.length > 16 && <p class="muted">{shares.length - 16} further ranks have less.</p>}
    </section>
  );
}

const TOP = 10;

function Names({ rank, bars, asked }: { rank: string; bars: PathBar[]; asked: string }) {
  const names = useTable("critical_path_names");
  return (
    <section aria-labelledby="names">
      <h2 id="names">What is on it, by name</h2>
      <Ready of={names}>
        {(all) => {
          const table = pickRows(all, rowsOfRank(all, rank));
          const top = allRows(table).filter((row) => !["others", "(none)"].includes(table.text("name", row))).slice(0, TOP);
          return (
            <>
              <WhatIfForm asked={asked} steps={bars.length}
                names={top.map((row) => ({ name: table.text("name", row), ns: table.absolute("dur_ns", row), share: table.absolute("ratio", row) }))} />
              <DataTable table={table} columns={["name", "bound_by", "pieces", "dur_ns", "ratio"]}
                link={(row) => linkTo("timeline", { open: rank, q: table.text("name", row) })} label={`Names on the critical paths: ${human(table.rows, "count")}`} />
            </>
          );
        }}
      </Ready>
    </section>
  );
}
