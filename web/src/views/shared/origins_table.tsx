// Which lines, modules and operators something comes from.
import { human, printable, shortName } from "../../format.ts";
import { linkTo } from "../../state.ts";
import { SourceLine } from "../../widgets/source_link.tsx";
import type { Origin } from "./origins.ts";

const MOST = 12;

export function Origins({ origins, isOfOperator = false }: { origins: Origin[]; isOfOperator?: boolean }) {
  const all = origins.reduce((sum, origin) => sum + origin.sum, 0);
  const hasLines = origins.some((origin) => origin.inner !== null);
  const hasModules = origins.some((origin) => origin.module !== "");
  const hasOwn = origins.some((origin) => origin.own !== null);
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="What launches it">
        <table class="origins" data-table="origins">
          <thead><tr>
            <th scope="col" class="number">Time</th><th scope="col" class="number">{isOfOperator ? "Calls" : "Runs"}</th>
            {hasLines && <th scope="col">Line</th>}{hasOwn && <th scope="col">Called from</th>}{hasModules && <th scope="col">Module</th>}{!isOfOperator && <th scope="col">Operator</th>}
          </tr></thead>
          <tbody>
            {origins.slice(0, MOST).map((origin, i) => (
              <tr key={i}>
                <td class="number" data-column="sum_ns" title={`${origin.sum} of ${all} ns`}>{human(origin.sum, "ns")} · {human(origin.sum / all, "ratio")}</td>
                <td class="number" data-column="runs">{origin.runs}</td>
                {hasLines && <td data-column="line">{origin.inner ? <SourceLine frame={origin.inner} backward={origin.backward} /> : "not known"}</td>}
                {hasOwn && <td data-column="own_line">{origin.own && <SourceLine frame={origin.own} />}</td>}
                {hasModules && <td data-column="module" title={printable(origin.module)}>{shortName(origin.module)}</td>}
                {!isOfOperator && <td data-column="operator" title={printable(origin.operator)}>{origin.operator === "" ? "none" : <a href={linkTo("operators", { op: origin.operator })}>{shortName(origin.operator)}</a>}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {origins.length > MOST && <p class="muted">The {MOST} with the most time of {origins.length}; the call tree has all of them.</p>}
      {!hasLines && <p class="muted">No Python stacks were recorded: profile with <code>with_stack=True</code> to see the lines.</p>}
    </>
  );
}
