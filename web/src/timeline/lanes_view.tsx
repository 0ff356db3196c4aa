// The canvas with its headings, in what scrolls them.
import { effect, untracked, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { theme } from "../theme.tsx";
import { perform, showLane } from "./actions.ts";
import { Headings } from "./headings.tsx";
import { type Hit } from "./hit.ts";
import { actionOf } from "./keys.ts";
import { ABOVE_HEIGHT, type Heading, LANE_HEIGHT, scrolledTo } from "./layout.ts";
import { followPointer } from "./pointer.ts";
import { regionsOf, type Scene, scrollHeight, timeAt } from "./scene.ts";
import { Screen } from "./screen.ts";
import { hoverText, selectedSentence } from "./sentences.ts";
import type { Timeline } from "./timeline.ts";

const NARROW = 700;

function sceneOf(timeline: Timeline, size: { width: number; height: number }): Scene {
  const { pinned, rest } = timeline.layout.value;
  const selected = timeline.selected.value;
  return {
    theme: theme.value,
    ...size,
    headings: size.width < NARROW ? 110 : 200,
    window: timeline.window.value,
    whole: timeline.whole.value,
    names: timeline.contents.names,
    pinned,
    rest,
    scrolled: timeline.scrolled.value,
    overview: timeline.overview.value,
    steps: timeline.steps.value,
    marks: timeline.choices.marks.value,
    findings: timeline.findings.value,
    shifts: timeline.shifts.value,
    range: timeline.range.value,
    selected: selected && { spans: selected.content.spans, row: selected.row, lane: selected.lane },
    found: timeline.found.value,
    onPath: timeline.onPath.value,
    arrows: timeline.arrows.value,
  };
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable);

export function LanesView({ timeline, onHover }: { timeline: Timeline; onHover: (text: string) => void }) {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const cursor = useRef<HTMLDivElement>(null);
  const size = useSignal({ width: 0, height: 0 });
  const scene = useRef<Scene | undefined>(undefined);
  const pointer = useRef<number | undefined>(undefined);

  useEffect(() => {
    const box = scroller.current!;
    const watch = new ResizeObserver(() => (size.value = { width: box.clientWidth, height: box.clientHeight }));
    watch.observe(box);
    const screen = new Screen(canvas.current!);
    const stop = effect(() => {
      if (size.value.width > 0) screen.show((scene.current = sceneOf(timeline, size.value)));
    });
    const hover = (x: number | undefined, hit: Hit | undefined): void => {
      pointer.current = x;
      const line = cursor.current!;
      line.hidden = x === undefined || x < (scene.current?.headings ?? 0);
      if (x !== undefined) line.style.transform = `translateX(${x}px)`;
      if (x === undefined || !scene.current) onHover("");
      else if (hit) onHover(hoverText(scene.current, hit, x));
    };
    const unfollow = followPointer({ canvas: canvas.current!, timeline, scene: () => scene.current, hover });
    return () => {
      watch.disconnect();
      stop();
      unfollow();
      screen.dispose();
    };
  }, [timeline]);

  // What was found or gone to is scrolled into sight.
  useEffect(
    () =>
      effect(() => {
        const wanted = timeline.toReveal.value;
        const row = wanted && timeline.layout.value.rest.rows.find((each) => each.lane === wanted || each.track === wanted);
        if (!row || !scene.current) return;
        const isRank = wanted === row.track;
        const isThere = !isRank || timeline.contents.ranks.value.has(row.rank) || timeline.contents.failures.value.has(row.rank);
        if (isThere) timeline.toReveal.value = undefined;
        // When the page has as many rows as it will have. A rank comes to the top, with what is below it.
        requestAnimationFrame(() => (isRank ? scrollTo(row.top, Infinity, 0) : scrollTo(row.top, row.height)));
      }),
    [timeline],
  );

  // What is selected by a link or a key is in sight, also when what comes later moves it.
  useEffect(() => {
    let before = "";
    return effect(() => {
      const selected = timeline.selected.value;
      const loaded = timeline.shown.value.map(({ counters, path }) => counters.length + (path ? 1 : 0)).join();
      const now = selected ? `${selected.content.spans.rank} ${selected.row} ${loaded}` : "";
      if (selected && now !== before) untracked(() => showLane(timeline, selected.content, selected.lane));
      before = now;
    });
  }, [timeline]);

  // Not under the name of its rank, which stays in sight.
  const scrollTo = (top: number, height: number, above = ABOVE_HEIGHT): void => {
    const box = scroller.current;
    if (!box) return; // the view was left
    box.scrollTop = scrolledTo(box.scrollTop, box.clientHeight - regionsOf(scene.current!).rest, { top, height }, above);
  };

  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (isTyping(event.target) || event.defaultPrevented || !scene.current) return;
      const action = actionOf(event);
      if (!action) return;
      // The panel and the rest of the page scroll by themselves.
      const target = event.target instanceof Element ? event.target : document.body;
      const here = target === document.body || target.id === "view" || scroller.current!.contains(target);
      if (action.do === "scroll") {
        if (!here) return;
        scroller.current!.scrollTop += action.rows * LANE_HEIGHT;
      } else {
        const x = pointer.current;
        const window = timeline.window.peek();
        const track = document.activeElement?.closest<HTMLElement>("[data-track]")?.dataset.track;
        perform(timeline, action, { time: x === undefined ? (window.from + window.to) / 2 : timeAt(scene.current, x), track });
      }
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [timeline]);

  const { width, height } = size.value;
  const shown = width > 0 ? headOf(timeline) : undefined;
  const focus = ({ top, height, level }: Heading): void => scrollTo(top, height, level === 0 ? 0 : ABOVE_HEIGHT);
  return (
    <div class="timeline-lanes" ref={scroller} onScroll={(event) => (timeline.scrolled.value = event.currentTarget.scrollTop)}>
      <div style={{ height: `${shown ? Math.max(shown.total, height) : height}px` }}>
        <div class="timeline-screen" style={{ height: `${height}px` }}>
          <canvas ref={canvas} tabIndex={0} role="application" aria-label="Timeline: what ran when, on every rank, device and thread. ? lists the keys." aria-describedby="timeline-selected" />
          {shown && (
            <div class="timeline-headings" role="group" aria-label="Lanes">
              <Headings timeline={timeline} layout={timeline.layout.value.pinned} top={shown.pinned} height={shown.rest - shown.pinned} scrolled={0} onFocus={() => undefined} />
              <Headings timeline={timeline} layout={timeline.layout.value.rest} top={shown.rest} height={height - shown.rest} scrolled={timeline.scrolled.value} onFocus={focus} />
            </div>
          )}
          <div class="timeline-cursor" ref={cursor} hidden />
        </div>
      </div>
      <p id="timeline-selected" class="timeline-live" aria-live="polite">
        {selectedSentence(timeline.selected.value, timeline.contents.names.words)}
      </p>
    </div>
  );
}

// Where the parts are; without the window, so that headings are not drawn again while it moves.
function headOf(timeline: Timeline): { pinned: number; rest: number; total: number } {
  const parts = {
    overview: timeline.overview.value,
    steps: timeline.steps.value,
    marks: timeline.choices.marks.value,
    findings: timeline.findings.value,
    ...timeline.layout.value,
  };
  const regions = regionsOf(parts);
  return { pinned: regions.pinned, rest: regions.rest, total: scrollHeight(parts) };
}
