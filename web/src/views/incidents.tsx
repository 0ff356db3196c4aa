// What is wrong with jobs and hosts, or was in the last day, as the agents see it; and one incident whole.
import { useHosts, useLive } from "../data/agents.ts";
import type { Column, Table } from "../data/table.ts";
import { Failure } from "../failures.tsx";
import { clockDate } from "../format.ts";
import { here, linkTo, param } from "../state.ts";
import { DataTable } from "../widgets/data_table.tsx";
import { askAll, type Asked } from "./captures.tsx";
import { incidentList, sentenceOfAll } from "./incidents/data.ts";
import { OneIncident } from "./incidents/one.tsx";
import { SeverityWord, StateWord } from "./incidents/words.tsx";

const EVERY_MS = 2000;

export function Incidents() {
  const { list } = useHosts();
  const up = list.filter((host) => host.state === "up");
  const asked = useLive("incidents", (signal, before: Asked | null) => askAll(up, "incidents", signal, before), EVERY_MS, up.map((host) => host.name).join(" "));
  const id = param("id");
  const all = asked.value === null ? null : incidentList(asked.value.parts);
  const rowOf = (table: Table) => table.rowsWhere("id", id).find((row) => param("host") === "" || table.text("host", row) === param("host"));
  const row = all === null || id === "" ? undefined : rowOf(all);
  const owner = row === undefined ? undefined : up.find((host) => host.name === all!.text("host", row));
  return (
    <section>
      {list.some((host) => host.state === "down" || host.state === "denied") && (
        <p>Not all agents can be asked, and what they see is not here: <a href={linkTo("hosts")}>hosts</a>.</p>
      )}
      {[...new Set(asked.value?.problems.map(({ host, error }) => `${host}: ${error}`))].map((problem) => <Failure key={problem} error={problem} />)}
      {id !== "" && all !== null && (owner === undefined
        ? <Failure error={`No agent here has an incident ${id}: those of the last day are in the list, older ones are remembered no more.`} />
        : <OneIncident key={`${owner.name} ${id}`} id={id} host={owner} all={up} />)}
      {all === null ? <p class="muted" aria-busy="true">Loading …</p> : up.length > 0 && <List table={all} chosen={row ?? -1} hosts={up.length} />}
    </section>
  );
}

function List({ table, chosen, hosts }: { table: Table; chosen: number; hosts: number }) {
  const isTwice = (row: number) => table.rowsWhere("id", table.text("id", row)).length > 1;
  return (
    <>
      {param("id") !== "" && <h2>All incidents</h2>}
      <p class="answer">{sentenceOfAll(table)}</p>
      <DataTable table={table} sortKey="sort" filterKey="filter" label="Incidents" linkColumn="id" chosen={chosen}
        columns={["state", "severity", "id", "job", "sentence", "opened", "confidence", "host"].filter((name) => name !== "host" || hosts > 1)}
        link={(row) => here({ id: table.text("id", row), host: isTwice(row) ? table.text("host", row) : "" })}
        cell={(column, row) => cellOf(table, column, row)} />
    </>
  );
}

function cellOf(table: Table, column: Column, row: number) {
  switch (column.name) {
    case "state":
      return <StateWord state={table.text("state", row)} />;
    case "severity":
      return <SeverityWord severity={table.text("severity", row)} />;
    case "opened":
    case "updated": {
      const at = table.absolute(column, row);
      return Number.isNaN(at) ? undefined : <span title={table.exact(column, row)}>{clockDate(at)}</span>;
    }
    default:
      return undefined;
  }
}
