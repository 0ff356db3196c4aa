// One incident: its message, how it came to be so, what speaks for and against the cause, what is not known, and what was
// traced. All of its texts are shown as texts: they may be a job's.
import { useSignal } from "@preact/signals";
import { askHost, pathOf, useLive, type Host } from "../../data/agents.ts";
import { request } from "../../data/server_source.ts";
import { tableOf, type Column, type Table } from "../../data/table.ts";
import { sentenceOf } from "../../data/use.ts";
import { copy, Failure } from "../../failures.tsx";
import { clockDate, human, printable } from "../../format.ts";
import { here, linkTo } from "../../state.ts";
import { DataTable } from "../../widgets/data_table.tsx";
import { save } from "../../widgets/save.ts";
import { captureText } from "../captures/data.ts";
import { Actions } from "./actions.tsx";
import { captureOf, ENDINGS, incidentOf, type Evidence, type Incident } from "./data.ts";
import { StepChart } from "./step_chart.tsx";
import { SeverityWord, StateWord } from "./words.tsx";

const EVERY_MS = 2000;
const DOUBT = "but "; // so begins what speaks against the cause itself

interface Whole {
  incident: Incident;
  message: string[];
  transitions: Table | null; // null: an older agent does not tell
  captures: Table;
}

async function load(host: Host, id: string, signal: AbortSignal): Promise<Whole> {
  const path = `incidents/${encodeURIComponent(id)}`;
  const [record, history, captures] = await Promise.all([
    request(pathOf(host, path), { signal }).then((answer) => answer.text()),
    askHost(host, `${path}/history`, { signal }).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return null;
    }),
    askHost(host, "captures", { signal }),
  ]);
  const lines = history === null ? null : tableOf(history, "message");
  return {
    incident: incidentOf(record), message: lines === null ? [] : Array.from({ length: lines.rows }, (_, row) => lines.text("line", row)),
    transitions: history === null ? null : tableOf(history, "transitions"), captures: captures.tables[0]!,
  };
}

export function OneIncident({ id, host, all }: { id: string; host: Host; all: readonly Host[] }) {
  const live = useLive(`incident ${host.name} ${id}`, (signal) => load(host, id, signal), EVERY_MS);
  const close = <a class="back" href={here({ id: "", host: "" })}>close</a>;
  if (live.value === null) return live.error === "" ? <p class="muted" aria-busy="true">Loading …</p> : <Failure error={live.error} />;
  const { incident, message, transitions, captures } = live.value;
  return (
    <section class="panel incident" aria-label={`Incident ${id}`}>
      <h2><SeverityWord severity={incident.severity} /> {printable(id)} <StateWord state={incident.state} isMended={!(incident.ending in ENDINGS)} /> {close}</h2>
      {live.error !== "" && <Failure error={live.error} />}
      {message.length > 0 && (
        <div class="message" data-message>
          <p class="headline">{printable(message[0]!)}</p>
          {message.slice(1).map((line, i) => <p key={i} class={line.startsWith(" ") ? "in" : undefined}>{printable(line.trim())}</p>)}
        </div>
      )}
      <Facts incident={incident} host={host} />
      <Actions incident={incident} host={host} all={all} />
      <h3>How it went</h3>
      {transitions === null ? <p class="muted">Its agent, of an older release, does not tell.</p> : <Transitions table={transitions} />}
      {incident.job !== "" && <StepChart incident={incident} hosts={all} transitions={transitions} />}
      <h3>Evidence</h3>
      {incident.evidence.length === 0 ? <p class="muted">There is none yet but the conditions below.</p> : <ul class="evidence">{incident.evidence.map((one, i) => <EvidenceItem key={i} one={one} />)}</ul>}
      <Doubts texts={incident.against.filter((text) => text.startsWith(DOUBT)).map((text) => text.slice(DOUBT.length))} />
      <Commands incident={incident} />
      <h3>Looked at, and not the cause</h3>
      <Texts texts={incident.against.filter((text) => !text.startsWith(DOUBT))} none="Nothing was ruled out." />
      <h3>Not known</h3>
      <Texts texts={incident.notKnown} none="It does not say that something was not looked at." />
      {incident.toTrace !== "" && <p class="commands">To trace it: <Command text={incident.toTrace} /></p>}
      <h3>What changed before</h3>
      <Changes incident={incident} />
      <Logs incident={incident} />
      <h3>Captures</h3>
      <Traces incident={incident} host={host} captures={captures} />
      {incident.hasReport && <ReportButton incident={incident} host={host} />}
      <Conditions incident={incident} />
    </section>
  );
}

