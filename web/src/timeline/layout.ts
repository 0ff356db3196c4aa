// Which rows the timeline has, from top to bottom, and where: per rank a strip, and below it, when it is open, the
// critical path, devices, counters and threads. Pinned tracks are on top and stay there.
import { human } from "../format.ts";
import type { Counter } from "./counters.ts";
import type { Lane, Track } from "./lanes.ts";
import type { Strip } from "./strips.ts";

export interface Group {
  rank: string;
  title: string;
  strip?: Strip;
  content?: GroupContent; // once it is loaded
}

export interface GroupContent {
  path?: Lane;
  tracks: Track[];
  idle: Map<number, Lane>; // by device
  counters: Counter[];
}

// A heading of one or more rows: what is pinned, hidden, opened and reached by the keyboard.
export interface Heading {
  name: string; // stable
  title: string;
  rank: string;
  level: number;
  top: number;
  height: number;
  open?: boolean; // where it can be
  pinned: boolean;
}

export interface Row {
  rank: string;
  track: string;
  top: number;
  height: number;
  lane?: Lane;
  counter?: Counter;
  strip?: Strip;
}

export interface Layout {
  headings: Heading[];
  rows: Row[];
  height: number;
}

export interface Choice {
  open: ReadonlySet<string>;
  hide: ReadonlySet<string>;
  pin: readonly string[];
}

export const STRIP_HEIGHT = 24;
export const LANE_HEIGHT = 18;
export const COUNTER_HEIGHT = 28;
const TRACK_GAP = 4;
const LEAST_TRACK_HEIGHT = 24; // that of a button

interface Block {
  name: string;
  title: string;
  rank: string;
  parts: { height: number; lane?: Lane; counter?: Counter; strip?: Strip }[];
  open?: boolean;
}

const closed = (name: string): string => `-${name}`; // in `open`: a track that is open otherwise

// A thread that is this deep is closed until it is opened: Python stacks would fill the screen.
export const DEEP_TRACK = 10;

export const trackIsOpen = (track: Track, open: ReadonlySet<string>): boolean =>
  track.lanes.length <= DEEP_TRACK ? !open.has(closed(track.name)) : open.has(track.name);

export function toggledTrack(track: Track, open: ReadonlySet<string>): Set<string> {
  const result = new Set(open);
  const name = track.lanes.length <= DEEP_TRACK ? closed(track.name) : track.name;
  if (!result.delete(name)) result.add(name);
  return result;
}

const lanePart = (lane: Lane): Block["parts"][number] => ({ height: LANE_HEIGHT, lane });

function trackBlock(rank: string, track: Track, open: ReadonlySet<string>, prefix = ""): Block {
  const isOpen = trackIsOpen(track, open);
  // Closed, a track shows its outermost spans.
  const shown = isOpen ? track.lanes : track.lanes.slice(0, 1);
  return {
    name: track.name,
    title: prefix + track.title,
    rank,
    parts: shown.map(lanePart),
    open: track.lanes.length > 1 ? isOpen : undefined,
  };
}

function contentBlocks(rank: string, content: GroupContent, open: ReadonlySet<string>): Block[] {
  const blocks: Block[] = [];
  if (content.path) blocks.push({ name: `${rank}/path`, title: "critical path", rank, parts: [lanePart(content.path)] });
  const devices = [...new Set(content.tracks.map((track) => track.device))].filter((device) => device >= 0);
  for (const device of devices) {
    const prefix = devices.length > 1 ? `device ${device} · ` : "";
    const idle = content.idle.get(device);
    if (idle) blocks.push({ name: `${rank}/d${device}/idle`, title: prefix === "" ? "device idle" : `${prefix}idle`, rank, parts: [lanePart(idle)] });
    for (const track of content.tracks)
      if (track.device === device) blocks.push(trackBlock(rank, track, open, prefix));
    for (const counter of content.counters)
      if (counter.track.startsWith(`${rank}/d${device}/`)) blocks.push(counterBlock(rank, counter, prefix));
  }
  for (const counter of content.counters)
    if (!devices.some((device) => counter.track.startsWith(`${rank}/d${device}/`))) blocks.push(counterBlock(rank, counter, ""));
  for (const track of content.tracks) if (track.device < 0) blocks.push(trackBlock(rank, track, open));
  return blocks;
}

