// The time that a timeline shows, in ns from the job's start, and how zooming and panning change it.

export interface TimeWindow {
  from: number;
  to: number;
}

const SHORTEST_NS = 10;

export const lengthOf = (window: TimeWindow): number => window.to - window.from;

// Moved and, if need be, shortened so that it is within `whole`.
export function within(window: TimeWindow, whole: TimeWindow): TimeWindow {
  const length = Math.min(Math.max(lengthOf(window), SHORTEST_NS), Math.max(lengthOf(whole), SHORTEST_NS));
  const from = Math.min(Math.max(window.from, whole.from), Math.max(whole.to - length, whole.from));
  return { from, to: from + length };
}

// `factor` below 1 shows less time; what is at `time` stays where it is.
export function zoomed(window: TimeWindow, factor: number, time: number, whole: TimeWindow): TimeWindow {
  const length = Math.min(Math.max(lengthOf(window) * factor, SHORTEST_NS), Math.max(lengthOf(whole), SHORTEST_NS));
  const share = lengthOf(window) > 0 ? (time - window.from) / lengthOf(window) : 0.5;
  const from = time - share * length;
  return within({ from, to: from + length }, whole);
}

export function panned(window: TimeWindow, by: number, whole: TimeWindow): TimeWindow {
  return within({ from: window.from + by, to: window.to + by }, whole);
}

// With room on both sides.
export function fitted(from: number, to: number, whole: TimeWindow): TimeWindow {
  const room = Math.max(to - from, SHORTEST_NS) * 0.1;
  return within({ from: from - room, to: to + room }, whole);
}

// The least move that has [from, to) in sight.
export function showing(window: TimeWindow, from: number, to: number, whole: TimeWindow): TimeWindow {
  if (to - from > lengthOf(window)) return fitted(from, to, whole);
  if (from >= window.from && to <= window.to) return window;
  const middle = (from + to) / 2;
  return within({ from: middle - lengthOf(window) / 2, to: middle + lengthOf(window) / 2 }, whole);
}

// As the address has it: whole ns, none of which is cut off.
export function toText(window: TimeWindow): { from: string; to: string } {
  return { from: String(Math.floor(window.from)), to: String(Math.ceil(window.to)) };
}

// An end that the address does not have is infinite; `clipped` then makes it the job's.
export function fromText(from: string, to: string): TimeWindow | undefined {
  const wholeNumber = /^-?\d{1,16}$/;
  const begin = wholeNumber.test(from) ? Number(from) : -Infinity;
  const end = wholeNumber.test(to) ? Number(to) : Infinity;
  return (begin === -Infinity && end === Infinity) || end <= begin ? undefined : { from: begin, to: end };
}

export function clipped(window: TimeWindow, whole: TimeWindow): TimeWindow {
  return within({ from: Math.max(window.from, whole.from), to: Math.min(window.to, whole.to) }, whole);
}
