// How the hosts are now: a line for each, the ranks of their jobs, and small charts of each host and GPU over time, whose
// cursors go together. A part of the time that is marked leads to its captures.
import { useHosts, type Host } from "../data/agents.ts";
import type { Column } from "../data/table.ts";
import { clockDate, human } from "../format.ts";
import { here, linkTo, param, setParams } from "../state.ts";
import { Choice } from "../widgets/choice.tsx";
import { DataTable } from "../widgets/data_table.tsx";
import { Empty } from "../widgets/loaded.tsx";
import { HostState } from "./hosts.tsx";
import { HostCharts } from "./live/charts.tsx";
import { useSamples } from "./live/samples.ts";
import { fleetTable, rankTable } from "./live/tables.ts";
import { DEFAULT_RANGE, PANELS, RANGES, ranksOf, spanOf } from "./live/data.ts";

const MOST_CHARTED = 4, MOST_OF_ONE = 16; // hosts at once; of one metric

export function Live() {
  const { list, job: firstJob } = useHosts();
  const rangeName = param("range") in RANGES ? param("range") : DEFAULT_RANGE;
  const range = RANGES[rangeName]!;
  const job = param("of") === "all" ? "" : param("of") || firstJob;
  const chosen = param("host");
  const panel = PANELS.some((each) => each.name === param("metric")) ? param("metric") : "";
  const most = panel === "" ? MOST_CHARTED : MOST_OF_ONE;
  const up = list.filter((host) => host.state === "up");
  const isCharted = (host: Host, i: number) => (chosen === "" ? i < most : host.name === chosen);
  const samples = useSamples(up, range, (host) => isCharted(host, up.indexOf(host)));
  const ranks = up.flatMap((host) => {
    const { now = [], atNs = 0 } = samples.get(host.name) ?? {};
    return ranksOf(now, atNs).map((rank) => ({ host: host.name, ...rank }));
  });
  const jobs = [...new Set(ranks.map((rank) => rank.job).concat(job === "" ? [] : [job]))];
  const shownRanks = job === "" ? ranks : ranks.filter((rank) => rank.job === job);
  const ofJob = (host: Host) => job === "" || shownRanks.some((rank) => rank.host === host.name);
  const charted = up.filter(isCharted).filter((host) => chosen !== "" || ofJob(host));
  const fleet = fleetTable(list.filter((host) => host.state !== "up" || ofJob(host)), samples, ranks);
  return (
    <section>
      <div class="choices">
        <Choice name="range" label="Last" value={rangeName} options={Object.entries(RANGES).map(([name, { text }]) => [name, text])} />
        <Choice name="of" label="Job" value={job === "" ? "all" : job} options={[["all", "all"], ...jobs.map((each): [string, string] => [each, each])]} />
        {list.length > 1 && (
          <Choice name="host" label="Charts of" value={chosen}
            options={[["", up.length > most ? `the first ${most} hosts` : "all hosts"], ...list.map((host): [string, string] => [host.name, host.name])]} />
        )}
        <Choice name="metric" label="Metric" value={panel} options={[["", "all"], ...PANELS.map(({ name, title, perGpu }): [string, string] => [name, perGpu ? `GPU: ${title.toLowerCase()}` : title])]} />
        <MarkedTime />
      </div>
      <h2>Hosts</h2>
      <DataTable table={fleet} label="Hosts now" linkColumn="host" link={(row) => here({ host: fleet.text("host", row) })}
        cell={(column: Column, row) => (column.name === "state" ? <HostState state={fleet.text("state", row)} /> : undefined)} />
      <h2>Ranks of jobs</h2>
      {shownRanks.length === 0 ? (
        <Empty>{job === "" ? "No job runs here that the agents know: processes of a job say so in their environment (RANK, SLURM_JOB_ID, torchrun)." : `No process of the job ${job} runs on these hosts now.`}</Empty>
      ) : (
        <>
          <DataTable table={rankTable(shownRanks)} label="Ranks of jobs now" sortKey="sort" />
          <p class="muted">How long a step takes an agent does not know; a capture tells. <a href={linkTo("captures")}>Captures</a></p>
        </>
      )}
      {charted.map((host) => (
        <HostCharts key={host.name} host={host} panel={panel} samples={samples.get(host.name)} span={spanOf(range, samples.get(host.name)?.atNs ?? Date.now() * 1e6)} />
      ))}
      {up.length > most && chosen === "" && <p class="muted">Charts of {most} of {up.length} hosts are shown; a host's name in the table shows its own.</p>}
    </section>
  );
}

// The time that is marked in the charts.
function MarkedTime() {
  const from = Number(param("from")), to = Number(param("to"));
  if (!(to > from) || from === 0) return <span class="muted">Drag over a chart to mark a time.</span>;
  return (
    <span class="marked">
      {clockDate(from)} to {clockDate(to)} ({human(to - from, "ns")}):{" "}
      <a href={linkTo("captures", { from: String(from), to: String(to) })}>captures of this time</a>{" "}
      <button type="button" onClick={() => setParams({ from: "", to: "" })}>Forget</button>
    </span>
  );
}