const counterBlock = (rank: string, counter: Counter, prefix: string): Block => ({
  name: counter.track,
  title: `${prefix}${counter.title} ≤ ${human(counter.largest, counter.unit)}`,
  rank,
  parts: [{ height: COUNTER_HEIGHT, counter }],
});

const stripBlock = (group: Group, open: boolean): Block => ({
  name: group.rank,
  title: group.title,
  rank: group.rank,
  parts: [{ height: STRIP_HEIGHT, strip: group.strip }],
  open,
});

// The rows that scroll, and the pinned ones.
export function layoutOf(groups: readonly Group[], choice: Choice): { pinned: Layout; rest: Layout } {
  const pinned = new Map<string, Block>();
  const rest: Block[] = [];
  const place = (block: Block): void => {
    if (choice.pin.includes(block.name)) pinned.set(block.name, block);
    else if (!choice.hide.has(block.name)) rest.push(block);
  };
  for (const group of groups) {
    const isOpen = choice.open.has(group.rank);
    place(stripBlock(group, isOpen));
    if (isOpen && group.content) contentBlocks(group.rank, group.content, choice.open).forEach(place);
  }
  const first = choice.pin.flatMap((name) => pinned.get(name) ?? []);
  return { pinned: stacked(first, true), rest: stacked(rest, false) };
}

function stacked(blocks: Block[], pinned: boolean): Layout {
  const layout: Layout = { headings: [], rows: [], height: 0 };
  for (const block of blocks) {
    const top = layout.height;
    let at = top;
    for (const part of block.parts) {
      layout.rows.push({ rank: block.rank, track: block.name, top: at, ...part });
      at += part.height;
    }
    layout.height = Math.max(at, top + LEAST_TRACK_HEIGHT) + TRACK_GAP;
    const isRank = block.name === block.rank;
    layout.headings.push({
      name: block.name,
      title: pinned && !isRank ? `rank ${block.rank} · ${block.title}` : block.title,
      rank: block.rank,
      level: isRank ? 0 : 1,
      top,
      height: layout.height - top - TRACK_GAP,
      open: block.open,
      pinned,
    });
  }
  return layout;
}

interface Placed {
  top: number;
  height: number;
}

// Of rows from top to bottom those that are at least in part in [top, bottom): the first, and the one after the last.
export function visible(rows: readonly Placed[], top: number, bottom: number): [number, number] {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle].top + rows[middle].height <= top) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < rows.length && rows[end].top < bottom) ++end;
  return [low, end];
}

export const ABOVE_HEIGHT = 20; // of a rank's name that stays above its lanes: .above in timeline.css

// The heading whose name stays above the headings from `first` on: their rank's, where that is out of sight.
export function headingAbove(headings: readonly Heading[], first: number): Heading | undefined {
  const topmost = headings[first];
  if (topmost?.level !== 1) return undefined;
  return headings.slice(0, first).findLast((each) => each.level === 0 && each.rank === topmost.rank);
}

// Where a heading begins on the screen: its name comes out from under what stays above, as far as its lanes go.
export const nameTop = (heading: Heading, scrolled: number, above: number): number => {
  const top = heading.top - scrolled;
  return top >= above ? top : Math.max(top, Math.min(above, top + heading.height - LEAST_TRACK_HEIGHT));
};

// How far to scroll, from `scrolled`, for a row to be in sight: in `room` pixels, and below what stays above.
export function scrolledTo(scrolled: number, room: number, { top, height }: Placed, above: number): number {
  if (top - above < scrolled) return top - above;
  return top + height > scrolled + room ? Math.min(top - above, top + height - room) : scrolled;
}
