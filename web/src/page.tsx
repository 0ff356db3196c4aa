// What is around every view: which job, which ranks and steps, where to go, notes, help, theme.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { findHosts, hosts } from "./data/agents.ts";
import { allRows } from "./data/rows.ts";
import { query } from "./data/server_source.ts";
import { jobTitle, type Job } from "./data/source.ts";
import { forget, knownFindings, source, useJob, useJobs } from "./data/use.ts";
import { isServerGone } from "./data/watch.ts";
import { copy, Failure, Guard, lastFailure } from "./failures.tsx";
import { Chosen, Filters, linkToView } from "./filters.tsx";
import { printable } from "./format.ts";
import { Help } from "./help.tsx";
import { NotesBadge } from "./notes.tsx";
import { SourceMenu } from "./source_menu.tsx";
import { goTo, here, linkTo, linkToGive, param, view } from "./state.ts";
import { ThemeButton } from "./theme.tsx";
import { ALL_VIEWS, isShown, type View } from "./views/list.ts";
import { titleOf } from "./views/shared/title.ts";
import { faultsByView, type SeenFaults } from "./views/overview/data.ts";
import { JobList } from "./views/overview/jobs.tsx";
import { saveAnswer } from "./widgets/save.ts";

export function Page() {
  const job = useJob();
  const shown = ALL_VIEWS.find((each) => each.name === view.value);
  useEffect(() => {
    const name = job.state === "here" ? nameOf(job.value) : "";
    document.title = `${shown ? titleOf(shown.name) : "Spotter"}${name ? ` · ${name}` : ""} · Spotter`;
  }, [shown, job]);
  const served = job.state === "here" && source.value?.kind === "server" && !shown?.needsNoJob ? job.value : null;
  // Without a job the address means the first one, which may be another one later.
  const { link, isWithoutMarks } = linkToGive(location.href.replace(/#.*/, ""), here(served === null ? {} : { job: served.id })!);
  const [copied, setCopied] = useState("");
  const copyLink = () => {
    copy(link);
    setCopied(link);
  };
  return (
    <>
      <a class="skip" href="#view" onClick={skipToView}>Skip to the view</a>
      <header class="bar">
        <h1><span class="mark">Spotter</span> {shown ? titleOf(shown.name) : "No such view"}</h1>
        <JobChoice />
        {!shown?.needsNoJob && <Filters />}
        {served !== null && <SaveReport job={served} />}
        <button type="button" title="To what is seen now" onClick={copyLink}>Copy link</button>
        <NotesBadge />
        <SourceMenu />
        <Help />
        <ThemeButton />
      </header>
      <Views shown={shown} />
      {isWithoutMarks && copied === link && <p class="band" role="status">The link was copied without your marks: with them it is longer than what some programs take.</p>}
      {isServerGone.value && <p class="band gone" role="status">The server does not answer; this page shows what it had. Trying again …</p>}
      <main id="view" tabIndex={-1}>
        {!shown?.needsNoJob && <Chosen />}
        {lastFailure.value !== "" && <Failure error={lastFailure.value} retry={() => (lastFailure.value = "")} />}
        {hosts.value.state === "loading" && (job.state === "failed" || shown?.of === "agents") ? (
          <p class="muted" aria-busy="true">Loading …</p>
        ) : shown?.of === "agents" && hosts.value.state === "failed" ? (
          <Failure error={hosts.value.error} retry={() => void findHosts()} />
        ) : shown?.of === "agents" && !isShown(shown) ? (
          <Failure error={`No agents are shown here: ${titleOf(shown.name)} is of a page that an agent serves, or \`spotter serve\` with --socket, --host or --slurm-job.`} />
        ) : job.state === "failed" && !shown?.needsNoJob ? (
          <>
            <Failure error={job.error} retry={() => forget()} />
            {shown?.name === "overview" && <JobList />}
          </>
        ) : shown === undefined ? (
          <Failure error={`There is no view "${view.value}". The views are in the list above.`} />
        ) : (
          <Guard key={shown.name} name={titleOf(shown.name)} isLive={shown.of === "agents"}><shown.Component /></Guard>
        )}
      </main>
      <footer class="paper">{job.state === "here" && !shown?.needsNoJob && `${nameOf(job.value)} · `}{link}</footer>
    </>
  );
}

// Where a fault is seen they have a flag, which says so to who points at it; it leads to where that is.
function Views({ shown }: { shown: View | undefined }) {
  const nav = useRef<HTMLElement>(null);
  const findings = shown?.needsNoJob ? null : knownFindings();
  const faults = useMemo(() => (findings === null ? new Map<string, SeenFaults>() : faultsByView(findings)), [findings]);
  // Where they are in one line that is longer than the screen is wide.
  useEffect(() => {
    const current = nav.current!.querySelector<HTMLElement>("[aria-current]");
    if (current !== null) nav.current!.scrollLeft = current.offsetLeft - nav.current!.clientWidth / 3;
  }, [shown]);
  return (
    <nav class="views" aria-label="Views" ref={nav}>
      {ALL_VIEWS.filter(isShown).map((each) => (
        <a key={each.name} href={linkToView(each.name, faults.get(each.name)?.params)} aria-current={each === shown ? "page" : undefined} title={faults.get(each.name)?.said}>
          {titleOf(each.name)}{faults.has(each.name) && <span class="flag" aria-hidden="true"> ⚑</span>}
        </a>
      ))}
    </nav>
  );
}

const nameOf = (job: Job): string => printable(job.facts.get("title") || job.folder);

// Of the ranks and steps that are chosen.
function SaveReport({ job }: { job: Job }) {
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    await saveAnswer(`${nameOf(job)}.html`, `v1/jobs/${job.id}/report${query({ ranks: param("ranks"), steps: param("steps") })}`, "text/html");
    setBusy(false);
  };
  return <button type="button" title="As one file, which can be mailed" disabled={busy} onClick={save}>Save report</button>;
}

function skipToView(event: Event): void {
  event.preventDefault();
  document.getElementById("view")?.focus();
}

// Of a server with several jobs, or with another one than the address names.
function JobChoice() {
  const jobs = useJobs();
  const job = useJob();
  const isGone = jobs.state === "here" && param("job") !== "" && jobs.value.rowsWhere("id", param("job")).length === 0;
  if (source.value?.kind === "report" || jobs.state !== "here" || jobs.value.rows < (isGone ? 1 : 2)) {
    return <span class="job">{job.state === "here" ? nameOf(job.value) : ""}</span>;
  }
  const table = jobs.value;
  const chosen = param("job") || table.exact("id", 0);
  return (
    <label class="job">Job{" "}
      <select value={chosen} onChange={(event) => goTo(linkTo(view.value, { job: event.currentTarget.value, ranks: "", steps: "" }))}>
        {allRows(table).map((row) => (
          <option key={table.exact("id", row)} value={table.exact("id", row)}>{jobTitle(table, row)}</option>
        ))}
      </select>
    </label>
  );
}
