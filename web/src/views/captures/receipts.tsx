// One capture while it is under way and after: its receipts, which fill as they come, its end, and what its files say.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { askHost, fileOf, mayRead, mayTrace, pathOf, type Host } from "../../data/agents.ts";
import { request } from "../../data/server_source.ts";
import type { Column, Document, Table } from "../../data/table.ts";
import { pending, sentenceOf } from "../../data/use.ts";
import { copy, Failure } from "../../failures.tsx";
import { human } from "../../format.ts";
import { here } from "../../state.ts";
import { DataTable } from "../../widgets/data_table.tsx";
import { save } from "../../widgets/save.ts";
import { captureText, type CaptureId } from "./data.ts";
import { Analysed } from "./analysed.tsx";
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
    const error = hosts.some((host) => host.name === id.host) ? followed.get(keyOf(id))?.error ?? "" : "its agent cannot be asked now";
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
            cell={(column: Column, row) => (column.name === "file" ? <FileCell table={table} row={row} ids={ids} hosts={hosts} /> : undefined)} />
          {isOver ? <Analysed ids={ids} hosts={hosts} table={table} /> : <EndButton ids={ids} hosts={hosts} />}
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

// A name, and ways to the file: its place, and, where the agent may be asked, its bytes.
function FileCell({ table, row, ids, hosts }: { table: Table; row: number; ids: readonly CaptureId[]; hosts: readonly Host[] }) {
  const state = useSignal("");
  const path = table.text("file", row), on = table.text("host", row);
  if (path === "") return null;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const host = hosts.find((each) => each.name === on), id = ids.find((each) => each.host === on);
  const download = async () => {
    state.value = "0 %";
    try {
      const told = (part: number) => (state.value = human(part, "ratio"));
      save(name, await fileOf(host!, id!.id, table.exact("pid", row), table.absolute("size_bytes", row), told), "application/octet-stream");
      state.value = "";
    } catch (error) {
      state.value = sentenceOf(error);
    }
  };
  return (
    <>
      <span title={path}>{name}</span> <button type="button" title={`copy ${on}:${path}`} aria-label={`Copy the place of ${name}`} onClick={() => copy(`${on}:${path}`)}>Copy</button>
      {host !== undefined && id !== undefined && mayRead(host) && table.text("state", row) === "written" && (
        <> <button type="button" aria-label={`Download ${name}`} onClick={download}>Download</button></>
      )}
      {state.value !== "" && <> <span role="status">{state.value}</span></>}
    </>
  );
}

function EndButton({ ids, hosts }: { ids: readonly CaptureId[]; hosts: readonly Host[] }) {
  const errors = useSignal<string[]>([]);
  if (!hosts.some((host) => mayTrace(host) && ids.some((id) => id.host === host.name))) return null;
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
