// Who calls it: the calls of a rank merged by path, and of one name its callers and what it calls.
import { useMemo } from "preact/hooks";
import { numbersColumn, textsColumn } from "../data/made_table.ts";
import { Table } from "../data/table.ts";
import { useJob } from "../data/use.ts";
import { human, printable, shortName } from "../format.ts";
import { here, linkTo, param, setParam } from "../state.ts";
import { Choice, RankChoice, Search, rankName } from "../widgets/choice.tsx";
import { DataTable } from "../widgets/data_table.tsx";
import { Icicle, type TreeNode } from "../widgets/icicle.tsx";
import { Empty, Held } from "../widgets/loaded.tsx";
import { calleesOf, callersOf, namesOf, wholeTree, type Measure, type Paths } from "./call_tree/paths.ts";
import { usePaths } from "./call_tree/use_paths.ts";
import type { SpanTree } from "./shared/span_tree.ts";
import { useOneRank, useTree } from "./shared/use_span_tree.ts";

export function CallTree() {
  const { rank, ranks } = useOneRank();
  const tree = useTree(rank);
  return <Held of={tree}>{(value) => <Calls tree={value} rank={rank} ranks={ranks} />}</Held>;
}

function Calls({ tree, rank, ranks }: { tree: SpanTree; rank: string; ranks: string[] }) {
  const paths = usePaths(tree, rank);
  const job = useJob();
  const leftOut = job.state === "here" ? job.value.facts.get("left_out") : undefined;
  const hasDevice = paths.roots.some((node) => paths.device[node]! > 0);
  const measure: Measure = param("time") === "host" || !hasDevice ? "host" : "device";
  const name = param("name");
  if (paths.word.length === 0)
    return <Empty>No span of {rankName(rank)} is here: neither operators nor Python functions were recorded{param("steps") ? ", or none in these steps" : ""}.</Empty>;
  return (
    <>
      <p class="choices">
        <RankChoice ranks={ranks} all={false} value={rank} />
        {hasDevice && <Choice name="time" label="Time" value={measure} options={[["device", "of the device, by who launched"], ["host", "of the host"]]} />}
        <Choice name="order" label="Order" value={param("order")} options={[["", "left heavy"], ["calls", "of the first calls"]]} />
        <Search name="q" label="Search names" value={param("q")} />
      </p>
      {name === "" ? <Whole paths={paths} measure={measure} rank={rank} /> : <Sandwich paths={paths} measure={measure} name={name} />}
      {leftOut && <p class="muted">{leftOut}</p>}
      {tree.unlaunched > 0 && <p class="muted">{tree.unlaunched} pieces of device work have no launch in what is here; they are beside their callers.</p>}
      <h2>Names</h2>
      <Names paths={paths} measure={measure} hasDevice={hasDevice} />
    </>
  );
}

function Whole({ paths, measure, rank }: { paths: Paths; measure: Measure; rank: string }) {
  const root = useMemo(() => wholeTree(paths, measure, rankName(rank)), [paths, measure, rank]);
  const heaviest = hottest(root);
  return (
    <section aria-label="All calls">
      {heaviest.length > 0 && (
        <p>
          The widest way down: {heaviest.map((node, i) => (
            <span key={i}>{i > 0 && " › "}<a href={here({ name: node.name })} title={`${printable(node.name)}: ${node.value} ns`}>{shortName(node.name, 40)}</a></span>
          ))}{" "}
          (<span title={`${heaviest[heaviest.length - 1]!.value} ns`}>{human(heaviest[heaviest.length - 1]!.value / root.value, "ratio")}</span>).
        </p>
      )}
      <Icicle root={root} kinds={paths.kinds} unit="ns" label={`Calls of ${rankName(rank)} by ${measure} time`} search={param("q")} inOrder={param("order") === "calls"}
        zoom={param("zoom")} onZoom={(zoom) => setParam("zoom", zoom, { push: true })} />
      <p class="muted">As wide as its time; what is called is below its caller. Click to make one the widest; names below have callers and callees.</p>
    </section>
  );
}

// From the root along the widest children, while they are half of it.
function hottest(root: TreeNode): TreeNode[] {
  const found: TreeNode[] = [];
  for (let node: TreeNode | undefined = root; node !== undefined && found.length < 6; ) {
    const widest: TreeNode | undefined = node.children.reduce<TreeNode | undefined>((most, child) => (most === undefined || child.value > most.value ? child : most), undefined);
    if (widest === undefined || widest.value < root.value / 3) break;
    found.push(widest);
    node = widest;
  }
  return found;
}

// Callers above, callees below.
function Sandwich({ paths, measure, name }: { paths: Paths; measure: Measure; name: string }) {
  const callers = useMemo(() => callersOf(paths, measure, name), [paths, measure, name]);
  const callees = useMemo(() => calleesOf(paths, measure, name), [paths, measure, name]);
  return (
    <section aria-labelledby="one-name">
      <h2 id="one-name"><span title={printable(name)}>{shortName(name, 120)}</span> <a class="back" href={here({ name: "" })}>All calls</a></h2>
      {callers === null || callees === null ? <Empty>Nothing of this name is here.</Empty> : callees.value === 0 ? (
        <Empty>It takes no time of the {measure}. <a href={here({ time: measure === "host" ? "" : "host" })}>Show the other time</a></Empty>
      ) : (
        <>
          <p><strong title={`${callees.value} ns`}>{human(callees.value, "ns")}</strong> of the {measure}. <a href={linkTo("timeline", { q: name })}>Find in the timeline</a></p>
          <h3>Callers</h3>
          <Icicle root={callers} kinds={paths.kinds} unit="ns" label={`Callers of ${name}`} search={param("q")} upwards />
          <h3>What it calls</h3>
          <Icicle root={callees} kinds={paths.kinds} unit="ns" label={`What ${name} calls`} search={param("q")} />
        </>
      )}
    </section>
  );
}

function Names({ paths, measure, hasDevice }: { paths: Paths; measure: Measure; hasDevice: boolean }) {
  const table = useMemo(() => nameTable(paths), [paths]);
  return <DataTable table={table} from="call_tree" sortKey="sort" filterKey="filter" sort={measure === "host" ? "-host_self_ns" : "-device_ns"} label="Names"
    columns={table.columns.map((column) => column.name).filter((name) => hasDevice || name !== "device_ns")}
    link={(row) => here({ name: table.text("name", row), zoom: "" })} />;
}

function nameTable(paths: Paths): Table {
  const names = namesOf(paths);
  const numbers = (name: string, help: string, of: (at: number) => number) =>
    numbersColumn(name, names.map((_, at) => of(at)), { help, unit: "ns" });
  return new Table("calls", names.length, [
    textsColumn("name", names.map((each) => paths.words[each.word]!), { help: "Span on the host, or device work.", role: "key" }),
    textsColumn("kind", names.map((each) => paths.kinds[each.kind]!), { help: "What it is." }),
    numbersColumn("calls", names.map((each) => each.calls), { help: "How often it ran.", unit: "count" }),
    numbers("device_ns", "Device work that it and what it calls launched; of device work its own time.", (at) => names[at]!.device),
    numbers("host_ns", "Time from its begins to its ends; a call within one of the same name counts once.", (at) => names[at]!.host),
    numbers("host_self_ns", "Of that what is in none of its calls.", (at) => names[at]!.hostSelf),
  ]);
}

