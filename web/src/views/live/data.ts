// From samples of agents to small charts: all of one page have the same times, so that their cursors go together. What a
// machine does not tell is not known, and nothing is put in its place.
import { allRows, rowsThat } from "../../data/rows.ts";
import type { Table, Unit } from "../../data/table.ts";

export interface Line {
  label: string;
  isLimit: boolean; // what the other line may reach
  values: Float64Array; // NaN: not known
}

export interface Chart {
  panel: string; // its name
  title: string;
  of: string; // "": the host; else which GPU
  unit: Unit;
  lines: Line[];
}

export interface Span {
  fromNs: number; // Unix time
  stepNs: number;
  steps: number;
}

// How long back, and how fine.
export const RANGES: Record<string, { text: string; ns: number; stepNs: number }> = {
  "10m": { text: "10 minutes", ns: 600e9, stepNs: 5e9 },
  "1h": { text: "1 hour", ns: 3600e9, stepNs: 20e9 },
  "6h": { text: "6 hours", ns: 6 * 3600e9, stepNs: 120e9 },
  "1d": { text: "1 day", ns: 86400e9, stepNs: 600e9 },
  "7d": { text: "7 days", ns: 7 * 86400e9, stepNs: 3600e9 },
};
export const DEFAULT_RANGE = "10m";
export const NOW = { ns: 30e9, stepNs: 5e9 }; // what is told of how something is now

// Steps begin at whole multiples, as the agents' do.
export function spanOf(range: { ns: number; stepNs: number }, nowNs: number): Span {
  const last = Math.floor(nowNs / range.stepNs);
  const steps = Math.round(range.ns / range.stepNs);
  return { fromNs: (last - steps + 1) * range.stepNs, stepNs: range.stepNs, steps };
}

export const timesOf = (span: Span): Float64Array => Float64Array.from({ length: span.steps }, (_, i) => span.fromNs + i * span.stepNs);

export function newestNs(tables: readonly Table[]): number | undefined {
  let newest: number | undefined;
  for (const table of tables) {
    if (!table.has("time_ns")) continue;
    for (let row = 0; row < table.rows; ++row) newest = Math.max(newest ?? 0, table.absolute("time_ns", row));
  }
  return newest;
}

interface Panel {
  name: string;
  title: string;
  unit: Unit;
  table: string;
  metrics: string; // that it is made of, as an agent is asked for them
  perGpu?: boolean;
  lines: { label: string; isLimit?: boolean; table?: string; value: (table: Table, row: number) => number }[]; // `table`: another one
  leaves?: (table: Table) => (row: number) => boolean; // rows that are left out
}

// Relative to no base; NaN also where this agent has no such column.
export const known = (table: Table, name: string, row: number): number => (table.has(name) ? table.absolute(name, row) : Number.NaN);
const column = (name: string) => (table: Table, row: number) => known(table, name, row);
const gpu = (name: string, title: string, unit: Unit, metrics: string, lines: Panel["lines"]): Panel =>
  ({ name, title, unit, table: "gpu", metrics, perGpu: true, lines });

