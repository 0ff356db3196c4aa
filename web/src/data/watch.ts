// A server finds new jobs, and files that have changed, by itself; a page that is looked at follows it, and says when no
// server answers any more.
import { signal } from "@preact/signals";
import { findHosts, hosts } from "./agents.ts";
import { allRows } from "./rows.ts";
import { jobsNow } from "./job_findings.ts";
import { NoAnswer } from "./source.ts";
import type { Table } from "./table.ts";
import { forget, forgetFailures, jobs as jobsOfViews, setJobs, source } from "./use.ts";

const BETWEEN_LOOKS_MS = 3000;
const MISSES_TOLD = 2; // one alone is soon forgotten

export const isServerGone = signal(false);

// What is known of the files of each job.
const filesOf = (jobs: Table): Map<string, string> =>
  new Map(allRows(jobs).map((row) => [jobs.exact("id", row), ["files", "bytes", "changed_ns"].map((name) => jobs.exact(name, row)).join()]));

export function watchJobs(): void {
  if (source.value?.kind !== "server") return;
  let before: Map<string, string> | null = null;
  let first = "";
  let misses = 0;
  let isLooking = false;
  const begin = (files: Map<string, string>) => {
    if (before === null) first = files.keys().next().value ?? "";
    before ??= files;
  };
  // What came or went between what the views show and the first look has changed, too.
  jobsOfViews().then((jobs) => begin(filesOf(jobs)), () => undefined);
  const tell = (answers: boolean) => {
    if (answers && misses > 0) forgetFailures();
    misses = answers ? 0 : misses + 1;
    isServerGone.value = misses >= MISSES_TOLD;
  };
  const ask = async (): Promise<Table | null> => {
    isLooking = true;
    try {
      const jobs = await source.value!.jobs();
      tell(true);
      return jobs;
    } catch (error) {
      tell(!(error instanceof NoAnswer)); // who is asked for something says what else is wrong
      return null;
    } finally {
      isLooking = false;
    }
  };
  const look = async () => {
    if (document.hidden) return;
    if (isLooking) return tell(false);
    const jobs = await ask();
    if (jobs === null) return;
    if (hosts.peek().state === "failed") void findHosts();
    jobsNow.value = jobs;
    const now = filesOf(jobs);
    begin(now);
    const changed = [...new Set([...before!.keys(), ...now.keys()])].filter((id) => before!.get(id) !== now.get(id));
    before = now;
    if (changed.length === 0) return;
    setJobs(jobs);
    for (const id of changed) forget(id);
    // A page that names no job shows the first one.
    const next = now.keys().next().value ?? "";
    if (next !== first || changed.includes(next)) forget("");
    first = next;
  };
  setInterval(() => void look(), BETWEEN_LOOKS_MS);
}
