// What the view of a distributed job shows: who makes whom wait, what each rank's steps are made of, and how late each rank
// comes to each collective of a step. Times are ns since the job's first span.
import { allRows } from "../../data/rows.ts";
import type { Table } from "../../data/table.ts";
import { integersOf, rankOf, timesOf } from "../../data/table_columns.ts";

export interface RankSteps {
  rank: string;
  steps: number;
  total: number; // means over the steps
  compute: number;
  overlap: number; // NaN: not known
  exposed: number;
  other: number;
  transfer: number;
  wait: number;
}

const PARTS = ["dur_ns", "compute_ns", "overlap_ns", "exposed_ns", "other_ns", "transfer_ns", "wait_ns"];

// Of comm_steps: means over the steps of each rank, or of one step.
export function rankSteps(table: Table, step: string): RankSteps[] {
  const sums = new Map<string, { count: number; values: number[] }>();
  for (let row = 0; row < table.rows; ++row) {
    if (step !== "" && table.exact("number", row) !== step) continue;
    const rank = rankOf(table, row);
    const sum = sums.get(rank) ?? { count: 0, values: PARTS.map(() => 0) };
    sums.set(rank, sum);
    sum.count += 1;
    PARTS.forEach((name, i) => (sum.values[i]! += table.absolute(name, row)));
  }
  return [...sums].map(([rank, { count, values }]) => {
    const [total, compute, overlap, exposed, other, transfer, wait] = values.map((value) => value / count) as [number, number, number, number, number, number, number];
    return { rank, steps: count, total, compute, overlap, exposed, other, transfer, wait };
  });
}

// Over the ranks of which a part is known, so much of a step it takes, and how many these are; NaN where it is of none.
export function shareOfStep(ranks: readonly RankSteps[], part: "exposed" | "wait"): { share: number; of: number } {
  const known = ranks.filter((each) => !Number.isNaN(each[part]));
  const sum = (value: (each: RankSteps) => number) => known.reduce((all, each) => all + value(each), 0);
  return { share: sum((each) => each[part]) / sum((each) => each.total), of: known.length };
}

const MOST_RANKS = 48;

// Of many ranks those that wait least, as they are the ones that are waited for, and some of those that wait most.
export function notableRanks(ranks: readonly RankSteps[], blamed: string): RankSteps[] {
  if (ranks.length <= MOST_RANKS) return [...ranks];
  const byWait = [...ranks].sort((a, b) => (a.wait || 0) - (b.wait || 0));
  const kept = new Set([...byWait.slice(0, 24), ...byWait.slice(-8)]);
  return ranks.filter((each) => kept.has(each) || each.rank === blamed);
}

export const stepNumbers = (table: Table): string[] =>
  [...new Set(allRows(table).map((row) => table.exact("number", row)))].sort((a, b) => Number(a) - Number(b));

export interface Blame {
  rank: string;
  last: number; // so many of its collectives it was the last to start
  collectives: number;
  maxLate: number;
  waited: number; // by each other rank, on average
  share: number; // that as a share of the steps' time
}

const LEAST_SHARE = 0.02; // of the steps' time, below which nobody is to blame
const LEAST_LAST = 0.2;

// Who the others wait for, if it is one rank that matters: of stragglers and comm_steps.
export function blame(stragglers: Table, steps: Table): Blame | null {
  if (stragglers.rows < 2) return null;
  const caused = (row: number) => stragglers.absolute("caused_wait_ns", row);
  let worst = 0;
  for (let row = 1; row < stragglers.rows; ++row) if (caused(row) > caused(worst)) worst = row;
  const all = rankSteps(steps, "");
  const time = Math.max(0, ...all.map((each) => each.total * each.steps));
  const waited = caused(worst) / (stragglers.rows - 1);
  const found: Blame = {
    rank: rankOf(stragglers, worst),
    last: stragglers.absolute("last_count", worst),
    collectives: stragglers.absolute("collectives", worst),
    maxLate: stragglers.absolute("max_late_ns", worst),
    waited,
    share: waited / time,
  };
  return found.share >= LEAST_SHARE && found.last / found.collectives >= LEAST_LAST ? found : null;
}

