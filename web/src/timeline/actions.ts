// What keys and buttons do to a timeline.
import { inRanges } from "../ranges.ts";
import type { Action } from "./keys.ts";
import type { RankContent } from "./contents.ts";
import { type Lane, NONE } from "./lanes.ts";
import { toggledTrack, trackIsOpen } from "./layout.ts";
import { neighbour } from "./relations.ts";
import { nextHit } from "./search.ts";
import { lowerBound } from "./search_sorted.ts";
import { titleOf } from "./sentences.ts";
import { fitted, lengthOf, panned, showing, zoomed } from "./time_window.ts";
import type { Timeline } from "./timeline.ts";

export interface Pointed {
  time: number; // where the pointer is, or the middle
  track?: string; // whose heading has the focus
}

export function perform(timeline: Timeline, action: Action, pointed: Pointed): void {
  const whole = timeline.whole.peek();
  const window = timeline.window.peek();
  switch (action.do) {
    case "zoom":
      return timeline.choices.move(zoomed(window, action.factor, pointed.time, whole), whole);
    case "pan":
      return timeline.choices.move(panned(window, action.windows * lengthOf(window), whole), whole);
    case "whole":
      return timeline.choices.move(whole, whole);
    case "fit":
      return fitSelection(timeline);
    case "mark":
      return markSelection(timeline);
    case "pin": {
      const track = pointed.track ?? timeline.selected.peek()?.lane.track;
      return track === undefined ? undefined : timeline.choices.togglePin(track);
    }
    case "clear":
      return clear(timeline);
    case "cause":
    case "effect":
      return follow(timeline, action.do === "effect");
    case "previous":
    case "next":
      return stepAlong(timeline, action.do === "next", pointed.track);
    case "step":
      return showStep(timeline, action.number);
    case "scroll":
      return undefined; // the view's
  }
}

export function clear(timeline: Timeline): void {
  timeline.range.value = undefined;
  timeline.finding.value = undefined;
  timeline.choices.clearSelection();
}

// The time that is dragged, else that of the selected span as it is shown.
function chosenTime(timeline: Timeline): { from: number; to: number; text: string } | undefined {
  const range = timeline.range.peek();
  if (range) return { ...range, text: "" };
  const selected = timeline.selected.peek();
  if (!selected) return undefined;
  const { all, rank } = selected.content.spans;
  const shift = timeline.shifts.peek().get(rank) ?? 0;
  return {
    from: all.starts[selected.row]! + shift,
    to: all.ends[selected.row]! + shift,
    text: titleOf(timeline.contents.names.words[all.names[selected.row]!]!),
  };
}

export function fitSelection(timeline: Timeline): void {
  const time = chosenTime(timeline);
  const whole = timeline.whole.peek();
  if (time) timeline.choices.move(fitted(time.from, time.to, whole), whole);
}

export function markSelection(timeline: Timeline): void {
  const time = chosenTime(timeline);
  if (time) timeline.choices.setMarks([...timeline.choices.marks.peek(), time]);
}

export function showTime(timeline: Timeline, from: number, to: number): void {
  const whole = timeline.whole.peek();
  timeline.choices.move(fitted(from, to, whole), whole);
}

// Selects a span and brings it into sight.
export function goToSpan(timeline: Timeline, rank: string, row: number): void {
  timeline.range.value = undefined;
  timeline.select(rank, row);
  reveal(timeline, rank, row);
}

function reveal(timeline: Timeline, rank: string, row: number): void {
  const content = timeline.contents.ranks.peek().get(rank);
  if (!content) return;
  showLane(timeline, content, content.index.lane(row));
  const whole = timeline.whole.peek();
  const shift = timeline.shifts.peek().get(rank) ?? 0;
  const { starts, ends } = content.spans.all;
  const window = timeline.window.peek();
  const shown = showing(window, starts[row]! + shift, ends[row]! + shift, whole);
  if (shown !== window) timeline.choices.move(shown, whole);
}

