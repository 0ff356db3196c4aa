// Where the page has its tables from: the blocks of a report, or a server. Everything above knows only this.
import { printable } from "../format.ts";
import { allRows } from "./rows.ts";
import type { Table } from "./table.ts";

export interface Rank {
  rank: string; // its number; "none": the file does not say
  path: string;
  host: string;
}

export interface Job {
  id: string;
  folder: string;
  startNs: bigint; // of its first span, Unix time
  ranks: Rank[];
  facts: ReadonlyMap<string, string>;
}

export interface Param {
  name: string;
  fallback: string | number;
  help: string;
}

export interface Analysis {
  name: string;
  summary: string;
  doc: string;
  onRequest: boolean;
  params: Param[];
}

export interface TableOptions {
  ranks?: string; // as the command line spells them: 0,3-7
  steps?: string;
  params?: Record<string, string>;
}

export interface Source {
  readonly kind: "report" | "server";
  jobs(): Promise<Table>;
  job(id: string): Promise<Job>;
  table(job: string, name: string, options?: TableOptions): Promise<Table>;
  spans(job: string, rank: string): Promise<Table>;
  hasSpans(rank: string): boolean; // or that is not known
  // name and value of everything that is known of one event; a report does not have it
  event(job: string, rank: string, event: number): Promise<Table>;
  diff(before: string, after: string, table: string, options?: TableOptions): Promise<Table>;
  analyses(): Promise<Analysis[]>;
}

// A failure that a person is told of, as it is.
export class SourceError extends Error {}

// Nobody is there who would say what is wrong.
export class NoAnswer extends SourceError {}

// It answers as many questions as it may at once.
export class Busy extends SourceError {}

// What people call a job of a list.
export const jobTitle = (jobs: Table, row: number): string => printable(jobs.text(jobs.has("title") ? "title" : "folder", row));

export function jobOf(jobs: Table, facts: Table, ranks: Table): Job {
  const all = new Map<string, string>();
  for (let row = 0; row < facts.rows; ++row) all.set(facts.text("name", row), facts.text("value", row));
  return {
    id: jobs.exact("id", 0),
    folder: jobs.text("folder", 0),
    startNs: BigInt(all.get("start_ns") ?? 0),
    ranks: allRows(ranks).map((row) => ({
      rank: ranks.exact("rank", row) || "none",
      path: ranks.text("path", row),
      host: ranks.text("host", row),
    })),
    facts: all,
  };
}

export function analysesOf(table: Table): Analysis[] {
  return allRows(table).map((row) => ({
    name: table.text("name", row),
    summary: table.text("summary", row),
    doc: table.text("doc", row),
    onRequest: table.exact("on_request", row) === "true",
    params: JSON.parse(table.text("params", row) || "[]") as Param[],
  }));
}
