// Of a server with several jobs: what stands out in each, as far as somebody has looked.
import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { jobsNow, readJobs, worstFirst, worstOf } from "../../data/job_findings.ts";
import { allRows, pickRows } from "../../data/rows.ts";
import { jobTitle } from "../../data/source.ts";
import type { Table } from "../../data/table.ts";
import { jobId, source, useJobs } from "../../data/use.ts";
import { linkTo } from "../../state.ts";
import { DataTable } from "../../widgets/data_table.tsx";

// So many are read without being asked: of folders of very many that would take a day.
const READ_AT_FIRST = 20;

export function JobList() {
  const jobs = useJobs();
  if (source.value?.kind !== "server" || jobs.state !== "here" || jobs.value.rows < 2) return null;
  return <Shown first={jobs.value} />;
}

function Shown({ first }: { first: Table }) {
  const most = useSignal(READ_AT_FIRST);
  useEffect(() => {
    jobsNow.value ??= first;
    return readJobs(most.value);
  }, [most.value]);
  const now = jobsNow.value ?? first;
  const table = pickRows(now, worstFirst(now));
  const chosen = jobId.value || first.exact("id", 0);
  const unknown = allRows(table).filter((row) => worstOf(table, row) === "").length;
  return (
    <section class="jobs" aria-labelledby="jobs">
      <h2 id="jobs">Jobs</h2>
      <p>
        {sentence(table)}{" "}
        {unknown > 0 && table.rows > most.value && (
          <button type="button" onClick={() => (most.value = table.rows)} disabled={most.value >= table.rows}>Read all</button>
        )}
      </p>
      <DataTable table={table} label="What stands out in each job" columns={["title", "ranks", "host", "state", "worst", "share", "finding"].filter((name) => table.has(name))}
        link={(row) => linkTo("overview", { job: table.exact("id", row), ranks: "", steps: "" })}
        chosen={allRows(table).find((row) => table.exact("id", row) === chosen) ?? -1}
        cell={(column, row) => (column.name === "title" ? jobTitle(table, row) : column.name === "worst" ? <Mark table={table} row={row} /> : undefined)} />
    </section>
  );
}

// With a sign: colour is not enough.
function Mark({ table, row }: { table: Table; row: number }) {
  const worst = worstOf(table, row);
  if (worst === "") return <span class="muted">{table.text("state", row) === "loading" ? "is read …" : "not looked at yet"}</span>;
  if (worst === "none") return <>nothing stands out</>;
  if (worst === "failed") return <span class="worst fault">✗ cannot be read</span>;
  return <span class={`worst ${worst}`}>{worst === "fault" ? "▲ " : ""}{worst}</span>;
}

function sentence(table: Table): string {
  const count = (...kinds: string[]) => allRows(table).filter((row) => kinds.includes(worstOf(table, row))).length;
  const said = ([[count("fault"), "with a fault"], [count("failed"), "cannot be read"], [count("opportunity", "none"), "healthy"], [count("caveat"), "not fully known"], [count(""), "not looked at yet"]] as const)
    .filter(([number]) => number > 0).map(([number, words]) => `${number} ${words}`);
  return `${table.rows} jobs: ${said.join(", ")}.`;
}