// Counters come as what they grow by in a second: processor time as processors that are busy.
export const PANELS: Panel[] = [
  {
    name: "cpu", title: "Processors busy", unit: "ratio", table: "cpu", metrics: "cpu_idle_ns,cpu_iowait_ns,cpu_cpus",
    lines: [{ label: "busy", value: (table, row) => 1 - (known(table, "idle_cores", row) + (known(table, "iowait_cores", row) || 0)) / known(table, "cpus", row) }],
  },
  {
    name: "memory", title: "Memory in use", unit: "bytes", table: "memory", metrics: "memory_total_bytes,memory_available_bytes",
    lines: [
      { label: "in use", value: (table, row) => known(table, "total_bytes", row) - known(table, "available_bytes", row) },
      { label: "of", isLimit: true, value: column("total_bytes") },
    ],
  },
  {
    name: "network", title: "Network", unit: "bytes_per_s", table: "network", metrics: "network_rx_bytes,network_tx_bytes",
    lines: [{ label: "received", value: column("rx_bytes_per_s") }, { label: "sent", value: column("tx_bytes_per_s") }],
    // What goes through bonds, VLANs and bridges goes through a card, too, and those have a driver; where no interface has
    // one, as in a container, they are all there is.
    leaves: (table) => {
      const isLoop = (row: number) => table.has("type") && table.text("type", row) === "loopback";
      const hasDriver = (row: number) => table.has("driver") && table.text("driver", row) !== "";
      const haveCards = allRows(table).some((row) => hasDriver(row) && !isLoop(row));
      return (row) => isLoop(row) || (haveCards && !hasDriver(row));
    },
  },
  {
    name: "disk", title: "Disks", unit: "bytes_per_s", table: "disk", metrics: "disk_read_bytes,disk_write_bytes",
    lines: [{ label: "read", value: column("read_bytes_per_s") }, { label: "written", value: column("write_bytes_per_s") }],
    // Made of other disks, which are here, too.
    leaves: (table) => (row) => table.has("device") && /^(dm-|md|bcache|drbd|zd)\d/.test(table.text("device", row)),
  },
  gpu("gpu", "Busy", "ratio", "gpu_utilization_ratio,gpu_activity_sm_active_ratio", [
    { label: "a kernel runs", value: column("utilization_ratio") },
    { label: "SMs active", table: "gpu_activity", value: column("sm_active_ratio") },
  ]),
  gpu("gpu-memory", "Memory in use", "bytes", "gpu_memory_used_bytes,gpu_memory_total_bytes", [
    { label: "in use", value: column("memory_used_bytes") },
    { label: "of", isLimit: true, value: column("memory_total_bytes") },
  ]),
  gpu("power", "Power", "watts", "gpu_power_watts,gpu_power_limit_watts", [
    { label: "drawn", value: column("power_watts") },
    { label: "limit", isLimit: true, value: column("power_limit_watts") },
  ]),
  gpu("clock", "SM clock", "hertz", "gpu_sm_clock_hertz,gpu_sm_clock_max_hertz", [
    { label: "now", value: column("sm_clock_hertz") },
    { label: "highest", isLimit: true, value: column("sm_clock_max_hertz") },
  ]),
  gpu("temperature", "Temperature", "celsius", "gpu_temperature_celsius", [{ label: "GPU", value: column("temperature_celsius") }]),
];

const JOB_METRICS = "step_ns,job_processes,job_cpu_user_ns,job_cpu_system_ns,job_resident_bytes,gpu_job_memory_bytes";
export const allMetrics = (panels: readonly Panel[]): string => [...panels.map((panel) => panel.metrics), JOB_METRICS].join(",");

// Rows of one moment and one place are added up; a sum in which nothing is known is not known.
function lineOf(table: Table, rows: readonly number[], span: Span, value: (table: Table, row: number) => number): Float64Array {
  const sums = new Float64Array(span.steps).fill(Number.NaN);
  for (const row of rows) {
    const step = Math.floor((table.absolute("time_ns", row) - span.fromNs) / span.stepNs);
    if (step < 0 || step >= span.steps) continue;
    const one = value(table, row);
    if (!Number.isNaN(one)) sums[step] = (Number.isNaN(sums[step]!) ? 0 : sums[step]!) + one;
  }
  return sums;
}

export interface Place {
  of: string;
  title: string;
  job: string;
  rank: string;
}

// The GPUs of a host, with what is known of each at last.
export function gpusOf(tables: readonly Table[]): Place[] {
  const table = tables.find((each) => each.name === "gpu");
  const places = new Map<string, Place>();
  for (let row = 0; row < (table?.rows ?? 0); ++row) {
    const of = table!.exact("gpu", row);
    const text = (name: string) => (table!.has(name) ? table!.exact(name, row) : "");
    places.set(of, { of, title: text("name"), job: text("job"), rank: text("rank") });
  }
  return [...places.values()].sort((a, b) => Number(a.of) - Number(b.of));
}

// The charts of one host in which anything is known, and the titles of those in which nothing is.
export function chartsOf(tables: readonly Table[], span: Span, panels: readonly Panel[] = PANELS): { charts: Chart[]; unknown: string[] } {
  const charts: Chart[] = [];
  const unknown: string[] = [];
  const gpus = gpusOf(tables);
  for (const panel of panels) {
    const named = (name: string) => tables.find((each) => each.name === name);
    const table = named(panel.table);
    const leaves = table && panel.leaves?.(table);
    const places = panel.perGpu ? gpus.map((each) => each.of) : [""];
    for (const of of places) {
      const rowsIn = (table: Table) => rowsThat(table, (row) => (of === "" || table.exact("gpu", row) === of) && !leaves?.(row));
      const lines = panel.lines.flatMap(({ label, isLimit = false, table: other, value }): Line[] => {
        const from = other === undefined ? table : named(other);
        return from === undefined ? [] : [{ label, isLimit, values: lineOf(from, rowsIn(from), span, value) }];
      }).filter((line) => line.values.some((one) => !Number.isNaN(one)));
      if (lines.length > 0) charts.push({ panel: panel.name, title: panel.title, of, unit: panel.unit, lines });
      else unknown.push(of === "" ? panel.title : `${panel.title.toLowerCase()} of GPU ${of}`);
    }
  }
  return { charts, unknown };
}

