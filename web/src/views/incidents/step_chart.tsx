// How long the job's steps took around the incident, from the agents' histories.
import { useMemo } from "preact/hooks";
import { askHost, useLive, type Host } from "../../data/agents.ts";
import type { Table } from "../../data/table.ts";
import { sentenceOf } from "../../data/use.ts";
import { clockTime } from "../../format.ts";
import { Curve, type CurveMark } from "../../widgets/curve.tsx";
import { Exact } from "../../widgets/exact.tsx";
import { Points } from "../../widgets/points.tsx";
import { spanAround, stepTimesOf, type Incident, type StepTimes } from "./data.ts";

const EVERY_MS = 5000;
const MARKED = ["firing", "verdict", "inconclusive", "resolved"];

async function load(incident: Incident, hosts: readonly Host[], signal: AbortSignal): Promise<{ times: StepTimes; problems: string[] }> {
  const { sinceMs, untilMs, stepMs } = spanAround(incident, Date.now() * 1e6);
  const problems: string[] = [];
  const asked = hosts.filter((host) => host.hasHistory);
  const tables = await Promise.all(asked.map(async (host) => {
    try {
      const path = `metrics?metric=step_ns&since_ms=${sinceMs}&until_ms=${untilMs}&step_ms=${stepMs}&job=${encodeURIComponent(incident.job)}`;
      return (await askHost(host, path, { signal })).tables;
    } catch (error) {
      if (signal.aborted) throw error;
      problems.push(`${host.name}: ${sentenceOf(error)}`);
      return [];
    }
  }));
  if (asked.length === 0) problems.push("These agents keep no history, so that there is nothing to draw.");
  return { times: stepTimesOf(tables.flat(), stepMs * 1e6), problems };
}

export function StepChart({ incident, hosts, transitions }: { incident: Incident; hosts: readonly Host[]; transitions: Table | null }) {
  const live = useLive(`steps ${incident.id}`, (signal) => load(incident, hosts, signal), EVERY_MS, `${incident.closed} ${hosts.map((host) => host.name).join(" ")}`);
  const times = live.value?.times;
  const series = useMemo(() => times === undefined ? [] : [
    ...(times.ranks > 1 ? [{ label: "slowest rank", kind: "communication", values: times.slowest }] : []),
    { label: times.ranks > 1 ? "median of the ranks" : "step", kind: "compute", values: times.middle },
  ], [times]);
  if (times === undefined) return null;
  const marks: CurveMark[] = Array.from({ length: transitions?.rows ?? 0 }, (_, row) => row).filter((row) => MARKED.includes(transitions!.text("after", row)))
    .map((row) => ({ ns: transitions!.absolute("at", row), label: transitions!.text("after", row), kind: "annotation" }));
  return (
    <>
      <h3>Step time of the job</h3>
      {live.value!.problems.map((problem) => <p key={problem} class="muted">{problem}</p>)}
      {times.x.length === 0 ? <p class="muted">How long its steps took around then is not known here.</p> : (
        <figure class="small-chart">
          <figcaption>{series.map((one) => <span key={one.label} class="now">{one.label} <Exact value={one.values[one.values.length - 1]!} unit="ns" /></span>)}</figcaption>
          <Curve label={`Step time from ${clockTime(times.x[0]!)} on`} x={times.x} series={series} unit="ns" height={140} fromZero clock marks={marks} />
        </figure>
      )}
      {times.x.length > 0 && <Points label="Step times" x={times.x} lines={() => series.map((one) => ({ of: "step time", label: one.label, unit: "ns", values: one.values }))} />}
    </>
  );
}
