// What this job is, and what stands out in it.
import { allRows, ranksIn, rowsOfRank } from "../data/rows.ts";
import type { Table } from "../data/table.ts";
import { source, useTable, valueOf } from "../data/use.ts";
import { human, printable } from "../format.ts";
import { chosenRank, here, linkTo, setParam } from "../state.ts";
import { Bars } from "../widgets/bars.tsx";
import { RankChoice, rankName } from "../widgets/choice.tsx";
import { DataTable } from "../widgets/data_table.tsx";
import { Empty, Held, Ready } from "../widgets/loaded.tsx";
import { ShareList } from "../widgets/share_list.tsx";
import { largest, overRanks } from "./operators/data.ts";
import { devicePartsOf, findingsByRank, withFindings } from "./overview/data.ts";
import { Facts } from "./overview/facts.tsx";
import { Findings } from "./overview/findings.tsx";
import { JobList } from "./overview/jobs.tsx";
import { StepColumns } from "./shared/step_columns.tsx";
import { STEP_PARTS, meanStep, stepSums } from "./shared/step_parts.ts";

export function Overview() {
  const findings = useTable("findings", { all: true });
  const temporal = useTable("temporal_breakdown");
  const steps = useTable("step_breakdown");
  const overlap = useTable("comm_comp_overlap"), idle = useTable("device_idle_breakdown");
  return (
    <>
      <JobList />
      <Facts />
      <section aria-labelledby="stands-out">
        <h2 id="stands-out">What stands out</h2>
        <Ready of={findings}>{(table) => <Findings table={table} />}</Ready>
      </section>
      <div class="two">
        <section aria-labelledby="of-ranks">
          <h2 id="of-ranks">{temporal.state === "here" && temporal.value.rows === 0 ? "Host time" : "Device time of each rank"}</h2>
          <Ready of={temporal}>{(table) => <RankBars temporal={table} overlap={valueOf(overlap)} idle={valueOf(idle)} faultOf={findings.state === "here" ? faults(findings.value) : () => undefined} />}</Ready>
          {overlap.state === "failed" && <Held of={overlap}>{() => null}</Held>}
        </section>
        <section aria-labelledby="of-steps">
          <h2 id="of-steps">What steps are made of</h2>
          <Ready of={steps}>{(table) => <StepParts table={table} />}</Ready>
        </section>
      </div>
      <Devices findings={valueOf(findings)} />
    </>
  );
}

const MOST_RANKS = 32;

function RankBars({ temporal, overlap, idle, faultOf }: { temporal: Table; overlap: Table | null; idle: Table | null; faultOf: ReturnType<typeof faults> }) {
  if (temporal.rows === 0)
    return <HostOnly />;
  const share = (row: number) => temporal.number("compute_ratio", row) || 0;
  let rows = allRows(temporal);
  // Of many those that compute least and most, where the others are alike.
  if (rows.length > MOST_RANKS) {
    const order = [...rows].sort((a, b) => share(a) - share(b));
    rows = [...order.slice(0, MOST_RANKS / 2), ...order.slice(-MOST_RANKS / 2)];
  }
  const bars = rows.map((row) => ({
    label: rankName(temporal.exact("rank", row)),
    parts: devicePartsOf(temporal, row, overlap, idle),
    link: linkTo("timeline", { ranks: temporal.exact("rank", row) }),
    mark: faultOf(temporal.absolute("rank", row)),
  }));
  return (
    <>
      <Bars bars={bars} unit="ns" label="Device time" />
      {rows.length < temporal.rows && (
        <p class="muted">{rows.length} of {temporal.rows} ranks: those that compute least and most. <a href={linkTo("tables", { table: "temporal_breakdown" })}>All</a></p>
      )}
      <p class="muted">From the first device work to the last. <a href={linkTo("distributed")}>Who waits for whom</a> · <a href={linkTo("idle")}>Why the device was idle</a></p>
    </>
  );
}

// What is said of a rank by faults that name some ranks and not all.
function faults(table: Table): (rank: number) => string | undefined {
  const rowOf = findingsByRank(table, "fault");
  return (rank) => (rowOf(rank) < 0 ? undefined : printable(table.text("finding", rowOf(rank))));
}

function HostOnly() {
  const operators = useTable("operators");
  return (
    <>
      <Empty>No device work was recorded: a run on the host alone, or a profiler without ProfilerActivity.CUDA. This is the host's time.</Empty>
      <Ready of={operators}>
        {(table) => {
          const { shares, sum } = largest(overRanks(table, ""), "host_self_ns", 8);
          return <ShareList title="Operators by themselves" unit="ns" kind="operator" sum={sum}
            shares={shares.map(({ name, value, isRest }) => (isRest ? { name, value, kind: "other" } : { name, value, link: linkTo("operators", { op: name }) }))} />;
        }}
      </Ready>
    </>
  );
}

function StepParts({ table }: { table: Table }) {
  const ranks = ranksIn(table), rank = chosenRank();
  const sums = stepSums(table, rowsOfRank(table, rank));
  const mean = meanStep(sums);
  if (mean === null) return <Empty>{rank === "" ? "No steps and no operators were recorded." : "This rank has no steps."}</Empty>;
  const largest = mean.parts.indexOf(Math.max(...mean.parts));
  const of = rank !== "" ? ` of ${rankName(rank)}` : ranks.length > 1 ? `, mean over ${ranks.length} ranks` : "";
  return (
    <>
      <p class="choices"><span>
        {sums.length === 1 ? "One step" : `${sums.length} steps`}{of}: most of the time is {STEP_PARTS[largest]![1]} (<span title={`${mean.parts[largest]} ns`}>{human(mean.parts[largest]! / mean.total, "ratio")}</span>).
      </span> <RankChoice ranks={ranks} /></p>
      <StepColumns steps={sums} label={`Length of each step${of}`}
        link={(step) => linkTo("steps", { step: String(step.number), ...(rank === "" ? {} : { rank }) })}
        onSelect={source.value?.kind === "server" ? (first, last) => setParam("steps", `${first}-${last}`, { push: true }) : undefined} />
    </>
  );
}

function Devices({ findings }: { findings: Table | null }) {
  const devices = useTable("device_summary");
  if (devices.state === "here" && devices.value.rows === 0) return null; // said above
  return (
    <section aria-labelledby="devices">
      <h2 id="devices">Devices</h2>
      <Ready of={devices}>
        {(summary) => {
          const table = withFindings(summary, findings);
          const finding = (row: number) => (findings === null ? -1 : findingsByRank(findings)(table.absolute("rank", row)));
          return <DataTable table={table} label="Use of each device" columns={["rank", "finding", "device", "name", "host", "memory_bytes", "compute_capability",
            "utilization_ratio", "sm_efficiency_ratio", "occupancy_ratio", "tensor_core_ratio"].filter((name) => table.has(name) && isKnown(table, name))}
            cell={(column, row) => (column.name === "finding" && finding(row) >= 0
              ? <RankFinding findings={findings!} row={finding(row)} text={table.text("finding", row)} /> : undefined)} />;
        }}
      </Ready>
    </section>
  );
}

function RankFinding({ findings, row, text }: { findings: Table; row: number; text: string }) {
  const kind = findings.text("kind", row);
  return <a class={`worst ${kind}`} href={here({ finding: String(row) })} title={printable(findings.text("finding", row))}>{kind === "fault" ? "▲ " : ""}{text}</a>;
}

const isKnown = (table: Table, name: string): boolean => allRows(table).some((row) => !table.isNull(name, row));
