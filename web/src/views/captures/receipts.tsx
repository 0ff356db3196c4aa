// One capture while it is under way and after: its receipts, which fill as they come, its end, and what its files say.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { askHost, mayTrace, pathOf, tellHost, type Host } from "../../data/agents.ts";
import { request } from "../../data/server_source.ts";
import { Table, type Column, type Document } from "../../data/table.ts";
import { pending, sentenceOf } from "../../data/use.ts";
import { copy, Failure } from "../../failures.tsx";
import { human } from "../../format.ts";
import { DataTable } from "../../widgets/data_table.tsx";
import { here } from "../here.ts";
import { numbersColumn, textsColumn } from "../made_table.ts";
import { captureText, slowestOf, stepsOf, type CaptureId, type FileSteps } from "../captures_data.ts";
import { stacked } from "./stacked.ts";

const WAIT_MS = 20_000; // for news, at one question
const AFTER_ERROR_MS = 3000;

interface Followed {
  document: Document | null;
  error: string;
}

const keyOf = (id: CaptureId): string => captureText([id]);

const FINAL = ["written", "empty", "failed", "expired"];

// Asks each agent for news until its part of the capture is over.
function useFollowed(ids: readonly CaptureId[], hosts: readonly Host[]): Map<string, Followed> {
  const all = useSignal(new Map<string, Followed>());
  const known = ids.filter((id) => hosts.some((host) => host.name === id.host)).map((id) => id.host).join(" ");
  useEffect(() => {
    const ending = new AbortController();
    const tell = (id: CaptureId, followed: Followed) => (all.value = new Map(all.value).set(keyOf(id), followed));
    for (const id of ids) {
      const host = hosts.find((each) => each.name === id.host);
      if (host !== undefined) void followOne(host, id, (followed) => tell(id, followed), ending.signal);
    }
    return () => ending.abort();
  }, [known]);
  return all.value;
}

async function followOne(host: Host, id: CaptureId, tell: (followed: Followed) => void, signal: AbortSignal): Promise<void> {
  let document: Document | null = null;
  pending.value += 1;
  let isFirst = true;
  while (!signal.aborted) {
    const seen = document === null ? "" : `?wait_ms=${WAIT_MS}&seen=${String(document.members["revision"])}`;
    try {
      document = await askHost(host, `captures/${encodeURIComponent(id.id)}${seen}`, { signal });
      if (!signal.aborted) tell({ document, error: "" });
    } catch (error) {
      if (!signal.aborted) tell({ document, error: sentenceOf(error) });
      await new Promise((resolve) => setTimeout(resolve, AFTER_ERROR_MS));
    }
    if (isFirst) pending.value -= 1;
    isFirst = false;
    if (document?.members["over"] === true) return;
  }
  if (isFirst) pending.value -= 1;
}

export function Receipts({ ids, hosts }: { ids: readonly CaptureId[]; hosts: readonly Host[] }) {
  const followed = useFollowed(ids, hosts);
  const parts = ids.flatMap((id) => {
    const document = followed.get(keyOf(id))?.document;
    return document ? [{ host: id.host, table: document.tables[0]! }] : [];
  });
  const table = stacked("receipts", parts);
  const errors = ids.flatMap((id) => {
    const error = followed.get(keyOf(id))?.error ?? (hosts.some((host) => host.name === id.host) ? "" : "its agent cannot be asked now");
    return error === "" ? [] : [`${id.host}: ${error}`];
  });
  const isOver = ids.every((id) => followed.get(keyOf(id))?.document?.members["over"] === true);
  return (
    <section class="panel" aria-label="Capture">
      <h2>Capture {[...new Set(ids.map((id) => id.id))].join(", ")} <a class="back" href={here({ capture: "" })}>close</a></h2>
      {errors.map((error) => <Failure key={error} error={error} />)}
      {table !== null && (
        <>
          <p role="status">{progress(table, isOver, ids, followed)}</p>
          {ids.flatMap((id) => followed.get(keyOf(id))?.document?.notes ?? []).map((note, i) => <p key={i} class="muted">{note.sentence}</p>)}
          <DataTable table={table} label="Receipts" columns={["host", "rank", "pid", "state", "file", "size_bytes", "took_ns", "reason"].filter((name) => name !== "host" || ids.length > 1)}
            cell={(column: Column, row) => (column.name === "file" ? <FileCell host={table.text("host", row)} path={table.text("file", row)} /> : undefined)} />
          {isOver ? <Findings ids={ids} hosts={hosts} table={table} /> : <EndButton ids={ids} hosts={hosts} />}
        </>
      )}
    </section>
  );
}

