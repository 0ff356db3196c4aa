// Which kernels cost, whether they are good ones, and which line launches them.
import { useMemo } from "preact/hooks";
import { allRows, pickRows, ranksIn, rowsOfRank } from "../data/rows.ts";
import type { Table } from "../data/table.ts";
import { source, useTable, valueOf } from "../data/use.ts";
import { human, printable, shortName, shortNames } from "../format.ts";
import { chosenRank, here, linkTo, param } from "../state.ts";
import { Choice, RankChoice, rankName } from "../widgets/choice.tsx";
import { DataTable } from "../widgets/data_table.tsx";
import { Empty, Ready } from "../widgets/loaded.tsx";
import { ShareList } from "../widgets/share_list.tsx";
import { SourceLine } from "../widgets/source_link.tsx";
import { isOthers, kernelTable, tensorShares } from "./kernels/data.ts";
import { OneKernel } from "./kernels/one_kernel.tsx";
import { kernelOrigins, linesOf, type Origin } from "./shared/origins.ts";
import { useOneRank, useTree } from "./shared/use_span_tree.ts";

export function Kernels() {
  const top: Record<string, string> = param("top") === "" ? {} : { top: param("top") };
  const breakdown = useTable("kernel_breakdown", { params: top });
  return (
    <Ready of={breakdown}>
      {(table) => table.rows === 0 ? (
        <Empty>
          No device work was recorded: a run on the host alone, or a profiler without ProfilerActivity.CUDA (XPU, ...).{" "}
          <a href={linkTo("operators")}>Operators</a> show what the host did.
        </Empty>
      ) : <Shown breakdown={table} top={top} />}
    </Ready>
  );
}

function Shown({ breakdown, top }: { breakdown: Table; top: Record<string, string> }) {
  const rank = chosenRank();
  const groups = valueOf(useTable("kernel_groups", { params: top })), distribution = valueOf(useTable("kernel_duration_distribution", { params: top }));
  const one = useOneRank();
  const tree = useTree(one.rank);
  const origins = useMemo(() => (tree.state === "here" ? kernelOrigins(tree.value) : null), [tree]);
  const table = useMemo(() => kernelTable({ breakdown, groups, distribution, origins }, rank), [breakdown, groups, distribution, origins, rank]);
  const names = useMemo(() => shortNames(table.column("name").words, 52), [table]);
  const chosen = param("kernel");
  const isServed = source.value?.kind === "server";
  const noOrigin = tree.state === "failed" ? tree.error : tree.state === "loading" ? "Loading the spans …" : "Nothing on the host is recorded around its launches.";
  return (
    <>
      <p class="choices">
        <RankChoice ranks={ranksIn(breakdown)} />
        {isServed && <Choice name="top" label="Rows" value={param("top")} options={[["", "the largest of each rank"], ["0", "all"]]} />}
        {isServed && <Choice name="by" label="Group by" value={param("by")} options={[["", "kernel"], ["launch", "operator and launch"]]} />}
      </p>
      <Largest table={table} names={names} origins={origins} rank={rank} />
      <div class="two">
        <Shares table={table} />
        {groups !== null && <TensorCores groups={groups} rank={rank} />}
      </div>
      {chosen !== "" && (
        <OneKernel name={chosen} rank={rank} breakdown={breakdown} origins={origins?.get(chosen) ?? []} originRank={one.rank} noOrigin={noOrigin} />
      )}
      {param("by") === "launch" ? <ByLaunch top={top} rank={rank} /> : (
        <DataTable table={table} from="kernel_breakdown" sortKey="sort" filterKey="filter" label="Kernels" link={(row) => (isOthers(table, row) ? undefined : here({ kernel: table.text("name", row) }))}
          cell={(column, row) => {
            const name = table.text("name", row);
            if (column.name === "name") return <span title={printable(name)}>{names.get(name)}</span>;
            return column.name === "source_line" ? <Line origins={origins?.get(name) ?? []} /> : undefined;
          }} />
      )}
      <Launches rank={rank} />
    </>
  );
}

function Line({ origins }: { origins: Origin[] }) {
  const lines = linesOf(origins);
  return lines.length === 0 ? <span title="not known" /> : <><SourceLine {...lines[0]!} />{lines.length > 1 && <span class="muted"> +{lines.length - 1}</span>}</>;
}

const ALIKE = 0.98;

