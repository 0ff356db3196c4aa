// What stands out in each job of a server, which tells it of those that it has read. While a page shows its jobs, those that
// nobody has looked at are read, one after another, and behind all that the page itself waits for.
import { effect, signal } from "@preact/signals";
import { allRows } from "./rows.ts";
import { ask } from "./server_source.ts";
import type { Table } from "./table.ts";
import { pending, source } from "./use.ts";

// The jobs as they are now. Who shows what changes in them by being read has them from here, so that nothing is asked for
// twice and nothing else is drawn anew.
export const jobsNow = signal<Table | null>(null);

export type Worst = "fault" | "failed" | "opportunity" | "caveat" | "none" | "";
const ORDER: Worst[] = ["fault", "failed", "opportunity", "caveat", "", "none"];

// "": nobody has looked.
export function worstOf(jobs: Table, row: number): Worst {
  if (jobs.text("state", row) === "failed") return "failed";
  return jobs.has("worst") ? (jobs.text("worst", row) as Worst) : "";
}

// The worst first, of one kind those that it costs most; else as they come.
export function worstFirst(jobs: Table): number[] {
  const place = (row: number) => ORDER.indexOf(worstOf(jobs, row));
  const share = (row: number) => (jobs.has("share") ? jobs.number("share", row) || 0 : 0);
  return allRows(jobs).sort((a, b) => place(a) - place(b) || share(b) - share(a) || a - b);
}

// A job with other files is another one.
const nameOf = (jobs: Table, row: number): string => `${jobs.exact("id", row)} ${jobs.exact("changed_ns", row)}`;

// The newest job of which nothing is known, and which is not just written; -1: there is none.
export function nextToRead(jobs: Table, tried: ReadonlySet<string>): number {
  let next = -1;
  for (const row of allRows(jobs)) {
    if (worstOf(jobs, row) !== "" || jobs.text("state", row) === "new" || tried.has(nameOf(jobs, row))) continue;
    if (next < 0 || jobs.absolute("changed_ns", row) > jobs.absolute("changed_ns", next)) next = row;
  }
  return next;
}

const readByServer = (id: string, signal: AbortSignal): Promise<unknown> => ask(`v1/jobs/${id}`, { signal });

// Reads up to `most` jobs, until what it returns is called.
export function readJobs(most: number, read = readByServer): () => void {
  const ending = new AbortController();
  const tried = new Set<string>();
  const isReading = signal(false);
  const readOne = async (id: string) => {
    try {
      await read(id, ending.signal);
      if (!ending.signal.aborted) jobsNow.value = await source.value!.jobs();
    } catch {
      // It stays unknown; who opens the job is told why.
    }
    isReading.value = false;
  };
  const stop = effect(() => {
    const jobs = jobsNow.value;
    if (isReading.value || pending.value > 0 || jobs === null || document.hidden || tried.size >= most) return;
    const row = nextToRead(jobs, tried);
    if (row < 0) return;
    tried.add(nameOf(jobs, row));
    isReading.value = true;
    void readOne(jobs.exact("id", row));
  });
  return () => {
    stop();
    ending.abort();
  };
}