// The last known value, if it is not older than a few steps.
export function latest(values: Float64Array, mostSteps = 4): number {
  for (let i = values.length - 1; i >= Math.max(0, values.length - mostSteps); --i) if (!Number.isNaN(values[i]!)) return values[i]!;
  return Number.NaN;
}

export interface HostNow {
  cpu: number;
  memory: number; // part in use
  gpus: number;
  gpuBusy: number; // mean of those that are known
  gpuLeast: number;
  gpuMemory: number; // part in use, of all
}

export function nowOf(charts: readonly Chart[], gpus: number): HostNow {
  const of = (panel: string, label: string) => charts.filter((chart) => chart.panel === panel)
    .map((chart) => latest(chart.lines.find((line) => line.label === label)?.values ?? new Float64Array()));
  const sum = (values: number[]) => (values.length > 0 ? values.reduce((all, one) => all + one, 0) : Number.NaN);
  const isKnown = (value: number) => !Number.isNaN(value);
  const busy = of("gpu", "a kernel runs").filter(isKnown);
  // Of those of which both are known.
  const part = (panel: string) => {
    const used = of(panel, "in use"), most = of(panel, "of");
    const areKnown = (_: number, i: number) => isKnown(used[i]! + most[i]!);
    return sum(used.filter(areKnown)) / sum(most.filter(areKnown));
  };
  return {
    cpu: sum(of("cpu", "busy")),
    memory: part("memory"),
    gpus,
    gpuBusy: sum(busy) / busy.length,
    gpuLeast: busy.length > 0 ? Math.min(...busy) : Number.NaN,
    gpuMemory: part("gpu-memory"),
  };
}

export interface RankNow {
  job: string;
  rank: string;
  user: string;
  processes: number;
  cores: number;
  resident: number;
  gpus: string; // their numbers
  gpuMemory: number;
  step: number; // ns
}

// The ranks of jobs on a host at `nowNs`: what was seen too long before is gone. Processes of no job are none.
export function ranksOf(tables: readonly Table[], nowNs: number): RankNow[] {
  const ranks = new Map<string, RankNow>();
  const eachRow = (name: string, act: (table: Table, row: number, key: string) => void) => {
    const table = tables.find((each) => each.name === name);
    for (let row = 0; row < (table?.rows ?? 0); ++row) {
      if (table!.absolute("time_ns", row) < nowNs - NOW.ns || table!.exact("job", row) === "") continue;
      act(table!, row, `${table!.exact("job", row)} ${table!.exact("rank", row)} ${table!.exact("user", row)}`);
    }
  };
  eachRow("job", (table, row, key) => {
    ranks.set(key, {
      job: table.exact("job", row), rank: table.exact("rank", row), user: table.exact("user", row), gpus: "", gpuMemory: Number.NaN, step: Number.NaN,
      processes: known(table, "processes", row), resident: known(table, "resident_bytes", row),
      cores: known(table, "cpu_user_cores", row) + known(table, "cpu_system_cores", row),
    });
  });
  const memory = new Map<string, Map<string, number>>(); // by rank and GPU: the last
  eachRow("gpu_job", (table, row, key) => {
    const known_ = known(table, "memory_bytes", row);
    memory.set(key, (memory.get(key) ?? new Map<string, number>()).set(table.exact("gpu", row), known_));
  });
  for (const [key, gpus] of memory) {
    const rank = ranks.get(key);
    if (rank === undefined) continue;
    rank.gpus = [...gpus.keys()].sort((a, b) => Number(a) - Number(b)).join(",");
    rank.gpuMemory = [...gpus.values()].reduce((sum, one) => sum + one, 0);
  }
  eachRow("step", (table, row, key) => {
    const rank = ranks.get(key), step = known(table, "step_ns", row);
    if (rank !== undefined && !Number.isNaN(step)) rank.step = step; // a second without the end of a step tells nothing
  });
  return [...ranks.values()].sort((a, b) => a.job.localeCompare(b.job) || Number(a.rank) - Number(b.rank));
}
