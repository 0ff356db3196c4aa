// The two filters of the command line: which ranks, which steps.
import { useState } from "preact/hooks";
import { source } from "./data/use.ts";
import { printable } from "./format.ts";
import { linkTo, param, setParam, view } from "./state.ts";

// A report has its tables as they were made; its timeline alone shows a part.
const isOfReport = () => source.value?.kind === "report";

const RANGES = /^\d+(-\d+)?(,\d+(-\d+)?)*$/;
const ONE_RANGE = /^\d+(-\d+)?$/;

export function Filters() {
  if (isOfReport()) return null;
  return (
    <>
      <Filter name="ranks" label="Ranks" example="0,3-7" pattern={RANGES} />
      <Filter name="steps" label="Steps" example="2-5" pattern={ONE_RANGE} />
    </>
  );
}

function Filter({ name, label, example, pattern }: { name: string; label: string; example: string; pattern: RegExp }) {
  const [wrong, setWrong] = useState(false);
  const change = (event: Event & { currentTarget: HTMLInputElement }) => {
    const text = event.currentTarget.value.replaceAll(" ", "");
    const isRight = text === "" || pattern.test(text);
    setWrong(!isRight);
    if (isRight) setParam(name, text, { push: true });
  };
  return (
    <label class="filter">{label}{" "}
      <input size={8} placeholder="all" value={param(name)} onChange={change} aria-invalid={wrong}
        title={wrong ? `write ${label.toLowerCase()} as ${example}` : `${label} as ${example}; empty: all`} />
    </label>
  );
}

// Of the menu of views. The filters go along where all views have them.
export const linkToView = (name: string, params: Record<string, string> = {}): string =>
  linkTo(name, isOfReport() ? { ranks: "", steps: "", ...params } : params);

// What is left of the job, at the top of what shows it: a link may have brought the filter.
export function Chosen() {
  if (isOfReport() && view.value !== "timeline") return null;
  const chosen = ["ranks", "steps"].filter((name) => param(name) !== "");
  if (chosen.length === 0) return null;
  return (
    <p class="chosen">
      {chosen.map((name) => (
        <button key={name} type="button" title={`Show all ${name}`} onClick={() => setParam(name, "", { push: true })}>
          {/^\d+$/.test(param(name)) ? name.slice(0, -1) : name} {printable(param(name))} only <span aria-hidden="true">×</span>
        </button>
      ))}
    </p>
  );
}
