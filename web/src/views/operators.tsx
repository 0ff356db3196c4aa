// Which operators cost, on the device and on the host, themselves and with what they call.
import { useMemo } from "preact/hooks";
import { allRows, pickRows, ranksIn, rowsOfRank } from "../data/rows.ts";
import type { Table } from "../data/table.ts";
import { source, useTable, type Loaded } from "../data/use.ts";
import { human, printable, shortName } from "../format.ts";
import { chosenRank, here, linkTo, param } from "../state.ts";
import { Choice, RankChoice, rankName } from "../widgets/choice.tsx";
import { DataTable } from "../widgets/data_table.tsx";
import { Empty, Ready, Held } from "../widgets/loaded.tsx";
import { ShareList } from "../widgets/share_list.tsx";
import { TIMES, isRest, largest, overRanks } from "./operators/data.ts";
import { operatorOrigins } from "./shared/origins.ts";
import { Origins } from "./shared/origins_table.tsx";
import { useOneRank, useTree } from "./shared/use_span_tree.ts";

const GROUPS: [string, string][] = [["", "name"], ["shapes", "name and shapes"], ["stack", "name and call stack"], ["both", "name, shapes and stack"]];

// By name there is a table that every report has; by shapes and stacks it is another.
function useOperators(): Loaded<Table> {
  const group = source.value?.kind === "server" ? param("group") : param("group") === "shapes" ? "shapes" : "";
  const params: Record<string, string> = param("top") === "" ? {} : { top: param("top") };
  if (group === "shapes" && source.value?.kind === "report") return useTable("operator_groups");
  if (group !== "") {
    params.by_shapes = group === "stack" ? "0" : "1";
    params.by_stack = group === "shapes" ? "0" : "1";
  }
  return useTable(group === "" ? "operators" : "operator_groups", { params });
}

export function Operators() {
  const table = useOperators();
  const isServed = source.value?.kind === "server";
  return (
    <>
      <p class="choices">
        <Choice name="group" label="Group by" value={param("group")} options={isServed ? GROUPS : GROUPS.slice(0, 2)} />
        {table.state === "here" && <RankChoice ranks={ranksIn(table.value)} />}
        <Choice name="n" label="Bars" value={param("n")} options={[["", "largest 6"], ["12", "largest 12"], ["24", "largest 24"]]} />
        {isServed && <Choice name="top" label="Rows" value={param("top")} options={[["", "the largest of each rank"], ["0", "all"]]} />}
      </p>
      <Held of={table}>{(value) => <Shown table={value} />}</Held>
    </>
  );
}

function Shown({ table }: { table: Table }) {
  if (table.rows === 0) {
    return <Empty>No operators were recorded: the profiler ran without ProfilerActivity.CPU, or nothing of PyTorch ran in its time. <a href={linkTo("kernels")}>Kernels</a> may be there all the same.</Empty>;
  }
  const sum = overRanks(table, chosenRank());
  const count = Number(param("n")) || 6;
  const chosen = param("op");
  const used = TIMES.filter(([column]) => allRows(sum).map((row) => sum.absolute(column, row)).some((value) => value > 0));
  const hasDevice = used.some(([, , kind]) => kind === "compute");
  return (
    <>
      <div class="four">
        {used.map(([column, title, kind]) => {
          const overlap = column.includes("total");
          const { shares: found, sum: all } = largest(sum, column, count);
          const shares = found.filter((share) => !overlap || !share.isRest);
          return <ShareList key={column} title={title} kind={kind} unit="ns" sum={all} overlap={overlap}
            shares={shares.map((share) => ({ ...share, kind: share.isRest ? "other" : kind, link: share.isRest ? undefined : here({ op: share.name }) }))} />;
        })}
      </div>
      {!hasDevice && <p class="muted">No device work was recorded below these operators, so there are only the host's times.</p>}
      <p class="muted">Times with what an operator calls overlap, and do not add up.</p>
      {chosen !== "" && <OneOperator name={chosen} rank={chosenRank()} />}
      <DataTable table={sum} from={table.name} sortKey="sort" filterKey="filter" label="Operators"
        columns={sum.columns.filter((column) => hasDevice || !/^device_|tensor/.test(column.name)).map((column) => column.name)}
        link={(row) => (isRest(sum, row) ? undefined : here({ op: sum.text("name", row) }))} />
    </>
  );
}

// Of one rank, as its spans say it.
function CalledFrom({ name }: { name: string }) {
  const { rank } = useOneRank();
  const tree = useTree(rank);
  const origins = useMemo(() => (tree.state === "here" ? operatorOrigins(tree.value, name) : []), [tree, name]);
  if (tree.state !== "here") return <p class="muted">{tree.state === "failed" ? tree.error : "Loading the spans …"}</p>;
  if (origins.length === 0) return null;
  return <><h3>Called from, {rankName(rank)}, by time of the host</h3><Origins origins={origins} isOfOperator /></>;
}

function OneOperator({ name, rank }: { name: string; rank: string }) {
  const kernels = useTable("operator_kernels"), efficiency = useTable("operator_efficiency");
  const of = (table: Table) => rowsOfRank(table, rank).filter((row) => table.text("operator", row) === name);
  return (
    <section class="panel" aria-labelledby="operator">
      <h2 id="operator"><span title={printable(name)}>{shortName(name, 120)}</span> <a class="back" href={here({ op: "" })}>Close</a></h2>
      <p class="links">
        <a href={linkTo("call-tree", { name, ...(rank === "" ? {} : { rank }) })}>Who calls it, and what it calls</a>
        <a href={linkTo("timeline", { q: name, ...(rank === "" ? {} : { ranks: rank }) })}>In the timeline</a>
        <a href={linkTo("memory", { op: name })}>Memory</a>
      </p>
      <CalledFrom name={name} />
      <h3>Kernels that it starts itself{rank === "" ? "" : `, ${rankName(rank)}`}</h3>
      <Ready of={kernels}>
        {(table) => {
          const rows = of(table);
          if (rows.length === 0) return <p class="muted">None, or too little for the table: look at what it calls.</p>;
          const device = rows.reduce((sum, row) => sum + table.absolute("device_ns", row), 0);
          return (
            <>
              <p class="muted"><span title={`${device} ns`}>{human(device, "ns")}</span> of the device.</p>
              <DataTable table={pickRows(table, rows)} columns={["rank", "kernels", "calls", "device_ns", "mean_operator_delay_ns", "mean_call_to_start_ns"]} label="Kernels of the operator"
                link={(row) => linkTo("kernels", { kernel: table.text("kernels", rows[row]!).split(" -> ")[0]! })} />
            </>
          );
        }}
      </Ready>
      <Ready of={efficiency}>
        {(table) => {
          const rows = of(table);
          return rows.length === 0 ? null : <><h3>By shapes, and what they reach of the device</h3><DataTable table={pickRows(table, rows)} label="Shapes of the operator" /></>;
        }}
      </Ready>
    </section>
  );
}
