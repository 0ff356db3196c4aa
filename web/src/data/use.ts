// How views come to their tables: each is asked for once, and kept. A view says what it needs while it is drawn; the page
// is ready when all of that is there.
import { computed, signal, type Signal } from "@preact/signals";
import { param } from "../state.ts";
import type { Analysis, Job, Source, TableOptions } from "./source.ts";
import type { Table } from "./table.ts";

export type Loaded<T> = { state: "loading" } | { state: "failed"; error: string } | { state: "here"; value: T };

export const source = signal<Source | null>(null);
export const pending = signal(0);

const MOST_ENTRIES = 200;
const MOST_SPANS = 8; // of ranks: each may have hundreds of megabytes
interface Entry<T> {
  loaded: Signal<Loaded<T>>;
  answer: Promise<T>;
}
const entries = new Map<string, Entry<unknown>>();

export const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// What `load` gives, asked for once under this key. To be read while drawing.
export function useLoaded<T>(key: string, load: () => Promise<T>, most = MOST_ENTRIES): Loaded<T> {
  void generation.value;
  return entryOf(key, load, most).loaded.value;
}

const isSpans = (key: string): boolean => /^job \S* spans /.test(key);

// Of its kind `most` are kept, those that were read last.
function entryOf<T>(key: string, load: () => Promise<T>, most = MOST_ENTRIES): Entry<T> {
  const known = entries.get(key) as Entry<T> | undefined;
  if (known !== undefined) {
    entries.delete(key);
    entries.set(key, known as Entry<unknown>);
    return known;
  }
  const loaded = signal<Loaded<T>>({ state: "loading" });
  const answer = load();
  const entry: Entry<T> = { loaded, answer };
  entries.set(key, entry as Entry<unknown>);
  const alike = [...entries.keys()].filter((each) => isSpans(each) === isSpans(key));
  for (const old of alike.slice(0, Math.max(0, alike.length - most))) entries.delete(old);
  // While a view is drawn nothing that it reads may change.
  queueMicrotask(() => (pending.value += 1));
  answer.then(
    (value) => (loaded.value = { state: "here", value }),
    (error: unknown) => {
      loaded.value = { state: "failed", error: sentenceOf(error) };
    },
  ).finally(() => queueMicrotask(() => (pending.value -= 1)));
  return entry;
}

// All that is kept of a job that has changed, also what changed from it to others; "": of the one that is shown where the
// address names none. Without an id it is all there is: somebody wants to try again.
export function forget(id?: string): void {
  for (const key of entries.keys()) if (id === undefined || key.split(" ").includes(id)) entries.delete(key);
  generation.value += 1;
}

// What failed is asked for anew.
export function forgetFailures(): void {
  for (const [key, entry] of entries) if (entry.loaded.peek().state === "failed") entries.delete(key);
  generation.value += 1;
  retries.value += 1;
}

// Grows when something was forgotten, so that whoever shows it draws again.
export const generation = signal(0);

// Grows when what failed is to be asked for anew, for who keeps what is not kept here.
export const retries = signal(0);

export const useJobs = (): Loaded<Table> => useLoaded("jobs", askJobs);

// Newer ones come in the place of those that are shown, which stay in sight until then.
export function setJobs(jobs: Table): void {
  entries.set("jobs", { loaded: signal<Loaded<unknown>>({ state: "here", value: jobs }), answer: Promise.resolve(jobs) });
  generation.value += 1;
}

const askJobs = (): Promise<Table> => source.value!.jobs();

// For who does not draw: the answer that views have, too.
export const jobs = (): Promise<Table> => entryOf("jobs", askJobs).answer;

// The id of the job that is shown: the address names it, else it is the first one.
export const jobId = computed(() => param("job"));

export function useJob(): Loaded<Job> {
  const id = jobId.value;
  return useLoaded(`job ${id}`, async () => source.value!.job(id || (await firstJob())));
}

// Of the job that is shown; 0 until it is known.
export function useStartNs(): bigint {
  const job = useJob();
  return job.state === "here" ? job.value.startNs : 0n;
}

async function firstJob(): Promise<string> {
  const all = await jobs();
  if (all.rows === 0) throw new Error("no folder with traces was found below what `spotter serve` was given; it goes on looking");
  return all.exact("id", 0);
}

const tableKey = (name: string, wanted: TableOptions, id: string): string => `job ${id} table ${name} ${JSON.stringify(wanted)}`;

// A table of the job that is shown, of the ranks and steps that are chosen. `all`: of every rank and step.
export function useTable(name: string, options: { params?: Record<string, string>; all?: boolean; job?: string } = {}): Loaded<Table> {
  const wanted: TableOptions = {
    ranks: options.all ? "" : param("ranks"),
    steps: options.all ? "" : param("steps"),
    params: options.params ?? {},
  };
  const id = options.job ?? jobId.value;
  return useLoaded(tableKey(name, wanted, id), async () =>
    source.value!.table(id || (await firstJob()), name, wanted),
  );
}

// The findings of the whole job, where a view has asked for them: who can do without them does not make them be sought.
export function knownFindings(): Table | null {
  void pending.value;
  const entry = entries.get(tableKey("findings", { ranks: "", steps: "", params: {} }, jobId.value));
  return entry === undefined ? null : valueOf(entry.loaded.value as Loaded<Table>);
}

// Of one rank; not of chosen ranks or steps. `together`: of how many ranks they are shown at once.
export function useSpans(rank: string, together = 1): Loaded<Table> {
  const id = jobId.value;
  return useLoaded(`job ${id} spans ${rank}`, async () => source.value!.spans(id || (await firstJob()), rank), Math.max(together, MOST_SPANS));
}

// Every table that there is, with its definition.
export const useAnalyses = (): Loaded<Analysis[]> => useLoaded("analyses", () => source.value!.analyses());

export const valueOf = <T>(loaded: Loaded<T>): T | null => (loaded.state === "here" ? loaded.value : null);

// What changed from one job to another, of the ranks and steps that are chosen.
export function useDiff(before: string, after: string, table: "trace_diff" | "path_diff" | "causes", params: Record<string, string> = {}): Loaded<Table> {
  const wanted: TableOptions = { ranks: param("ranks"), steps: param("steps"), params };
  return useLoaded(`job ${after} diff ${before} ${table} ${JSON.stringify(wanted)}`, () => source.value!.diff(before, after, table, wanted));
}
