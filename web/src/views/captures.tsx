// Tracing from the page: which processes there are, a capture of them, what becomes of it, and what its files say.
import { useRef } from "preact/hooks";
import { askHost, mayTrace, useHosts, useLive, type Host } from "../data/agents.ts";
import type { Column, Table } from "../data/table.ts";
import { sentenceOf } from "../data/use.ts";
import { Failure } from "../failures.tsx";
import { clockDate } from "../format.ts";
import { here, linkTo, param, setParams } from "../state.ts";
import { DataTable } from "../widgets/data_table.tsx";
import { Empty } from "../widgets/loaded.tsx";
import { Begin } from "./captures/begin.tsx";
import { Receipts } from "./captures/receipts.tsx";
import { stacked, type Part } from "./captures/stacked.ts";
import { captureText, capturesOf } from "./captures/data.ts";

const EVERY_MS = 3000;

export interface Asked {
  parts: Part[];
  problems: { host: string; error: string }[];
}

// The same table of each host that is up; of one that does not answer that `before` stays.
export async function askAll(list: readonly Host[], path: string, signal: AbortSignal, before: Asked | null): Promise<Asked> {
  const asked: Asked = { parts: [], problems: [] };
  await Promise.all(list.map(async (host) => {
    try {
      asked.parts.push({ host: host.name, table: (await askHost(host, path, { signal })).tables[0]! });
    } catch (error) {
      if (signal.aborted) throw error;
      asked.problems.push({ host: host.name, error: sentenceOf(error) });
      asked.parts.push(...before?.parts.filter((part) => part.host === host.name) ?? []);
    }
  }));
  const order = (name: string) => list.findIndex((host) => host.name === name);
  asked.parts.sort((a, b) => order(a.host) - order(b.host));
  return asked;
}

export function Captures() {
  const { list, job } = useHosts();
  const up = list.filter((host) => host.state === "up");
  const names = up.map((host) => host.name).join(" ");
  const processes = useLive("processes", (signal, before: Asked | null) => askAll(up, "processes", signal, before), EVERY_MS, names);
  const captures = useLive("captures", (signal, before: Asked | null) => askAll(up, "captures", signal, before), EVERY_MS, names);
  const isForm = useRef(false); // once there, it stays with what was chosen in it
  isForm.current ||= processes.value?.parts.some(({ table }) => table.rows > 0) ?? false;
  const shown = capturesOf(param("capture"));
  const problems = [...new Set([...processes.value?.problems ?? [], ...captures.value?.problems ?? []].map(({ host, error }) => `${host}: ${error}`))];
  return (
    <section>
      {list.some((host) => host.state === "down" || host.state === "denied") && (
        <p>Not all agents can be asked: <a href={linkTo("hosts")}>hosts</a>.</p>
      )}
      {problems.map((problem) => <Failure key={problem} error={problem} />)}
      {shown.length > 0 && <Receipts key={param("capture")} ids={shown} hosts={up} />}
      <h2>Processes that can be traced</h2>
      {processes.value === null ? <p class="muted" aria-busy="true">Loading …</p> : <Processes parts={processes.value.parts} />}
      {processes.value !== null && isForm.current && <Begin parts={processes.value.parts} hosts={up.filter(mayTrace)} all={up.length} firstJob={job} />}
      <h2>Captures</h2>
      {captures.value !== null && <List parts={captures.value.parts} />}
    </section>
  );
}

function Processes({ parts }: { parts: Part[] }) {
  const table = stacked("processes", parts);
  if (table === null || table.rows === 0) {
    return <Empty>No process is registered. Set KINETO_USE_DAEMON=1 where the training processes start; a process appears when it imports torch.</Empty>;
  }
  return (
    <DataTable table={table} sortKey="sort" filterKey="filter" label="Processes"
      columns={["host", "pid", "role", "rank", "world_size", "job", "state", "last_poll_ns", "torch", "command"].filter((name) => name !== "host" || parts.length > 1)} />
  );
}

// Of all time that the agents know, or of a time that is marked in the charts.
function List({ parts }: { parts: Part[] }) {
  const all = stacked("captures", parts);
  const from = Number(param("from")), to = Number(param("to"));
  const isMarked = to > from;
  if (all === null || all.rows === 0) return <Empty>No capture is known here; the form above begins one, as does <code>spotter trace</code>.</Empty>;
  const table = isMarked ? stacked("captures", parts, (part, row) => part.absolute("began_ns", row) >= from && part.absolute("began_ns", row) <= to)! : all;
  return (
    <>
      {isMarked && (
        <p>Of {clockDate(from)} to {clockDate(to)} ({table.rows} of {all.rows}).{" "}
          <button type="button" onClick={() => setParams({ from: "", to: "" })}>Show all</button></p>
      )}
      <DataTable table={table} label="Captures" sort="-began_ns" linkColumn="id"
        columns={["host", "id", "began_ns", "state", "processes", "written", "asked_by", "job", "output"].filter((name) => name !== "host" || parts.length > 1)}
        link={(row) => here({ capture: captureText([{ host: table.text("host", row), id: table.text("id", row) }]) })}
        cell={(column: Column, row) => timeCell(table, column, row)} />
    </>
  );
}

function timeCell(table: Table, column: Column, row: number) {
  return column.name === "began_ns" ? <span title={table.exact(column, row)}>{clockDate(table.absolute(column, row))}</span> : undefined;
}
