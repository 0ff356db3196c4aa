// Which lines, modules and operators something comes from.
import { human, printable, shortName } from "../../format.ts";
import { linkTo } from "../../state.ts";
import { SourceLine } from "../../widgets/source_link.tsx";
import type { KernelSource } from "./sources.ts";

const MOST = 12;

export function Sources({ sources, isOfOperator = false }: { sources: KernelSource[]; isOfOperator?: boolean }) {
  const all = sources.reduce((sum, source) => sum + source.sum, 0);
  const hasLines = sources.some((source) => source.inner !== null);
  const hasModules = sources.some((source) => source.module !== "");
  const hasOwn = sources.some((source) => source.own !== null);
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="What launches it">
        <table>
          <thead><tr>
            <th scope="col" class="number">Time</th><th scope="col" class="number">{isOfOperator ? "Calls" : "Runs"}</th>
            {hasLines && <th scope="col">Line</th>}{hasOwn && <th scope="col">Called from</th>}{hasModules && <th scope="col">Module</th>}{!isOfOperator && <th scope="col">Operator</th>}
          </tr></thead>
          <tbody>
            {sources.slice(0, MOST).map((source, i) => (
              <tr key={i}>
                <td class="number" title={`${source.sum} ns`}>{human(source.sum, "ns")} · {human(source.sum / all, "ratio")}</td>
                <td class="number">{source.runs}</td>
                {hasLines && <td>{source.inner ? <SourceLine frame={source.inner} /> : "not known"}</td>}
                {hasOwn && <td>{source.own && <SourceLine frame={source.own} />}</td>}
                {hasModules && <td title={printable(source.module)}>{shortName(source.module)}</td>}
                {!isOfOperator && <td>{source.operator === "" ? "none" : <a href={linkTo("operators", { op: source.operator })}>{shortName(source.operator)}</a>}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sources.length > MOST && <p class="muted">The {MOST} with the most time of {sources.length}; the call tree has all of them.</p>}
      {!hasLines && <p class="muted">No Python stacks were recorded: profile with <code>with_stack=True</code> to see the lines.</p>}
    </>
  );
}