// Opens its track, and scrolls to it.
export function showLane(timeline: Timeline, content: RankContent, lane: Lane): void {
  const track = content.tracks.find((each) => each.name === lane.track);
  const open = timeline.open.peek();
  if (track && !trackIsOpen(track, open) && track.lanes[0] !== lane) timeline.choices.setOpen(toggledTrack(track, open));
  if (timeline.choices.hide.peek().has(lane.track)) timeline.choices.setHidden(lane.track, false);
  timeline.toReveal.value = lane;
}

function follow(timeline: Timeline, forward: boolean): void {
  const selected = timeline.selected.peek();
  if (!selected) return;
  const { content, row } = selected;
  const next = neighbour(content.spans, content.index, content.pathRows, row, forward);
  if (next >= 0) goToSpan(timeline, content.spans.rank, next);
}

// Along the lane of what is selected; else the first span in sight of the track that has the focus, or of the topmost
// that has more than annotations.
function stepAlong(timeline: Timeline, forward: boolean, track: string | undefined): void {
  const selected = timeline.selected.peek();
  if (selected && (track === undefined || track === selected.lane.track)) {
    const i = selected.row - selected.lane.first + (forward ? 1 : -1);
    if (i >= 0 && i < selected.lane.starts.length) goToSpan(timeline, selected.content.spans.rank, selected.lane.first + i);
    return;
  }
  const { pinned, rest } = timeline.layout.peek();
  for (const { rank, lane } of [...pinned.rows, ...rest.rows]) {
    if (!lane || (track !== undefined && lane.track !== track) || lane.events[0] === NONE) continue;
    if (lane.track === `${rank}/path` || (lane.depth < 0 && track === undefined)) continue;
    const i = lowerBound(lane.ends, timeline.window.peek().from - (timeline.shifts.peek().get(rank) ?? 0));
    if (i < lane.starts.length) return goToSpan(timeline, rank, lane.first + i);
  }
}

// The n-th of the steps in sight, or of all where there are not so many.
function showStep(timeline: Timeline, number: number): void {
  const window = timeline.window.peek();
  const all = timeline.steps.peek();
  const seen = all.filter((step) => step.end > window.from && step.start < window.to);
  const step = (seen.length >= number && seen.length > 1 ? seen : all)[number - 1];
  if (step) showTime(timeline, step.start, step.end);
}

export function findNext(timeline: Timeline, forward: boolean): void {
  const found = timeline.found.peek();
  if (!found) return;
  const selected = timeline.selected.peek();
  const current = selected && {
    rank: selected.content.spans.rank,
    row: selected.row,
    start: selected.content.spans.all.starts[selected.row]!,
  };
  const hit = nextHit(timeline.shown.peek().map(({ spans }) => spans), found.names, current, forward);
  if (hit) goToSpan(timeline, hit.rank, hit.row);
}

export function toggle(timeline: Timeline, name: string): void {
  const open = new Set(timeline.open.peek());
  if (timeline.ranks.peek().includes(name)) {
    if (!open.delete(name)) open.add(name);
    // A selection would open it again.
    else if (timeline.choices.selection.peek()?.rank === name) timeline.choices.clearSelection();
    return timeline.choices.setOpen(open);
  }
  for (const content of timeline.shown.peek()) {
    const track = content.tracks.find((each) => each.name === name);
    if (track) return timeline.choices.setOpen(toggledTrack(track, open));
  }
}

// Opens the ranks that a finding is about, the first few of many.
export function goToRanks(timeline: Timeline, finding: { ranks: string; from: number; to: number }): void {
  const most = 4;
  const ranks = inRanges(finding.ranks, timeline.ranks.peek()).slice(0, most);
  timeline.choices.setOpen(new Set([...timeline.open.peek(), ...ranks]));
  timeline.toReveal.value = ranks[0];
  showTime(timeline, finding.from, finding.to);
}
