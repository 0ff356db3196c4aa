// Why the devices were idle: by cause, by what the host did meanwhile, and every gap by its length.
import { allRows, pickRows, rowsOfRank, rowsThat } from "../data/rows.ts";
import type { Table } from "../data/table.ts";
import { rankOf, timesOf } from "../data/table_columns.ts";
import { useStartNs, useTable } from "../data/use.ts";
import { shortName } from "../format.ts";
import { chosenRank, here, linkTo } from "../state.ts";
import { Bars } from "../widgets/bars.tsx";
import { rankName, RankChoice } from "../widgets/choice.tsx";
import { DataTable } from "../widgets/data_table.tsx";
import { Exact } from "../widgets/exact.tsx";
import { Empty, Ready } from "../widgets/loaded.tsx";
import { idleRanks, type IdleRank } from "./idle/data.ts";
import { Gaps } from "./idle/gaps.tsx";
import { timelineAt } from "./idle/links.ts";
import { Queues } from "./idle/queues.tsx";
import { CAUSES } from "./shared/parts_of_time.ts";

export function Idle() {
  const idle = useTable("device_idle_breakdown");
  return (
    <Ready of={idle}>
      {(table) => table.rows === 0
        ? <Empty>No device work was recorded, so that no device can have been idle. A trace has it when its profiler records <code>ProfilerActivity.CUDA</code> (or XPU, ...).</Empty>
        : <Ranks ranks={idleRanks(table)} />}
    </Ready>
  );
}

const MOST_BARS = 32;

function Ranks({ ranks }: { ranks: IdleRank[] }) {
  const sorted = [...ranks].sort((a, b) => b.idle - a.idle);
  const rank = ranks.find((each) => each.rank === chosenRank()) ?? sorted[0]!;
  const shown = ranks.length > MOST_BARS ? sorted.slice(0, MOST_BARS) : ranks;
  return (
    <>
      <section aria-labelledby="why">
        <h2 id="why">Why the devices were idle</h2>
        <Answer rank={rank} />
        <Bars label="Time in which no device of the rank has work, by cause" unit="ns"
          bars={shown.map((each) => ({ label: rankName(each.rank), isChosen: each === rank && ranks.length > 1, parts: each.parts, link: here({ rank: each.rank }) }))} />
        {shown.length < ranks.length && <p class="muted">The {MOST_BARS} ranks that are idle longest, of {ranks.length}.</p>}
        <dl class="muted causes">
          {Object.values(CAUSES).filter(({ label }) => ranks.some((each) => each.parts.some((part) => part.label === label))).map(({ label, means }) => (
            <div key={label}><dt>{label}:</dt> <dd>{means}</dd></div>
          ))}
        </dl>
        <p><RankChoice ranks={ranks.map((each) => each.rank)} all={false} value={rank.rank} /></p>
      </section>
      <HostMeanwhile rank={rank.rank} />
      <Gaps rank={rank.rank} />
      <Queues rank={rank.rank} />
      <Streams rank={rank.rank} />
    </>
  );
}

function Answer({ rank }: { rank: IdleRank }) {
  const times = useTable("temporal_breakdown");
  const causes = useTable("idle_causes");
  const row = times.state === "here" ? rowsThat(times.value, (each) => rankOf(times.value, each) === rank.rank)[0] : undefined;
  const share = times.state === "here" && row !== undefined ? times.value.absolute("idle_ratio", row) : Number.NaN;
  const cause = causes.state === "here"
    ? rowsThat(causes.value, (each) => rankOf(causes.value, each) === rank.rank && causes.value.text("name", each) !== "others" && causes.value.text("idle_category", each) === rank.largest)[0]
    : undefined;
  const who = rank.rank === "none" ? "The devices are" : `The devices of rank ${rank.rank} are`;
  if (rank.idle === 0) return <p class="answer">{who} never idle between their first and their last work.</p>;
  return (
    <p class="answer">
      {who} idle for <strong><Exact value={rank.idle} unit="ns" /></strong>
      {Number.isFinite(share) && <>, <Exact value={share} unit="ratio" /> of the time</>}. Most of it{" "}
      (<Exact value={rank.share} unit="ratio" />) {sentences[rank.largest] ?? "has no known cause"}
      {causes.state === "here" && cause !== undefined && causes.value.text("name", cause) !== "" && (
        <>, which is in <strong title={causes.value.text("name", cause)}>{shortName(causes.value.text("name", cause))}</strong> for <Exact value={causes.value.absolute("idle_ns", cause)} unit="ns" /> of it</>
      )}.
    </p>
  );
}