// The answer in a sentence.
function Largest({ table, names, origins, rank }: { table: Table; names: Map<string, string>; origins: Map<string, Origin[]> | null; rank: string }) {
  if (table.rows === 0 || isOthers(table, 0)) return null;
  const name = table.text("name", 0), count = table.absolute("count", 0), sum = table.absolute("sum_ns", 0);
  const alike = allRows(table).slice(1).filter((row) => !isOthers(table, row) && table.absolute("sum_ns", row) >= ALIKE * sum);
  const from = origins?.get(name)?.[0], line = linesOf(origins?.get(name) ?? [])[0];
  return (
    <p class="answer">
      The largest kernel{rank === "" ? "" : ` of ${rankName(rank)}`}: <a href={here({ kernel: name })} title={printable(name)}><strong>{shortName(name, 70)}</strong></a>,{" "}
      <span title={`${sum} ns`}>{human(sum, "ns")}</span> (<span title={table.exact("share_ratio", 0)}>{human(table.number("share_ratio", 0), "ratio")}</span> of the device work) in {count} runs
      {from?.operator ? <>, launched by <a href={linkTo("operators", { op: from.operator })}>{shortName(from.operator)}</a></> : null}
      {line ? <> at <SourceLine {...line} /></> : null}
      {from?.own && line ? <>, called from <SourceLine frame={from.own} /></> : null}.
      {alike.length > 0 && <> As much, within 2 %, {alike.length === 1 ? "takes" : "take"} {alike.map((row, i) => (
        <>{i > 0 && ", "}<a href={here({ kernel: table.text("name", row) })} title={printable(table.text("name", row))}>{names.get(table.text("name", row))}</a></>
      ))}.</>}
    </p>
  );
}

function Shares({ table }: { table: Table }) {
  const rows = allRows(table);
  const sum = rows.reduce((all, row) => all + table.absolute("sum_ns", row), 0);
  const kernels = rows.filter((row) => !isOthers(table, row));
  const rest = sum - kernels.slice(0, 8).reduce((all, row) => all + table.absolute("sum_ns", row), 0);
  const shares = kernels.slice(0, 8).map((row) => ({
    name: table.text("name", row), value: table.absolute("sum_ns", row), kind: table.text("kind", row), link: here({ kernel: table.text("name", row) }),
  }));
  return <ShareList title="Device work" unit="ns" kind="compute" sum={sum} shares={rest > 0 ? [...shares, { name: "others", value: rest, kind: "other" }] : shares} />;
}

const CORES: Record<string, string> = {
  yes: "on tensor cores", no: "not on tensor cores", unknown: "the name does not tell", others: "kernels that are not listed",
};

function TensorCores({ groups, rank }: { groups: Table; rank: string }) {
  const shares = tensorShares(groups, rank);
  const sum = shares.reduce((all, share) => all + share.value, 0);
  if (sum === 0) return null;
  return (
    <ShareList title="Tensor cores, of kernels' time" unit="ns" kind="other" sum={sum}
      shares={shares.map((share) => ({ name: CORES[share.name]!, value: share.value, kind: share.name === "yes" ? "compute" : "other" }))} />
  );
}

function ByLaunch({ top, rank }: { top: Record<string, string>; rank: string }) {
  const table = useTable("kernel_groups", { params: { ...top, by_launch: "1" } });
  return (
    <Ready of={table}>
      {(value) => <DataTable table={pickRows(value, rowsOfRank(value, rank))} sortKey="sort" filterKey="filter" label="Kernels by operator and launch"
        columns={["rank", "name", "operator", "grid", "block", "registers", "shared_memory_bytes", "tensor_cores", "calls", "sum_ns", "mean_ns", "blocks_per_sm", "occupancy_ratio"]}
        link={(row) => here({ kernel: value.text("name", rowsOfRank(value, rank)[row]!) })} />}
    </Ready>
  );
}

// Without the sum of the delays, which overlap: beside times that can be added up it would look like one of them.
const LAUNCH_COLUMNS = ["rank", "api", "launches", "rows", "host_ns", "device_ns", "mean_launch_delay_ns", "max_launch_delay_ns", "short_rows", "runtime_outliers", "launch_delay_outliers"];

function Launches({ rank }: { rank: string }) {
  const launches = useTable("kernel_launch_stats");
  const counters = useTable("cupti_counters");
  return (
    <>
      <h2>What launching costs</h2>
      <Ready of={launches}>
        {(table) => {
          const rows = rowsOfRank(table, rank);
          return rows.length === 0 ? <p class="muted">No launches were recorded.</p> : <DataTable table={pickRows(table, rows)} label="Launches by host call" columns={LAUNCH_COLUMNS} />;
        }}
      </Ready>
      {counters.state === "here" && counters.value.rows > 0 && <><h2>Counters of CUPTI</h2><DataTable table={counters.value} label="Counters" /></>}
    </>
  );
}
