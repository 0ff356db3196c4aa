// From the events of a rank's file to its spans, and from what launched or preceded something to what it did.
import { type Lane, NONE, type RankSpans } from "./lanes.ts";

export interface EventIndex {
  row(event: number): number; // of the span that the event is, or -1
  linkedTo(event: number): Uint32Array; // rows of the spans whose link is the event
  lane(row: number): Lane;
}

// Positions by a number: `order` has them grouped by it, those of n from begins[n] to begins[n + 1].
function grouped(numbers: Uint32Array, groups: number): { order: Uint32Array; begins: Uint32Array } {
  const begins = new Uint32Array(groups + 1);
  for (const number of numbers) if (number !== NONE) ++begins[number + 1];
  for (let n = 0; n < groups; ++n) begins[n + 1] += begins[n];
  const order = new Uint32Array(begins[groups]);
  const next = begins.slice();
  numbers.forEach((number, row) => {
    if (number !== NONE) order[next[number]++] = row;
  });
  return { order, begins };
}

export function eventIndex(spans: RankSpans): EventIndex {
  const { events, links } = spans.all;
  let largest = -1;
  for (const event of events) if (event !== NONE && event > largest) largest = event;
  for (const link of links) if (link !== NONE && link > largest) largest = link;
  const byEvent = grouped(events, largest + 1);
  const byLink = grouped(links, largest + 1);
  const firsts = spans.lanes.map((lane) => lane.first);
  return {
    row(event) {
      if (event > largest || byEvent.begins[event] === byEvent.begins[event + 1]) return -1;
      return byEvent.order[byEvent.begins[event]];
    },
    linkedTo(event) {
      if (event > largest) return new Uint32Array(0);
      return byLink.order.subarray(byLink.begins[event], byLink.begins[event + 1]);
    },
    lane(row) {
      let low = 0;
      let high = firsts.length;
      while (high - low > 1) {
        const middle = (low + high) >>> 1;
        if (firsts[middle] <= row) low = middle;
        else high = middle;
      }
      return spans.lanes[low];
    },
  };
}
