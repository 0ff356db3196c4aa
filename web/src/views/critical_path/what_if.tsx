// A factor for each of the names that are most on the path: changing one runs the analysis again.
import { source } from "../../data/use.ts";
import { shortName } from "../../format.ts";
import { setParam } from "../../state.ts";
import { Exact } from "../../widgets/exact.tsx";
import { parseWhatIf } from "./data.ts";

export interface OnPath {
  name: string;
  ns: number;
  share: number;
}

export function WhatIfForm({ asked, names, steps }: { asked: string; names: OnPath[]; steps: number }) {
  if (source.value?.kind !== "server")
    return <p class="muted">How long a step would be if something took another time: <code>spotter analyze PATH --table critical_path --what-if NAME=0.5</code>, or here when <code>spotter serve</code> shows this job.</p>;
  const what = parseWhatIf(asked);
  const change = (name: string, factor: string) => setParam("what_if", factor.trim() === "" || name === "" ? "" : `${name}=${factor.trim()}`, { push: true });
  const isListed = names.some((each) => each.name === what?.name);
  return (
    <form class="what-if" onSubmit={(event) => event.preventDefault()}>
      <p>What if? A factor of 0.5 halves all that has the name, 0 leaves it out; the paths above are then followed again.</p>
      <table class="plain">
        <thead><tr><th scope="col">factor</th><th scope="col">name</th><th scope="col" class="number">a step</th><th scope="col" class="number">of the path</th></tr></thead>
        <tbody>
          {names.map((each) => (
            <tr key={each.name}>
              <td><Factor name={each.name} value={what?.name === each.name ? what.factor : ""} change={(factor) => change(each.name, factor)} /></td>
              <th scope="row" title={each.name}>{shortName(each.name, 70)}</th>
              <td class="number"><Exact value={each.ns / Math.max(1, steps)} unit="ns" /></td>
              <td class="number"><Exact value={each.share} unit="ratio" /></td>
            </tr>
          ))}
          <tr>
            <td colSpan={4}>
              <label>or all whose name contains, as NAME=FACTOR{" "}
                <input size={30} placeholder="gemm=0.5" value={isListed ? "" : asked} onChange={(event) => setParam("what_if", event.currentTarget.value.trim(), { push: true })} />
              </label>
            </td>
          </tr>
        </tbody>
      </table>
    </form>
  );
}

function Factor({ name, value, change }: { name: string; value: string; change: (factor: string) => void }) {
  return (
    <input type="number" min={0} step="any" class="factor" placeholder="1" aria-label={`Factor for ${name}`} value={value}
      onChange={(event) => change(event.currentTarget.value)} />
  );
}
