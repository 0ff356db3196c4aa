// What changed from one job of a server to another: how long steps take, which names take longer, and where in the program.
import { useMemo } from "preact/hooks";
import { allRows } from "../data/rows.ts";
import { jobTitle } from "../data/source.ts";
import type { Table } from "../data/table.ts";
import { source, useDiff, useJobs, useTable, type Loaded } from "../data/use.ts";
import { goTo, hashOf, here, param, place, setParam } from "../state.ts";
import { Search } from "../widgets/choice.tsx";
import { Exact } from "../widgets/exact.tsx";
import { Icicle } from "../widgets/icicle.tsx";
import { Legend } from "../widgets/legend.tsx";
import { Empty, Ready } from "../widgets/loaded.tsx";
import { Sentence } from "../widgets/sentence.tsx";
import { changeTree, oneSided, stepTimes } from "./diff/data.ts";
import { Distributions } from "./diff/distributions.tsx";
import { NameTable } from "./diff/name_table.tsx";
import { pairOf } from "./diff/pair.ts";

export function Diff() {
  if (source.value?.kind === "report") {
    return (
      <Empty>
        A report holds one job. <code>spotter diff BEFORE AFTER</code> says what changed from one job to another, and{" "}
        <code>spotter serve FOLDER</code> shows it here, of the jobs below a folder.
      </Empty>
    );
  }
  const jobs = useJobs();
  return <Ready of={jobs}>{(table) => (table.rows < 2 ? <OneJob table={table} /> : <Chosen jobs={table} />)}</Ready>;
}

function OneJob({ table }: { table: Table }) {
  return (
    <Empty>
      {table.rows === 0 ? "There is no job yet" : `There is one job only, ${jobTitle(table, 0)}`}: put the traces of another one below the folder that{" "}
      <code>spotter serve</code> was given, and both can be compared here.
    </Empty>
  );
}

interface NamedJob {
  id: string;
  title: string;
}

function Chosen({ jobs }: { jobs: Table }) {
  const all: NamedJob[] = allRows(jobs).map((row) => ({ id: jobs.exact("id", row), title: jobTitle(jobs, row) }));
  const pair = pairOf(jobs, param("base"), param("job"));
  const before = all[pair.before]!, after = all[pair.after]!;
  return (
    <>
      <section aria-labelledby="jobs">
        <h2 id="jobs">From {before.title} to {after.title}</h2>
        <form class="params" onSubmit={(event) => event.preventDefault()}>
          <JobSelect label="Before" name="base" value={before.id} all={all} />
          <button type="button" title="What was after is before" onClick={() => goTo(swapped(before.id, after.id))}>⇄ Swap</button>
          <JobSelect label="After" name="job" value={after.id} all={all} />
        </form>
        {pair.why !== "" && <p class="muted">{pair.why}</p>}
      </section>
      {before.id === after.id ? <Empty>This is one job twice: choose another one.</Empty> : <Compared key={`${before.id} ${after.id}`} before={before} after={after} />}
    </>
  );
}

const swapped = (before: string, after: string): string =>
  hashOf({ view: "diff", params: new Map([...place.value.params, ["job", before], ["base", after]]) });

function JobSelect({ label, name, value, all }: { label: string; name: string; value: string; all: NamedJob[] }) {
  return (
    <label>{label}{" "}
      <select value={value} onChange={(event) => setParam(name, event.currentTarget.value, { push: true })}>
        {all.map((each) => <option key={each.id} value={each.id}>{each.title}</option>)}
      </select>
    </label>
  );
}

