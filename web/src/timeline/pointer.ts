// The mouse: a drag selects time, with Shift it pans; the wheel scrolls, with Ctrl it zooms; a click selects.
import { fitSelection, goToSpan, showTime, toggle } from "./actions.ts";
import { type Hit, hitAt } from "./hit.ts";
import { NONE } from "./lanes.ts";
import { isIdle } from "./scene_pixels.ts";
import { lanesWidth, overviewTimeAt, type Scene, timeAt } from "./scene.ts";
import { lengthOf, panned, type TimeWindow, zoomed } from "./time_window.ts";
import type { Timeline } from "./timeline.ts";

const LEAST_DRAG = 4; // pixels; less is a click

interface Drag {
  kind: "select" | "pan" | "overview";
  x: number;
  time: number;
  window: TimeWindow;
  moved: boolean;
  hit: Hit;
}

export interface PointerOptions {
  canvas: HTMLCanvasElement;
  timeline: Timeline;
  scene: () => Scene | undefined;
  hover: (x: number | undefined, hit: Hit | undefined) => void;
}

export function followPointer({ canvas, timeline, scene, hover }: PointerOptions): () => void {
  let drag: Drag | undefined;
  const place = (event: MouseEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  const down = (event: PointerEvent): void => {
    const shown = scene();
    if (!shown || event.button > 1) return;
    const [x, y] = place(event);
    const hit = hitAt(shown, x, y);
    const window = timeline.window.peek();
    const kind = hit.at === "overview" ? "overview" : event.shiftKey || event.button === 1 ? "pan" : "select";
    drag = { kind, x, time: timeAt(shown, x), window, moved: false, hit };
    if (kind === "overview") {
      const time = overviewTimeAt(shown, x);
      // Outside of its frame the window comes to the pointer.
      if (time < window.from || time > window.to) drag.window = centred(timeline, time);
    }
    canvas.setPointerCapture(event.pointerId);
  };

  const move = (event: PointerEvent): void => {
    const shown = scene();
    if (!shown) return;
    const [x, y] = place(event);
    if (!drag) return hover(x, hitAt(shown, x, y));
    hover(x, undefined);
    if (Math.abs(x - drag.x) >= LEAST_DRAG) drag.moved = true;
    if (!drag.moved) return;
    const whole = timeline.whole.peek();
    if (drag.kind === "select") {
      const [a, b] = [drag.time, timeAt(shown, Math.max(x, shown.headings))];
      timeline.dragging.value = true;
      timeline.range.value = { from: Math.min(a, b), to: Math.max(a, b) };
    } else {
      const length = drag.kind === "overview" ? lengthOf(whole) : -lengthOf(drag.window);
      timeline.choices.move(panned(drag.window, ((x - drag.x) / lanesWidth(shown)) * length, whole), whole);
    }
  };

  // The browser takes the touch, to scroll: that is no click.
  const cancel = (): void => {
    drag = undefined;
    timeline.dragging.value = false;
  };

  const up = (): void => {
    const done = drag;
    cancel();
    if (!done || done.moved) return;
    if (done.kind === "select") click(timeline, done.hit);
    else if (done.hit.at === "overview") timeline.toReveal.value = timeline.ranks.peek()[done.hit.rank];
  };

  const wheel = (event: WheelEvent): void => {
    const shown = scene();
    if (!shown) return;
    const [x] = place(event);
    const whole = timeline.whole.peek();
    const window = timeline.window.peek();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const sideways = event.deltaX !== 0 ? event.deltaX : event.shiftKey ? event.deltaY : 0;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      timeline.choices.move(zoomed(window, 1.002 ** (event.deltaY * lines), timeAt(shown, x), whole), whole);
    } else if (sideways !== 0 && Math.abs(sideways) >= Math.abs(event.deltaY)) {
      event.preventDefault();
      timeline.choices.move(panned(window, ((sideways * lines) / lanesWidth(shown)) * lengthOf(window), whole), whole);
    }
  };

  const leave = (): void => hover(undefined, undefined);
  const double = (): void => fitSelection(timeline);

  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", cancel);
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("dblclick", double);
  canvas.addEventListener("wheel", wheel, { passive: false });
  return () => {
    canvas.removeEventListener("pointerdown", down);
    canvas.removeEventListener("pointermove", move);
    canvas.removeEventListener("pointerup", up);
    canvas.removeEventListener("pointercancel", cancel);
    canvas.removeEventListener("pointerleave", leave);
    canvas.removeEventListener("dblclick", double);
    canvas.removeEventListener("wheel", wheel);
  };
}

function centred(timeline: Timeline, time: number): TimeWindow {
  const whole = timeline.whole.peek();
  const window = timeline.window.peek();
  const moved = panned(window, time - (window.from + window.to) / 2, whole);
  timeline.choices.move(moved, whole);
  return moved;
}

function click(timeline: Timeline, hit: Hit): void {
  if (hit.at === "head") {
    timeline.finding.value = hit.finding;
    if (hit.finding) showTime(timeline, hit.finding.from, hit.finding.to);
    else if (hit.mark) timeline.range.value = { from: hit.mark.from, to: hit.mark.to };
    else if (hit.step !== undefined) {
      const step = timeline.steps.peek()[hit.step]!;
      timeline.range.value = { from: step.start, to: step.end };
    }
    return;
  }
  if (hit.at !== "row") return;
  const { row, span } = hit;
  if (row.track === row.rank) return toggle(timeline, row.rank);
  timeline.finding.value = undefined;
  timeline.range.value = undefined;
  if (!row.lane || span < 0) return timeline.choices.clearSelection();
  const { lane } = row;
  const content = timeline.contents.ranks.peek().get(row.rank)!;
  const isPath = lane.track === `${row.rank}/path`;
  const selected = isPath && lane.events[span] !== NONE ? content.index.row(lane.events[span]!) : lane.first + span;
  if (isIdle(lane) || (isPath && (lane.events[span] === NONE || selected < 0))) {
    const shift = timeline.shifts.peek().get(row.rank) ?? 0;
    timeline.choices.clearSelection();
    timeline.range.value = { from: lane.starts[span]! + shift, to: lane.ends[span]! + shift };
  } else if (isPath) {
    goToSpan(timeline, row.rank, selected);
  } else {
    timeline.select(row.rank, selected);
  }
}
