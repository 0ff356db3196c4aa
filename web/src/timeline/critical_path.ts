// The critical path of a rank as a lane, and which of its spans are on it.
import type { Table } from "../data/table.ts";
import { integersOf, rankOf, runsOf, timesOf } from "../data/table_columns.ts";
import type { EventIndex } from "./event_index.ts";
import { kindCode } from "./kinds.ts";
import { emptySpans, type Lane, laneOf, NONE } from "./lanes.ts";
import type { Names } from "./names.ts";

// What bounds a piece, as a kind that has a colour.
const kindOfBound: Record<string, string> = {
  compute: "compute",
  communication: "communication",
  memory: "memory",
  "host operators": "operator",
  launches: "runtime",
  "data loading": "annotation",
  synchronization: "synchronization",
};

export const kindOfPiece = (bound: string): number => kindCode(kindOfBound[bound] ?? "other");

// The pieces of all steps, by start. Those that would overlap the one before are cut to what is left of them.
export function pathLane(table: Table, rank: string, startNs: bigint, names: Names): Lane | undefined {
  const [first, last] = [...runsOf(table, ["rank"])].find(([begin]) => rankOf(table, begin) === rank) ?? [0, 0];
  if (first === last) return undefined;
  const start = timesOf(table, "start_ns", startNs);
  const duration = timesOf(table, "dur_ns", 0n);
  const event = integersOf(table, "event");
  const bound = table.column("bound_by");
  const name = table.column("name");
  const order = Array.from({ length: last - first }, (_, i) => first + i).sort((a, b) => start(a) - start(b) || a - b);
  const spans = emptySpans(last - first);
  let until = -Infinity;
  order.forEach((row, i) => {
    spans.starts[i] = Math.max(start(row), until);
    until = spans.ends[i] = Math.max(start(row) + duration(row), spans.starts[i]);
    const what = table.text(bound, row);
    const whose = table.text(name, row);
    spans.names[i] = names.id(whose === "" ? what : whose);
    spans.kinds[i] = kindOfPiece(what);
    spans.events[i] = event(row) ?? NONE;
  });
  return laneOf(spans, 0, last - first, `${rank}/path`, 0);
}

// Rows of the spans on the path in its order, each once in a row.
export function pathRows(path: Lane | undefined, index: EventIndex): number[] {
  const rows: number[] = [];
  for (const event of path?.events ?? []) {
    const row = event === NONE ? -1 : index.row(event);
    if (row >= 0 && rows.at(-1) !== row) rows.push(row);
  }
  return rows;
}
