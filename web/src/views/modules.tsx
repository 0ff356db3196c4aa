// Which layer costs, forward and backward.
import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { ranksIn } from "../data/rows.ts";
import type { Table } from "../data/table.ts";
import { useTable } from "../data/use.ts";
import { human, printable, shortName } from "../format.ts";
import { tellNotes } from "../notes.tsx";
import { chosenRank, linkTo, param, setParam } from "../state.ts";
import { Choice, RankChoice, Search, rankName } from "../widgets/choice.tsx";
import { exactText } from "../widgets/exact.tsx";
import { Icicle, namesIn } from "../widgets/icicle.tsx";
import { Empty, Held } from "../widgets/loaded.tsx";
import { costliest, icicleOf, moduleTree, namesInPath, rowsInSight, timeOf, type Module, type Pass, type Time } from "./modules/data.ts";

export function Modules() {
  const table = useTable("modules");
  return (
    <Held of={table}>
      {(value) => value.rows === 0 ? (
        <Empty>
          No modules were recorded: profile with <code>with_stack=True</code> and <code>with_modules=True</code> (record with_stack and with_modules), or
          mark layers by <code>record_function</code>. What there is by operators is under <a href={linkTo("operators")}>Operators</a>.
        </Empty>
      ) : <Shown table={value} />}
    </Held>
  );
}

const PASSES: [Pass, string][] = [["both", "forward and backward"], ["forward", "forward"], ["backward", "backward"]];

function Shown({ table }: { table: Table }) {
  tellNotes(table);
  const rank = chosenRank();
  const modules = useMemo(() => moduleTree(table, rank), [table, rank]);
  const hasDevice = modules.some((module) => timeOf(module, "device", "both") > 0);
  const time: Time = param("time") === "host" || !hasDevice ? "host" : "device";
  const pass: Pass = PASSES.find(([each]) => each === param("pass"))?.[0] ?? "both";
  const where = rank === "" ? "all modules" : rankName(rank);
  const root = useMemo(() => icicleOf(modules, time, pass, where), [modules, time, pass, where]);
  const most = costliest(modules, time, pass);
  const source = table.text("source", 0);
  return (
    <>
      <p class="choices">
        <RankChoice ranks={ranksIn(table)} />
        {hasDevice && <Choice name="time" label="Time" value={time} options={[["device", "of the device"], ["host", "of the host"]]} />}
        <Choice name="pass" label="Pass" value={pass} options={PASSES} />
        <Search name="q" label="Search modules" value={param("q")} />
      </p>
      {most !== null && (
        <p class="answer">
          Costs most by itself: <strong title={printable(most.module.path)}>{shortName(most.module.name, 80)}</strong>,{" "}
          <span title={`${most.own} ns`}>{human(most.own, "ns")}</span> of the {time} ({human(most.own / root.value, "ratio")}) in {most.module.calls} calls, {PASSES.find(([each]) => each === pass)![1]}, without the modules inside.
        </p>
      )}
      <Icicle root={root} unit="ns" label={`Modules by time of the ${time}`} search={param("q")} inOrder zoom={param("zoom")}
        onZoom={(zoom) => setParam("zoom", zoom, { push: true })} />
      <Tree modules={modules} time={time} whole={timeOfAll(modules, time)} />
      <p class="muted">
        {source === "annotation" ? "These are annotations of the program (record_function), as no modules were recorded. " : ""}
        {rank === "" && ranksIn(table).length > 1 ? "Added up over the ranks. " : ""}
        Of the backward pass a module has what its operators' gradients took. <a href={linkTo("tables", { table: "modules" })}>As a table</a>
      </p>
    </>
  );
}

const timeOfAll = (modules: Module[], time: Time): number => modules.reduce((sum, module) => sum + timeOf(module, time, "both"), 0);

const OPEN_DEPTH = 2, MOST_ROWS = 500;

function Tree({ modules, time, whole }: { modules: Module[]; time: Time; whole: number }) {
  const turned = useSignal<ReadonlyMap<string, boolean>>(new Map());
  const around = wayTo(param("zoom"));
  const isOpen = (module: Module) => turned.value.get(module.path) ?? (module.depth < OPEN_DEPTH || around(module));
  const rows = rowsInSight(modules, isOpen, param("q"));
  const turn = (module: Module, open: boolean) => (turned.value = new Map(turned.value).set(module.path, open));
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Modules">
        <table class="tree" data-table="module_tree" aria-label="Modules">
          <thead><tr>
            <th scope="col">Module</th><th scope="col" class="number">Calls</th>
            <th scope="col" class="number">Share</th><th scope="col" class="number">Forward</th><th scope="col" class="number">Itself</th><th scope="col" class="number">Backward</th>
            <th scope="col" class="number">Operators</th>
          </tr></thead>
          <tbody>
            {rows.slice(0, MOST_ROWS).map(({ module, isOpen: open }) => (
              <tr key={module.path}>
                <th scope="row" data-column="path" title={printable(module.path)} style={{ paddingLeft: `${8 + module.depth * 18}px` }}>
                  {module.children.length > 0 ? (
                    <button type="button" class="turn" aria-expanded={open} aria-label={`What is in ${module.name}`} onClick={() => turn(module, !open)}>{open ? "▾" : "▸"}</button>
                  ) : <span class="turn" />}
                  {shortName(module.name, 80)}
                </th>
                <td class="number" data-column="calls">{module.calls}</td>
                <Part value={timeOf(module, time, "both")} whole={whole} />
                <Duration name={`${time}_total_ns`} value={module.forward[time]} />
                <Duration name={`${time}_self_ns`} value={module.self[time]} />
                <Duration name={`backward_${time}_ns`} value={module.backward[time]} />
                <td class="number" data-column="operators">{module.operators}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > MOST_ROWS && <p class="muted">The first {MOST_ROWS} of {rows.length} rows: search, or close what is open.</p>}
      {rows.length === 0 && <p class="empty">No module matches the search.</p>}
    </>
  );
}

// `name`: of the column of `modules` that it is the sum of.
const Duration = ({ name, value }: { name: string; value: number }) => <td class="number" data-column={name} title={exactText(value)}>{human(value, "ns")}</td>;

function Part({ value, whole }: { value: number; whole: number }) {
  const share = whole > 0 ? value / whole : 0;
  return <td class="number" data-column="share" title={`${value} of ${whole} ns`}><span class="share" aria-hidden="true" style={{ width: `${(share * 100).toFixed(0)}%` }} />{human(share, "ratio")}</td>;
}

// Whether a module is on the way to what the icicle shows.
function wayTo(zoom: string): (module: Module) => boolean {
  const names = namesIn(zoom);
  return (module) => module.depth < names.length && namesInPath(module.path).every((name, i) => name === names[i]);
}
