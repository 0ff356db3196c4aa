// Shifts the ranks so that one collective ends at the same time on all of them: what clocks and recordings of
// different hosts do not agree on is then out of the picture.
import { humanNs } from "../format.ts";
import type { EventIndex } from "./event_index.ts";
import { COMMUNICATION_KIND } from "./kinds.ts";
import { NONE, type RankSpans } from "./lanes.ts";

export interface Step {
  number: number;
  start: number;
  end: number;
}

// Which run of its name a span is: in the step that it was launched in, or, outside of all, of the rank.
interface Place {
  step: number;
  ordinal: number;
}

const launchTime = (spans: RankSpans, index: EventIndex, row: number): number => {
  const link = spans.all.links[row];
  const launch = link === NONE ? -1 : index.row(link);
  return launch < 0 ? spans.all.starts[row] : spans.all.starts[launch];
};

const stepOf = (steps: readonly Step[], time: number): number =>
  steps.find((step) => time >= step.start && time < step.end)?.number ?? -1;

// Runs of the name as communication on devices, in order of start.
function runs(spans: RankSpans, name: number): number[] {
  const rows: number[] = [];
  for (const track of spans.tracks) {
    if (track.device < 0) continue;
    for (const lane of track.lanes)
      for (let i = 0; i < lane.names.length; ++i)
        if (lane.names[i] === name && lane.kinds[i] === COMMUNICATION_KIND) rows.push(lane.first + i);
  }
  return rows.sort((a, b) => spans.all.starts[a] - spans.all.starts[b] || a - b);
}

export interface Ranked {
  spans: RankSpans;
  index: EventIndex;
  steps: readonly Step[];
}

function placeOf(of: Ranked, row: number): Place | undefined {
  const step = stepOf(of.steps, launchTime(of.spans, of.index, row));
  const alike = runs(of.spans, of.spans.all.names[row]).filter(
    (other) => stepOf(of.steps, launchTime(of.spans, of.index, other)) === step,
  );
  const ordinal = alike.indexOf(row);
  return ordinal < 0 ? undefined : { step, ordinal };
}

function rowAt(of: Ranked, name: number, place: Place): number {
  const alike = runs(of.spans, name).filter(
    (row) => stepOf(of.steps, launchTime(of.spans, of.index, row)) === place.step,
  );
  return alike[place.ordinal] ?? -1;
}

export interface Alignment {
  shifts: Map<string, number>; // ns to add to the times of a rank
  missing: string[]; // ranks that do not have the collective
}

export function alignedAt(ranks: readonly Ranked[], rank: string, row: number): Alignment | undefined {
  const own = ranks.find((of) => of.spans.rank === rank);
  if (!own || own.spans.all.kinds[row] !== COMMUNICATION_KIND) return undefined;
  const place = placeOf(own, row);
  if (!place) return undefined;
  const alignment: Alignment = { shifts: new Map(), missing: [] };
  for (const of of ranks) {
    const other = of === own ? row : rowAt(of, own.spans.all.names[row], place);
    if (other < 0) alignment.missing.push(of.spans.rank);
    else alignment.shifts.set(of.spans.rank, own.spans.all.ends[row] - of.spans.all.ends[other]);
  }
  return alignment;
}

// The shifts that are not 0, the largest first; not more than fit on a ruler.
export function shiftsText(shifts: ReadonlyMap<string, number>, most = 4): string {
  const moved = [...shifts].filter(([, shift]) => shift !== 0).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const texts = moved.slice(0, most).map(([rank, shift]) => `rank ${rank} ${shift > 0 ? "+" : ""}${humanNs(shift)}`);
  return texts.join(", ") + (moved.length > most ? ` and ${moved.length - most} more` : "");
}