function Facts({ incident, host }: { incident: Incident; host: Host }) {
  const parts = [
    incident.job === "" ? `host ${incident.host || "not known"}` : `job ${incident.job}${incident.jobName && ` ${incident.jobName}`}${incident.user && ` of ${incident.user}`}`,
    `since ${timeText(Number.isNaN(incident.since) ? incident.opened : incident.since)}`,
    ...(Number.isNaN(incident.closed) ? [] : [`${ENDINGS[incident.ending] ?? "over at"} ${timeText(incident.closed)}`]),
    `cause ${incident.cause === "" ? "not known" : `${incident.cause.replaceAll("_", " ")}, ${incident.confidence || "unknown"} confidence`}`,
    ...(incident.source === "" ? [] : [`measured by ${incident.source}`]),
    `told by ${incident.ledBy || host.name}`,
  ];
  return (
    <>
      <p class="muted">{printable(parts.join(" · "))}</p>
      {incident.acknowledgedBy !== "" && <p>Acknowledged by {printable(incident.acknowledgedBy)} at {timeText(incident.acknowledgedAt)}.</p>}
      {incident.silencedUntil > Date.now() * 1e6 && <p>Silenced until {timeText(incident.silencedUntil)}.</p>}
      {incident.partOf !== "" && <p>It is a part of <a href={here({ id: incident.partOf, host: "" })}>{printable(incident.partOf)}</a>, and is not told by itself.</p>}
      {incident.sharedIncident !== "" && <p>Other jobs of one host have the like at the same time: <a href={here({ id: incident.sharedIncident, host: "" })}>{printable(incident.sharedIncident)}</a>.</p>}
      {incident.sharedBy && <p>{incident.sharedBy.count} jobs of this host have it: {printable(incident.sharedBy.jobs.join(", "))}{incident.sharedBy.count > incident.sharedBy.jobs.length && " and others"}.</p>}
    </>
  );
}

const timeText = (ns: number): string => (Number.isNaN(ns) ? "not known" : clockDate(ns));

function Transitions({ table }: { table: Table }) {
  return (
    <DataTable table={table} label="States of the incident" columns={["at", "before", "after", "why"]}
      cell={(column: Column, row) => (column.name === "at" ? <span title={table.exact(column, row)}>{clockDate(table.absolute(column, row))}</span>
        : column.name === "after" ? <StateWord state={table.text(column, row)} /> : undefined)} />
  );
}

function Command({ text }: { text: string }) {
  return <span class="command"><code>{printable(text)}</code> <button type="button" aria-label={`Copy the command ${printable(text)}`} onClick={() => copy(text)}>Copy</button></span>;
}

function EvidenceItem({ one }: { one: Evidence }) {
  return (
    <li>
      {printable(one.says)}
      {one.table !== "" && <span class="muted"> (table {printable(one.table)}{one.row && `: ${printable(one.row)}`})</span>}
      {one.command !== "" && <Command text={one.command} />}
    </li>
  );
}

// A path is a word of the shell's where it needs no quotes, else it is quoted.
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

function Commands({ incident }: { incident: Incident }) {
  return <p class="commands">The same in a terminal: <Command text={`spotter incidents ${quoted(incident.id)}`} /></p>;
}

// Mostly there is none.
function Doubts({ texts }: { texts: readonly string[] }) {
  return texts.length === 0 ? null : <><h3>What speaks against it</h3><Texts texts={texts} none="" /></>;
}

function Texts({ texts, none }: { texts: readonly string[]; none: string }) {
  return texts.length === 0 ? <p class="muted">{none}</p> : <ul>{texts.map((text, i) => <li key={i}>{printable(text)}</li>)}</ul>;
}