export interface Run {
  rank: string;
  name: string;
  start: number;
  end: number;
  event: number; // -1: none
}

const NO_COLLECTIVE = /send|recv|p2p/i;
const ANNOTATION = /^[a-z]+:/; // "nccl:all_reduce" around the kernel on its stream
const ON_HOST = /^(gloo|mpi):/;

// The collectives that a rank launched within a step's window, in order of start: on its devices or, where it has none
// there, on its host.
export function collectiveRuns(spans: Table, rank: string, startNs: bigint, window: { from: number; to: number }): Run[] {
  const start = timesOf(spans, "start_ns", startNs), duration = timesOf(spans, "dur_ns", 0n);
  const event = integersOf(spans, "event"), link = integersOf(spans, "link");
  const isCommunication = spans.column("kind").words.map((word) => word === "communication");
  const kinds = spans.column("kind").values;
  const sides = spans.column("side");
  const onDevice: number[] = [], onHost: number[] = [];
  for (let row = 0; row < spans.rows; ++row) {
    if (!isCommunication[Number(kinds[row])]) continue;
    const name = spans.text("name", row);
    if (NO_COLLECTIVE.test(name)) continue;
    if (spans.text(sides, row) === "device") onDevice.push(row);
    else if (ON_HOST.test(name)) onHost.push(row);
  }
  const kernels = onDevice.filter((row) => !ANNOTATION.test(spans.text("name", row)));
  const rows = kernels.length > 0 ? kernels : onDevice.length > 0 ? onDevice : onHost;
  const wanted = new Set(rows.map(link).filter((each) => each !== null));
  const launches = new Map<number, number>();
  for (let row = 0; row < spans.rows; ++row) {
    const own = event(row);
    if (own !== null && wanted.has(own) && !launches.has(own)) launches.set(own, start(row));
  }
  return rows
    .filter((row) => {
      const launched = launches.get(link(row) ?? -1) ?? start(row);
      return launched >= window.from && launched < window.to;
    })
    .map((row) => ({ rank, name: spans.text("name", row), start: start(row), end: start(row) + duration(row), event: event(row) ?? -1 }))
    .sort((a, b) => a.start - b.start);
}

export interface Collective {
  name: string;
  runs: Run[]; // one of each rank that takes part
  first: number; // start of the first one
  skew: number; // the last start minus the first one
  last: Run; // who came last
}

// Runs of one name are one collective where they have the same place among those of their rank's step. Where there are
// several groups of ranks, those of one group are told by their ends, which come together.
export function collectivesOf(ranks: Run[][], isOneGroup: boolean): Collective[] {
  const alike = new Map<string, Run[]>();
  for (const runs of ranks) {
    const counts = new Map<string, number>();
    for (const run of runs) {
      const place = counts.get(run.name) ?? 0;
      counts.set(run.name, place + 1);
      const key = `${place} ${run.name}`;
      const own = alike.get(key) ?? [];
      alike.set(key, own);
      own.push(run);
    }
  }
  const collectives: Collective[] = [];
  for (const runs of alike.values())
    for (const group of isOneGroup ? [runs] : byEnds(runs)) if (group.length > 1) collectives.push(collective(group));
  return collectives.sort((a, b) => a.first - b.first);
}

const TOGETHER_NS = 20_000, TOGETHER_SHARE = 0.1;

function byEnds(runs: Run[]): Run[][] {
  const groups: Run[][] = [];
  for (const run of [...runs].sort((a, b) => a.end - b.end)) {
    const group = groups.at(-1);
    const shortest = Math.min(run.end - run.start, ...(group ?? []).map((each) => each.end - each.start));
    if (group !== undefined && run.end - group[0]!.end <= Math.max(TOGETHER_NS, shortest * TOGETHER_SHARE)) group.push(run);
    else groups.push([run]);
  }
  return groups;
}

function collective(runs: Run[]): Collective {
  let first = runs[0]!, last = runs[0]!;
  for (const run of runs) {
    if (run.start < first.start) first = run;
    if (run.start > last.start) last = run;
  }
  return { name: first.name, runs, first: first.start, skew: last.start - first.start, last };
}