function progress(table: Table, isOver: boolean, ids: readonly CaptureId[], followed: ReadonlyMap<string, Followed>): string {
  const states = Array.from({ length: table.rows }, (_, row) => table.text("state", row));
  const count = (state: string) => states.filter((each) => each === state).length;
  const done = states.filter((state) => FINAL.includes(state)).length;
  if (isOver) {
    const others = FINAL.slice(1).filter((state) => count(state) > 0).map((state) => `${count(state)} ${state}`);
    return `${count("written")} of ${table.rows} processes have written their trace${others.length > 0 ? `; ${others.join(", ")}` : ""}.`;
  }
  const left = Math.max(0, ...ids.map((id) => Number(followed.get(keyOf(id))?.document?.members["remaining_ms"] ?? 0)));
  return `Under way: ${done} of ${table.rows} processes are done. What is not written within ${human(left * 1e6, "ns")} is given up.`;
}

function FileCell({ host, path }: { host: string; path: string }) {
  if (path === "") return null;
  const name = path.slice(path.lastIndexOf("/") + 1);
  return <><span title={path}>{name}</span> <button type="button" title={`copy ${host}:${path}`} aria-label={`Copy the place of ${name}`} onClick={() => copy(`${host}:${path}`)}>Copy</button></>;
}

function EndButton({ ids, hosts }: { ids: readonly CaptureId[]; hosts: readonly Host[] }) {
  const errors = useSignal<string[]>([]);
  const end = async () => {
    const results = await Promise.allSettled(ids.map(async (id) => {
      const host = hosts.find((each) => each.name === id.host);
      if (host !== undefined) await request(pathOf(host, `captures/${encodeURIComponent(id.id)}`), { method: "DELETE" });
    }));
    errors.value = results.flatMap((result) => (result.status === "rejected" ? [sentenceOf(result.reason)] : []));
  };
  return (
    <>
      <button type="button" onClick={end}>End it</button>
      {errors.value.map((error) => <Failure key={error} error={error} />)}
    </>
  );
}

type Analysed = { state: "none" | "asked" } | { state: "here"; files: FileSteps[]; errors: string[] };

// The agents read the files where they are.
function Findings({ ids, hosts, table }: { ids: readonly CaptureId[]; hosts: readonly Host[]; table: Table }) {
  const analysed = useSignal<Analysed>({ state: "none" });
  if (table.rowsWhere("state", "written").length === 0) return null;
  const meant = ids.flatMap((id) => {
    const host = hosts.find((each) => each.name === id.host);
    return host === undefined || !mayTrace(host) ? [] : [{ host, id: id.id }];
  });
  const analyse = async () => {
    analysed.value = { state: "asked" };
    const results = await Promise.allSettled(meant.map(async ({ host, id }) => {
      const answer = await tellHost(host, `captures/${encodeURIComponent(id)}/analyze`, { analyses: ["summary", "steps"] });
      return stepsOf(await answer.text());
    }));
    analysed.value = {
      state: "here",
      files: results.flatMap((result) => (result.status === "fulfilled" ? result.value : [])),
      errors: results.flatMap((result, i) => (result.status === "rejected" ? [`${meant[i]!.host.name}: ${sentenceOf(result.reason)}`] : [])),
    };
  };
  const now = analysed.value;
  if (now.state !== "here") {
    return <button type="button" disabled={meant.length === 0 || now.state === "asked"} title={meant.length === 0 ? "this needs the role trace" : ""} onClick={analyse}>{now.state === "asked" ? "The agents read the traces …" : "Analyse where the files are"}</button>;
  }
  return (
    <>
      {now.errors.map((error) => <Failure key={error} error={error} />)}
      {now.files.length > 0 && <p class="answer">{slowestOf(now.files)}</p>}
      {now.files.length > 0 && <DataTable table={stepTable(now.files)} label="Steps of each rank" sort="rank" />}
      <p class="muted">All views of these traces: <code>spotter serve FOLDER</code> where the files are.</p>
    </>
  );
}

function stepTable(files: readonly FileSteps[]): Table {
  return new Table("capture_steps", files.length, [
    numbersColumn("rank", files.map((file) => (file.rank === "" ? Number.NaN : Number(file.rank))), { help: "Rank.", role: "key" }),
    numbersColumn("steps", files.map((file) => file.steps), { help: "Steps that are in the trace.", unit: "count" }),
    numbersColumn("mean_step_ns", files.map((file) => file.meanStepNs), { help: "Mean length of a step.", unit: "ns", type: "real" }),
    numbersColumn("longest_step_ns", files.map((file) => file.longestStepNs), { help: "The longest of them.", unit: "ns" }),
    numbersColumn("device_busy", files.map((file) => file.busy), { help: "Part of the steps in which the device is busy.", unit: "ratio", type: "real" }),
    numbersColumn("events", files.map((file) => file.events), { help: "Events of the trace.", unit: "count" }),
    textsColumn("file", files.map((file) => file.path), { help: "The file.", role: "detail" }),
  ]);
}