function Changes({ incident }: { incident: Incident }) {
  if (incident.changes.length === 0) return <p class="muted">No change before it is known.</p>;
  return (
    <ul>
      {incident.changes.map((change, i) => (
        <li key={i}>
          {timeText(change.at)} {printable(change.kind)}: {printable(change.what)}
          {(change.before !== "" || change.after !== "") && <> ({printable(change.before) || "nothing"} → {printable(change.after) || "nothing"})</>}
          {change.by !== "" && <> by {printable(change.by)}</>}
          {change.link !== "" && <> <span class="muted">{printable(change.link)}</span></>}
        </li>
      ))}
    </ul>
  );
}

function Logs({ incident }: { incident: Incident }) {
  if (incident.logs.length === 0) return null;
  return (
    <>
      <h3>From logs</h3>
      <ul class="logs">
        {incident.logs.map((line, i) => <li key={i}><code>{printable(line.text)}</code>{line.place !== "" && <span class="muted"> {printable(line.place)}</span>}</li>)}
      </ul>
    </>
  );
}

const ratioText = (ratio: number): string => (Number.isNaN(ratio) ? "not known" : `× ${ratio.toFixed(2)}`);

// As the agent writes it: "all", ranges of ranks, or of a job whose ranks are not known "process 4711" or "one host".
const whoWasTraced = (ranks: string): string =>
  ranks === "" || ranks === "all" ? "all ranks" : /^\d/.test(ranks) ? `ranks ${printable(ranks)}` : printable(ranks);

function Traces({ incident, host, captures }: { incident: Incident; host: Host; captures: Table }) {
  if (incident.captures.length === 0) return <p class="muted">Nothing was traced for it.</p>;
  return (
    <ul>
      {incident.captures.map((traced, i) => {
        const id = captureOf(traced, incident, captures);
        return (
          <li key={i}>
            {whoWasTraced(traced.ranks)}{traced.steps > 0 && `, ${traced.steps} ${traced.steps === 1 ? "step" : "steps"}`}.
            {" "}Steps while it lasted {ratioText(traced.overhead)}, after it {ratioText(traced.aftermath)}; it cost the job {Number.isNaN(traced.costS) ? "a time that is not known" : human(traced.costS * 1e9, "ns")}.
            {id !== "" && <> <a href={linkTo("captures", { capture: captureText([{ host: host.name, id }]) })}>Receipts, and analyse where the files are</a></>}
            {traced.path !== "" && <Command text={`spotter serve ${quoted(traced.path)}`} />}
          </li>
        );
      })}
    </ul>
  );
}

// The report is a page of its own, which opens where it was saved.
function ReportButton({ incident, host }: { incident: Incident; host: Host }) {
  const said = useSignal("");
  const error = useSignal("");
  const download = async () => {
    said.value = "Loading …";
    error.value = "";
    try {
      const answer = await request(pathOf(host, `incidents/${encodeURIComponent(incident.id)}/report`));
      save(`${incident.id}.html`, await answer.blob(), "text/html");
    } catch (failure) {
      error.value = sentenceOf(failure);
    }
    said.value = "";
  };
  return (
    <>
      <p><button type="button" disabled={said.value !== ""} onClick={download}>Download the report</button> {said.value !== "" && <span role="status">{said.value}</span>}</p>
      {error.value !== "" && <Failure error={error.value} />}
    </>
  );
}

const UNITS: Record<string, (value: number) => string> = {
  s: (value) => human(value * 1e9, "ns"), Hz: (value) => human(value, "hertz"), ratio: (value) => human(value, "ratio"), per_s: (value) => human(value, "per_s"),
};
const valueText = (value: number, unit: string): string => (UNITS[unit] ?? ((one: number) => human(one, "count")))(value);

function Conditions({ incident }: { incident: Incident }) {
  const { conditions, conditionCount } = incident;
  if (conditions.length === 0) return null;
  return (
    <>
      <h3>Conditions</h3>
      <ul>
        {conditions.map((one, i) => (
          <li key={i}>
            {printable(one.rule.replaceAll("_", " "))}{one.of !== "" && ` of ${printable(one.of)}`}, since {timeText(one.since)}
            {!Number.isNaN(one.value) && `: ${valueText(one.value, one.unit)}`}{!Number.isNaN(one.baseline) && `, usually ${valueText(one.baseline, one.unit)}`}
            {one.text !== "" && <>: <code>{printable(one.text)}</code></>}
          </li>
        ))}
      </ul>
      {conditionCount > conditions.length && <p class="muted">These are the worst of {conditionCount}.</p>}
    </>
  );
}