const sentences: Record<string, string> = {
  host_wait: "is waiting for the host",
  kernel_wait: "is short pauses between kernels that were launched in time",
  other: "is after work was launched in time, and yet did not run",
  unknown: "ends with work whose launch is not in the trace",
};

const TOP = 8;

function HostMeanwhile({ rank }: { rank: string }) {
  const causes = useTable("idle_causes");
  const startNs = useStartNs();
  return (
    <section aria-labelledby="host">
      <h2 id="host">What the host did meanwhile</h2>
      <Ready of={causes}>
        {(all) => {
          const table = pickRows(all, rowsOfRank(all, rank));
          if (table.rows === 0) return <Empty>No device of this rank was idle.</Empty>;
          const start = timesOf(table, "longest_start_ns", startNs);
          const link = (row: number) => {
            const from = start(row);
            return Number.isNaN(from) ? undefined : timelineAt(rank, from, from + table.absolute("max_ns", row));
          };
          return (
            <>
              <Bars label="Idle time by what the host was in" unit="ns" bars={topCauses(table, link)} />
              <p class="muted">A row leads to the longest gap of its cause, in the timeline.</p>
              <DataTable table={table} columns={["name", "within", "idle_category", "activity", "idle_ns", "idle_ratio", "gap_count", "median_ns", "max_ns", "longest_step"]}
                link={link} linkColumn="max_ns" />
            </>
          );
        }}
      </Ready>
    </section>
  );
}

function topCauses(table: Table, link: (row: number) => string | undefined) {
  const rows = allRows(table).filter((row) => table.text("name", row) !== "others");
  rows.sort((a, b) => table.absolute("idle_ns", b) - table.absolute("idle_ns", a));
  return rows.slice(0, TOP).map((row) => {
    const category = CAUSES[table.text("idle_category", row)];
    const name = table.text("name", row), within = table.text("within", row);
    const to = link(row);
    return {
      label: name === "" ? (category?.label ?? "no span") : shortName(name, 32) + (within === "" ? "" : ` in ${shortName(within, 20)}`),
      parts: [{ kind: category?.kind ?? "other", label: category?.label ?? "other", value: table.absolute("idle_ns", row) }],
      ...(to === undefined ? {} : { link: to }),
    };
  });
}

function Streams({ rank }: { rank: string }) {
  const streams = useTable("idle_time_breakdown");
  const lengths = useTable("idle_interval_statistics");
  const own = (table: Table) => pickRows(table, rowsOfRank(table, rank));
  return (
    <section aria-labelledby="streams">
      <h2 id="streams">Each stream by itself</h2>
      <p class="muted">A stream without work is no idle device while another one runs.</p>
      <Ready of={streams}>{(table) => <DataTable table={own(table)} columns={["device", "stream", "busy_ns", "idle_ns", "host_wait_ratio", "kernel_wait_ratio", "other_ratio"]} link={() => linkTo("timeline", { open: rank })} />}</Ready>
      <Ready of={lengths}>{(table) => <DataTable table={own(table)} columns={["device", "stream", "idle_category", "count", "min_ns", "p25_ns", "median_ns", "p75_ns", "max_ns", "mean_ns"]} label="Lengths of the gaps of each stream" />}</Ready>
    </section>
  );
}
