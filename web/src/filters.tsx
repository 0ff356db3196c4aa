// The two filters of the command line: which ranks, which steps.
import { useState } from "preact/hooks";
import { source } from "./data/use.ts";
import { param, setParam } from "./state.ts";

const RANGES = /^\d+(-\d+)?(,\d+(-\d+)?)*$/;
const ONE_RANGE = /^\d+(-\d+)?$/;

export function Filters() {
  // A report has its tables as they were made.
  if (source.value?.kind === "report") return null;
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
