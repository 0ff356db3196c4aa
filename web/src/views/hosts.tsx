// Whether each agent is well: a line for each host, also for one whose agent does not answer; and all parts of one.
import { askHost, useHosts, useLive, type Host } from "../data/agents.ts";
import type { Column } from "../data/table.ts";
import { Failure } from "../failures.tsx";
import { here, param } from "../state.ts";
import { DataTable } from "../widgets/data_table.tsx";
import { Empty } from "../widgets/loaded.tsx";

// With a sign: colour is not enough.
export function HostState({ state }: { state: string }) {
  const signs: Record<string, string> = { up: "✓", down: "✗", denied: "✗", asked: "…" };
  return <span class={`host-state ${state}`}>{signs[state] ?? ""} {state}</span>;
}

export function Hosts() {
  const { list, table, error } = useHosts();
  if (table === null) return <p class="muted" aria-busy="true">Loading …</p>;
  const notUp = list.filter((host) => host.state === "down" || host.state === "denied").length;
  const failing = list.filter((host) => host.failing !== null && host.failing !== "").length;
  const chosen = list.find((host) => host.name === param("host")) ?? (list.length === 1 ? list[0] : undefined);
  return (
    <section>
      {error === "" ? <p class="answer">{sentence(list.length, notUp, failing)}</p> : <Failure error={`This is how the agents were when the server last told: ${error}`} />}
      <DataTable table={table} sortKey="sort" filterKey="filter" label="Agents" linkColumn="host"
        columns={["host", "address", "state", "version", "uptime_ns", "role", "failing", "message"]}
        link={(row) => here({ host: table.text("host", row) })} chosen={chosen === undefined ? -1 : list.indexOf(chosen)}
        cell={(column: Column, row) => (column.name === "state" ? <HostState state={table.text("state", row)} /> : failingCell(column, list[row]!))} />
      {chosen === undefined ? <Empty>A host's name shows all parts of its agent.</Empty> : <Parts key={chosen.name} host={chosen} />}
    </section>
  );
}

function failingCell(column: Column, host: Host) {
  if (column.name !== "failing" || host.failing === null) return undefined;
  return host.failing === "" ? <span class="muted">none</span> : <span class="host-state failed">{host.failing}</span>;
}

function sentence(all: number, notUp: number, failing: number): string {
  const agents = all === 1 ? "the agent" : `${all} agents`;
  if (notUp === 0 && failing === 0) return all === 1 ? "The agent works." : `All ${agents} work.`;
  const parts = [];
  if (notUp > 0) parts.push(all === 1 ? "the agent cannot be asked" : `${notUp} of ${agents} cannot be asked`);
  if (failing > 0) parts.push(all === 1 ? "a part of it fails" : `${failing} ${failing === 1 ? "has a part that fails" : "have parts that fail"}`);
  const text = `${parts.join("; ")}.`;
  return text[0]!.toUpperCase() + text.slice(1);
}

// Those that fail first, then those that work.
const ORDER = ["fails", "works", "off", "nothing"];

function Parts({ host }: { host: Host }) {
  if (host.state !== "up") return <Failure error={host.message || `${host.name} has not answered yet`} />;
  return <Status host={host} />;
}

function Status({ host }: { host: Host }) {
  const status = useLive(`status ${host.name}`, async (signal) => (await askHost(host, "status", { signal })).tables[0]!, 5000);
  if (status.value === null) return status.error === "" ? <p class="muted" aria-busy="true">Loading …</p> : <Failure error={status.error} />;
  const table = status.value;
  const count = (state: string) => table.rowsWhere("state", state).length;
  return (
    <>
      <h2>Parts of the agent of {host.name}</h2>
      <p>{ORDER.filter((state) => count(state) > 0).map((state) => `${count(state)} ${WORDS[state]![count(state) === 1 ? 0 : 1]}`).join(", ")}.</p>
      {status.error !== "" && <Failure error={status.error} />}
      <DataTable table={table} columns={["part", "state", "detail"]} label={`Parts of the agent of ${host.name}`}
        cell={(column, row) => (column.name === "state" ? <span class={`host-state ${table.text("state", row) === "fails" ? "failed" : ""}`}>{table.text("state", row)}</span> : undefined)} />
    </>
  );
}

// Of one, and of several.
const WORDS: Record<string, [string, string]> = {
  fails: ["fails", "fail"], works: ["works", "work"], off: ["is off", "are off"], nothing: ["has nothing to do here", "have nothing to do here"],
};
