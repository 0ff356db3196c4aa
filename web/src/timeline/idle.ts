// Gaps in which a device has nothing to do, by what it waits for, as idle_time_breakdown tells it of a stream.
import { kindCode } from "./kinds.ts";
import { emptySpans, type Lane, laneOf, NONE, type RankSpans } from "./lanes.ts";
import type { EventIndex } from "./event_index.ts";
import type { Names } from "./names.ts";

export const IDLE_NAMES = ["idle: waits for the host", "idle: between kernels", "idle: other"];
const BETWEEN_KERNELS_NS = 30_000; // ns; kConsecutiveKernelDelay of the analyses

const WORK_KINDS = ["compute", "communication", "memory"].map(kindCode);

// Device work in order of start: the rows that end later than all before them, as only before these can be a gap.
function workOf(spans: RankSpans, device: number): { rows: Uint32Array; count: number } {
  const lanes = spans.tracks.filter((track) => track.device === device).flatMap((track) => track.lanes);
  const rows: number[] = [];
  for (const lane of lanes)
    for (let i = 0; i < lane.kinds.length; ++i) if (WORK_KINDS.includes(lane.kinds[i])) rows.push(lane.first + i);
  const sorted = Uint32Array.from(rows).sort((a, b) => spans.all.starts[a] - spans.all.starts[b]);
  return { rows: sorted, count: sorted.length };
}

export function idleLane(spans: RankSpans, index: EventIndex, device: number, names: Names): Lane | undefined {
  const { rows, count } = workOf(spans, device);
  const { starts, ends, links } = spans.all;
  const gaps: { start: number; end: number; name: number }[] = [];
  let busyUntil = count > 0 ? ends[rows[0]] : 0;
  for (let i = 1; i < count; ++i) {
    const row = rows[i];
    if (starts[row] > busyUntil) {
      const launch = links[row] === NONE ? -1 : index.row(links[row]);
      const gap = starts[row] - busyUntil;
      const cause = launch >= 0 && starts[launch] > busyUntil ? 0 : gap < BETWEEN_KERNELS_NS ? 1 : 2;
      gaps.push({ start: busyUntil, end: starts[row], name: names.id(IDLE_NAMES[cause]) });
    }
    busyUntil = Math.max(busyUntil, ends[row]);
  }
  if (gaps.length === 0) return undefined;
  const lane = emptySpans(gaps.length);
  gaps.forEach((gap, i) => {
    lane.starts[i] = gap.start;
    lane.ends[i] = gap.end;
    lane.names[i] = gap.name;
    lane.kinds[i] = kindCode("other");
  });
  return laneOf(lane, 0, gaps.length, `${spans.rank}/d${device}/idle`, 0);
}

export interface Gap {
  rank: string;
  track: string;
  start: number;
  end: number;
  name: number;
}

// The longest gaps of some lanes, of those that are that long, and how many others there are.
export function longestGaps(lanes: Iterable<{ rank: string; lane: Lane }>, most: number, least = 0): { gaps: Gap[]; shorter: number } {
  const gaps: Gap[] = [];
  for (const { rank, lane } of lanes)
    for (let i = 0; i < lane.starts.length; ++i)
      gaps.push({ rank, track: lane.track, start: lane.starts[i], end: lane.ends[i], name: lane.names[i] });
  const long = gaps.filter((gap) => gap.end - gap.start >= least).sort((a, b) => b.end - b.start - (a.end - a.start));
  const longest = long.slice(0, most);
  return { gaps: longest, shorter: gaps.length - longest.length };
}
