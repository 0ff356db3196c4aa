// Above the lanes: search, the window's buttons for who has no keys, and what is under the pointer.
import type { Signal } from "@preact/signals";
import { human, humanNs } from "../format.ts";
import { findNext, perform } from "./actions.ts";
import { shiftsText } from "./align.ts";
import { PerfettoButton } from "./perfetto_button.tsx";
import type { Timeline } from "./timeline.ts";

export function Toolbar({ timeline, hover }: { timeline: Timeline; hover: Signal<string> }) {
  const found = timeline.found.value;
  const middle = (): { time: number } => {
    const window = timeline.window.peek();
    return { time: (window.from + window.to) / 2 };
  };
  const press = (event: KeyboardEvent & { currentTarget: HTMLInputElement }): void => {
    if (event.key === "Enter") findNext(timeline, !event.shiftKey);
    else if (event.key === "Escape") event.currentTarget.blur();
    else return;
    event.preventDefault();
  };
  return (
    <div class="timeline-tools">
      <input type="search" placeholder="Search, or /expression/" aria-label="Search the names of spans (/)" value={timeline.choices.query.value}
        aria-invalid={found?.error !== undefined} onInput={(event) => timeline.choices.search(event.currentTarget.value)} onKeyDown={press} />
      {found && <span role="status" title={`${found.time} ns`}>{foundText(timeline)}</span>}
      {found && found.count > 0 && (
        <>
          <button type="button" onClick={() => findNext(timeline, false)} title="Shift + Enter in the search">Previous</button>
          <button type="button" onClick={() => findNext(timeline, true)} title="Enter in the search">Next</button>
        </>
      )}
      <button type="button" aria-label="Zoom in" title="Zoom in (W)" onClick={() => perform(timeline, { do: "zoom", factor: 0.5 }, middle())}>+</button>
      <button type="button" aria-label="Zoom out" title="Zoom out (S)" onClick={() => perform(timeline, { do: "zoom", factor: 2 }, middle())}>−</button>
      <button type="button" title="The whole job (0)" onClick={() => perform(timeline, { do: "whole" }, middle())}>All</button>
      <button type="button" aria-pressed={timeline.allArrows.value} title="All launches and backward operators in sight, where they are fewer than 2,000"
        onClick={() => (timeline.allArrows.value = !timeline.allArrows.value)}>Arrows</button>
      {timeline.alignment.value && (
        <>
          <span class="muted">{shiftsText(timeline.shifts.value) === "" ? "The open ranks end together as they are." : ""}</span>
          {timeline.alignment.value.missing.length > 0 && <span class="muted">not on rank {timeline.alignment.value.missing.join(", ")}</span>}
          <button type="button" onClick={() => timeline.choices.undoAlignment()}>Undo the alignment</button>
        </>
      )}
      <VisibleInPerfetto timeline={timeline} />
      <span class="hover muted" aria-hidden="true">{hover}</span>
    </div>
  );
}

// By itself, as it follows the window.
function VisibleInPerfetto({ timeline }: { timeline: Timeline }) {
  if (timeline.contents.source.kind !== "server") return null;
  return <PerfettoButton timeline={timeline} window={timeline.window.value}>Open in Perfetto</PerfettoButton>;
}

function foundText(timeline: Timeline): string {
  const found = timeline.found.value!;
  if (found.error) return found.error;
  const ranks = timeline.ranks.value.length;
  const open = timeline.shown.value.length;
  const where = open < ranks ? ` in ${open} open of ${ranks} ranks` : "";
  return `${human(found.count, "count")} found, ${humanNs(found.time)}${where}`;
}
