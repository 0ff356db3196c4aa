// Help: keys, and what each analysis computes.
import { useEffect, useRef } from "preact/hooks";
import { useAnalyses } from "./data/use.ts";

const KEYS: [string, string][] = [
  ["?", "this help"],
  ["/", "search, or filter the table"],
  ["W S", "timeline: zoom in, out at the pointer (or wheel with Ctrl)"],
  ["A D", "timeline: to the left, right (arrows too; Shift: five times as far)"],
  ["0, F", "timeline: the whole job, the selection"],
  ["[ ]", "timeline: along the arrows, to the cause, to the effect"],
  [", .", "timeline: the span before, after in its lane"],
  ["1 – 9", "timeline: that step of the window"],
  ["M, P", "timeline: mark the selection's time, pin its lane"],
  ["Tab, Enter", "timeline: lanes, open or close a group"],
  ["Esc", "clear the selection, close what is open"],
];

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);

export function Help() {
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === "?") details.current!.open = !details.current!.open;
      else if (event.key === "/") {
        const field = document.querySelector<HTMLInputElement>("main input[type=search]");
        if (field === null) return;
        field.focus();
      } else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return (
    <details class="menu" ref={details}>
      <summary title="Keys and definitions (?)">Help</summary>
      <div class="help">
        <h2>Keys</h2>
        <dl>{KEYS.map(([key, does]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{does}</dd></div>)}</dl>
        <Definitions />
        <details><summary>Licences of what this page contains</summary><pre>{document.getElementById("licences")?.textContent}</pre></details>
      </div>
    </details>
  );
}

function Definitions() {
  const analyses = useAnalyses();
  if (analyses.state !== "here") return null;
  return (
    <>
      <h2>What each table is</h2>
      {analyses.value.map((analysis) => (
        <details key={analysis.name}><summary>{analysis.name}: {analysis.summary}</summary><p>{analysis.doc}</p></details>
      ))}
    </>
  );
}