function Compared({ before, after }: { before: NamedJob; after: NamedJob }) {
  const names = useDiff(before.id, after.id, "trace_diff", param("by_function") === "1" ? { by_function: "1" } : {});
  const paths = useDiff(before.id, after.id, "path_diff");
  const stepsBefore = useTable("steps", { job: before.id });
  const stepsAfter = useTable("steps", { job: after.id });
  return (
    <>
      <Why causes={useDiff(before.id, after.id, "causes")} job={after.id} />
      <Steps before={stepsBefore} after={stepsAfter} />
      <section aria-labelledby="paths">
        <h2 id="paths">Where in the program</h2>
        <Ready of={paths}>{(table) => <Tree table={table} />}</Ready>
      </section>
      <section aria-labelledby="names">
        <h2 id="names">By name</h2>
        <Ready of={names}>
          {(table) => (
            <>
              <Sides table={table} />
              <p><label title="Kernels of one function are one, whatever its template arguments">
                <input type="checkbox" checked={param("by_function") === "1"} onChange={(event) => setParam("by_function", event.currentTarget.checked ? "1" : "", { push: true })} /> Kernels by their functions
              </label></p>
              <NameTable table={table} />
            </>
          )}
        </Ready>
      </section>
    </>
  );
}

// What the command begins with. Nothing, where the jobs do not tell.
function Why({ causes, job }: { causes: Loaded<Table>; job: string }) {
  if (causes.state === "here" && causes.value.rows === 0) return null;
  return (
    <section aria-labelledby="why">
      <h2 id="why">Why</h2>
      <Ready of={causes}>
        {(table) => <ul class="causes">{allRows(table).map((row) => <li key={row}><Sentence text={table.text("cause", row)} job={job} /></li>)}</ul>}
      </Ready>
    </section>
  );
}

function Steps({ before, after }: { before: Loaded<Table>; after: Loaded<Table> }) {
  return (
    <section aria-labelledby="steps">
      <h2 id="steps">How long steps take</h2>
      <Ready of={before}>
        {(first) => (
          <Ready of={after}>
            {(second) => {
              const one = stepTimes(first), other = stepTimes(second);
              if (one.times.length === 0 || other.times.length === 0)
                return <Empty>No steps were recorded in the job {one.times.length === 0 ? "before" : "after"}, so that their times cannot be compared.</Empty>;
              const change = other.median - one.median, share = Math.abs(change) / one.median;
              const isSame = share < 0.01;
              return (
                <>
                  <p class="answer">
                    The median step takes <Exact value={other.median} unit="ns" /> instead of <Exact value={one.median} unit="ns" />
                    {isSame ? <>: about the same.</> : (
                      <>: <strong class={change < 0 ? "is-faster" : "is-slower"}>{change < 0 ? "▼" : "▲"} <Exact value={Math.abs(change)} unit="ns" /> (<Exact value={share} unit="ratio" />) {change < 0 ? "faster" : "slower"}</strong>.</>
                    )}
                  </p>
                  <Distributions before={one} after={other} />
                </>
              );
            }}
          </Ready>
        )}
      </Ready>
    </section>
  );
}

const CHANGES: [kind: string, label: string][] = [
  ["faster3", "▼ faster"], ["unchanged", "= the same within 1 %"], ["slower3", "▲ slower"], ["removed", "▼ only before"], ["added", "▲ only after"],
];

function Tree({ table }: { table: Table }) {
  const root = useMemo(() => changeTree(table), [table]);
  if (table.rows === 0) return <Empty>No operators, modules or annotations were recorded in either job.</Empty>;
  return (
    <>
      <Legend kinds={CHANGES} />
      <p>
        <Search name="q" label="Find in the tree" value={param("q")} />{" "}
        <span class="muted">Device time in a step of a rank (host time without devices), both jobs over each other: each is as wide as the longer of its two times.</span>
      </p>
      <Icicle root={root} unit="ns" label="What changed, by path" search={param("q")} />
    </>
  );
}

function Sides({ table }: { table: Table }) {
  const { added, removed } = oneSided(table);
  if (added + removed === 0) return <p>Both jobs have the same names.</p>;
  return (
    <p>
      {removed > 0 && <><a href={here({ filter: "change:removed" })}>{removed} {removed === 1 ? "name is" : "names are"} only before</a>{added > 0 ? ", " : "."}</>}
      {added > 0 && <><a href={here({ filter: "change:added" })}>{added} {added === 1 ? "name is" : "names are"} only after</a>.</>}
      {param("filter") !== "" && <> <a href={here({ filter: "" })}>All names</a></>}
    </p>
  );
}
