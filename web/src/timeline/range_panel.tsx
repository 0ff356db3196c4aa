// The time that was dragged: what ran in it, by name.
import { humanNs, position } from "../format.ts";
import { fitSelection, markSelection } from "./actions.ts";
import { isIdle } from "./scene_pixels.ts";
import { KIND_NAMES } from "./kinds.ts";
import type { Lane } from "./lanes.ts";
import { timeByName } from "./statistics.ts";
import type { TimeWindow } from "./time_window.ts";
import type { Timeline } from "./timeline.ts";
import { SpanName } from "./span_name.tsx";

const MOST_ROWS = 40;
const exact = (ns: number): string => `${Math.round(ns)} ns`;

export function RangePanel({ timeline, range }: { timeline: Timeline; range: TimeWindow }) {
  const duration = range.to - range.from;
  return (
    <>
      <h2>Selected time</h2>
      <dl>
        <dt>from</dt><dd title={exact(range.from)}>{position(range.from)}</dd>
        <dt>length</dt><dd title={exact(duration)}>{humanNs(Math.round(duration))}</dd>
      </dl>
      <div class="actions">
        <button type="button" onClick={() => fitSelection(timeline)}>Zoom here (F)</button>
        <button type="button" onClick={() => markSelection(timeline)}>Mark (M)</button>
        <button type="button" onClick={() => (timeline.range.value = undefined)}>Clear</button>
      </div>
      {timeline.dragging.value ? null : <WhatRan timeline={timeline} range={range} />}
    </>
  );
}

function WhatRan({ timeline, range }: { timeline: Timeline; range: TimeWindow }) {
  const sums = sumsOf(timeline, range);
  return (
    <>
      {sums.length === 0 ? <p class="muted">Nothing runs in it on the lanes that are shown.</p> : (
        <table>
          <caption class="muted">What ran in it on the lanes that are shown</caption>
          <thead><tr><th scope="col">name</th><th scope="col" class="number">runs</th><th scope="col" class="number">time</th></tr></thead>
          <tbody>
            {sums.slice(0, MOST_ROWS).map((sum) => (
              <tr key={`${sum.name} ${sum.kind}`}>
                <td>
                  <span class="named">
                    <span class={`swatch ${KIND_NAMES[sum.kind]}`} title={KIND_NAMES[sum.kind]} />
                    <SpanName name={timeline.contents.names.words[sum.name]!} onClick={(name) => timeline.choices.search(name)} />
                  </span>
                </td>
                <td class="number">{sum.count}</td>
                <td class="number" title={exact(sum.time)}>{humanNs(Math.round(sum.time))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {sums.length > MOST_ROWS && <p class="muted">and {sums.length - MOST_ROWS} more names</p>}
    </>
  );
}

// Of the rows that are there, each by the clock of its rank.
function sumsOf(timeline: Timeline, range: TimeWindow) {
  const shifts = timeline.shifts.value;
  const { pinned, rest } = timeline.layout.value;
  const byRank = new Map<string, Lane[]>();
  for (const { rank, lane } of [...pinned.rows, ...rest.rows]) {
    if (!lane || isIdle(lane) || lane.track === `${rank}/path`) continue;
    byRank.set(rank, [...(byRank.get(rank) ?? []), lane]);
  }
  const all = [...byRank].flatMap(([rank, lanes]) => {
    const shift = shifts.get(rank) ?? 0;
    return timeByName(lanes, range.from - shift, range.to - shift);
  });
  const sums = new Map<string, (typeof all)[number]>();
  for (const each of all) {
    const key = `${each.name} ${each.kind}`;
    const sum = sums.get(key);
    if (sum) Object.assign(sum, { count: sum.count + each.count, time: sum.time + each.time, longest: Math.max(sum.longest, each.longest) });
    else sums.set(key, each);
  }
  return [...sums.values()].sort((a, b) => b.time - a.time);
}
