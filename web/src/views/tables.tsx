// Every table by its name, with its parameters as a form and its definition.
import { source, useAnalyses, useTable } from "../data/use.ts";
import type { Analysis, Param } from "../data/source.ts";
import { linkTo, param, setParam } from "../state.ts";
import { DataTable } from "../widgets/data_table.tsx";
import { Ready } from "../widgets/loaded.tsx";

export function Tables() {
  const analyses = useAnalyses();
  return <Ready of={analyses}>{(all) => <Chosen all={all} />}</Ready>;
}

function Chosen({ all }: { all: Analysis[] }) {
  const chosen = all.find((analysis) => analysis.name === (param("table") || "summary")) ?? null;
  return (
    <div class="split">
      <nav aria-label="Tables" class="list">
        {all.map((analysis) => (
          <a key={analysis.name} href={linkTo("tables", { table: analysis.name })} title={analysis.summary}
            aria-current={analysis === chosen ? "page" : undefined}>{analysis.name}</a>
        ))}
      </nav>
      <section aria-label="Table">
        {chosen === null ? <p class="empty">There is no table "{param("table")}".</p> : <OneTable key={chosen.name} analysis={chosen} />}
      </section>
    </div>
  );
}

// Of every table.
const COMPAT: Param = { name: "compat", fallback: "", help: "To compare numbers with another tool: hta or tb_plugin" };

function OneTable({ analysis }: { analysis: Analysis }) {
  const fields = [...analysis.params, COMPAT];
  const params = Object.fromEntries(fields.map((one) => [one.name, param(one.name)]).filter(([, value]) => value !== ""));
  const table = useTable(analysis.name, { params });
  return (
    <>
      <h2>{analysis.name}</h2>
      <p>{analysis.summary}</p>
      <details open={param("definition") !== ""}><summary>Definition</summary><p class="doc">{analysis.doc}</p></details>
      {source.value?.kind === "server" && (
        <form class="params" onSubmit={(event) => event.preventDefault()}>
          {fields.map((one) => (
            <label key={one.name} title={one.help}>{one === COMPAT ? "count as" : one.name.replaceAll("_", " ")}{" "}
              <input value={param(one.name)} placeholder={String(one.fallback)} onChange={(event) => setParam(one.name, event.currentTarget.value, { push: true })} />
            </label>
          ))}
        </form>
      )}
      <Ready of={table}>{(value) => <DataTable table={value} sortKey="sort" filterKey="filter" colsKey="cols" />}</Ready>
    </>
  );
}
