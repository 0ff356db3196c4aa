// The samples of hosts, asked for again while they are looked at.
import { askHost, useLive, type Host } from "../../data/agents.ts";
import { Busy } from "../../data/source.ts";
import type { Table } from "../../data/table.ts";
import { sentenceOf } from "../../data/use.ts";
import { allMetrics, newestNs, NOW, PANELS } from "./data.ts";

export interface HostSamples {
  tables: Table[]; // of the time that is drawn
  now: Table[]; // of the last moments
  captures: { id: string; beganNs: number }[];
  atNs: number; // of the newest of them: Unix time of the agent, whose clock may not be the reader's
  problem: string; // why there are none, or no history
}

const NO_HISTORY = "This agent keeps no history, so there is nothing to draw; `history` in its configuration says where one is kept.";
const BUSY = "This agent answers as many questions as it may at once; it is asked again in a moment.";
const EVERY_MS = 5000;

// `hasCharts`: of these the whole time is asked for, of others only how they are now.
export function useSamples(hosts: readonly Host[], range: { ns: number; stepNs: number }, hasCharts: (host: Host) => boolean): Map<string, HostSamples> {
  const name = (host: Host) => `${host.name} ${hasCharts(host)}`; // what is asked of one with charts is not what is asked of others
  const live = useLive(`samples ${JSON.stringify(range)}`, async (signal, before: Map<string, HostSamples> | null) => {
    const all = await Promise.all(hosts.map(async (host) => [name(host), await samplesOf(host, hasCharts(host) ? range : null, signal, before?.get(name(host)))] as const));
    return new Map(all);
  }, EVERY_MS, JSON.stringify(hosts.map((host) => [name(host), host.hasHistory])));
  return new Map(hosts.flatMap((host) => {
    const found = live.value?.get(name(host));
    return found === undefined ? [] : [[host.name, found] as const];
  }));
}

// Of an agent that is busy `before` stays in sight.
export async function samplesOf(host: Host, range: { ns: number; stepNs: number } | null, signal: AbortSignal, before?: HostSamples): Promise<HostSamples> {
  const metrics = encodeURIComponent(allMetrics(PANELS)).replaceAll("%2C", ",");
  const found: HostSamples = { tables: [], now: [], captures: [], atNs: 0, problem: "" };
  const ask = async ({ ns, stepNs }: { ns: number; stepNs: number }) => {
    // Without a history there are only the newest samples, and what counters grow by is not known.
    const time = host.hasHistory ? `&since_ms=${ns / 1e6}&step_ms=${stepNs / 1e6}&rates=1` : "";
    return (await askHost(host, `metrics?metric=${metrics}${time}`, { signal })).tables;
  };
  try {
    found.tables = await ask(range ?? NOW);
    // The last one of long steps is the mean of all that time.
    found.now = host.hasHistory && range !== null && range.stepNs > NOW.stepNs ? await ask(NOW) : found.tables;
    if (!host.hasHistory) found.problem = NO_HISTORY;
    if (range !== null) found.captures = capturesIn((await askHost(host, "captures", { signal })).tables[0]!);
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof Busy && before !== undefined) return before;
    found.problem = error instanceof Busy ? BUSY : sentenceOf(error);
  }
  found.atNs = newestNs(found.now) ?? Date.now() * 1e6;
  return found;
}

const capturesIn = (table: Table): HostSamples["captures"] =>
  Array.from({ length: table.rows }, (_, row) => ({ id: table.text("id", row), beganNs: table.absolute("began_ns", row) }));
