// The state of a timeline: what is loaded, what the user has chosen, and what follows from both.
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { median } from "../data/median.ts";
import type { Table } from "../data/table.ts";
import { printable } from "../format.ts";
import { param } from "../state.ts";
import { inRanges, rangesHave } from "../ranges.ts";
import { type Alignment, alignedAt, type Step } from "./align.ts";
import { Choices } from "./choices.ts";
import type { Contents, RankContent } from "./contents.ts";
import { faultyRank, type Finding, findingsOf } from "./findings.ts";
import { longestGaps } from "./idle.ts";
import { type Lane, NONE } from "./lanes.ts";
import { type Group, type Layout, layoutOf } from "./layout.ts";
import { arrowsOf, arrowsWithin } from "./relations.ts";
import type { ShownArrow } from "./scene.ts";
import { countFound, foundLane, type FoundLane, matchingNames, parseQuery } from "./search.ts";
import { extentOf, type Strip } from "./strips.ts";
import { clipped, type TimeWindow } from "./time_window.ts";

export interface Selected {
  content: RankContent;
  lane: Lane;
  row: number;
}

const OPENED_AT_FIRST = 64; // of a job of more ranks, none is
const MOST_GAPS = 12, LEAST_GAP = 0.01; // of a step

export class Timeline {
  readonly contents: Contents;
  readonly choices = new Choices();
  // Set by the view as they come.
  readonly strips = signal<ReadonlyMap<string, Strip>>(new Map());
  readonly stepsOf = signal<ReadonlyMap<string, Step[]>>(new Map());
  readonly findingsTable = signal<Table | null | undefined>(undefined); // null: there are none to be had
  readonly missing = signal<readonly string[]>([]); // sentences
  readonly range = signal<TimeWindow | undefined>(undefined);
  readonly dragging = signal(false); // the range is not what it will be
  readonly finding = signal<Finding | undefined>(undefined);
  readonly allArrows = signal(false);
  readonly scrolled = signal(0);
  readonly toReveal = signal<Lane | string | undefined>(undefined); // a lane or track that is to be scrolled to

  constructor(contents: Contents) {
    this.contents = contents;
  }

  readonly ranks = computed(() => inRanges(param("ranks"), this.contents.job.ranks.map((each) => each.rank)));

  // What is open where the address does not say: the rank of the first fault, else the first one, of those whose spans are
  // there. None until that is known.
  readonly openAtFirst = computed((): string | undefined => {
    const all = this.ranks.value, findings = this.findingsTable.value;
    const ranks = all.filter((rank) => this.contents.source.hasSpans(rank));
    if (findings === undefined && all.length > 1) return undefined;
    return (findings ? faultyRank(findings, ranks) : undefined) ?? (all.length <= OPENED_AT_FIRST ? ranks[0] ?? all[0] : undefined);
  });

  // A rank that is selected is open.
  readonly open: ReadonlySignal<ReadonlySet<string>> = computed(() => {
    const ranks = this.ranks.value;
    const first = this.openAtFirst.value;
    const open = this.choices.open(first === undefined ? [] : [first]);
    const selection = this.choices.selection.value;
    if (selection && ranks.includes(selection.rank)) open.add(selection.rank);
    return open;
  });

  readonly openRanks = computed(() => this.ranks.value.filter((rank) => this.open.value.has(rank)));

  // Loaded, open, and among the chosen ones.
  readonly shown = computed(() => this.openRanks.value.flatMap((rank) => this.contents.ranks.value.get(rank) ?? []));

  readonly whole: ReadonlySignal<TimeWindow> = computed(() => {
    const strips = extentOf([...this.strips.value.values()]);
    let to = strips?.to ?? 0;
    for (const steps of this.stepsOf.value.values()) for (const step of steps) to = Math.max(to, step.end);
    for (const { spans } of this.contents.ranks.value.values())
      for (const lane of spans.lanes) to = Math.max(to, lane.ends.at(-1) ?? 0);
    return { from: 0, to: Math.max(to, 1) };
  });

  // What the filter of steps leaves of the job.
  private readonly chosenSteps = computed((): TimeWindow | undefined => {
    const chosen = rangesHave(param("steps"));
    const steps = param("steps") === "" ? [] : this.steps.value.filter((step) => chosen(step.number));
    return steps.length === 0 ? undefined : { from: steps[0]!.start, to: steps.at(-1)!.end };
  });

  readonly window = computed(() => {
    const whole = this.whole.value;
    return clipped(this.choices.moved.value ?? this.chosenSteps.value ?? whole, whole);
  });

  // The bands are those of the first rank that has steps and is shown.
  readonly steps = computed(() => {
    const steps = this.stepsOf.value;
    const rank = [...this.openRanks.value, ...this.ranks.value].find((each) => steps.has(each));
    const shift = rank === undefined ? 0 : (this.shifts.value.get(rank) ?? 0);
    const own = rank === undefined ? [] : steps.get(rank)!;
    return shift === 0 ? own : own.map((step) => ({ ...step, start: step.start + shift, end: step.end + shift }));
  });

  // On the collective that the address names. Ranks that are not open stay where they are.
  readonly alignment = computed((): Alignment | undefined => {
    const anchor = this.choices.anchor.value;
    const content = anchor && this.contents.ranks.value.get(anchor.rank);
    const row = content?.index.row(anchor!.event) ?? -1;
    if (row < 0) return undefined;
    const ranked = this.shown.value.map(({ spans, index }) => ({ spans, index, steps: this.stepsOf.value.get(spans.rank) ?? [] }));
    return alignedAt(ranked, anchor!.rank, row);
  });

  readonly shifts = computed((): ReadonlyMap<string, number> => this.alignment.value?.shifts ?? new Map());

  readonly findings = computed((): readonly Finding[] =>
    this.findingsTable.value ? findingsOf(this.findingsTable.value, this.steps.value, this.whole.value) : [],
  );

  readonly groups = computed((): readonly Group[] => {
    const hosts = new Map(this.contents.job.ranks.map(({ rank, host }) => [rank, host]));
    return this.ranks.value.map((rank) => ({
      rank,
      title: (rank === "none" ? "without a rank" : `rank ${rank}`) + (hosts.get(rank) ? ` · ${printable(hosts.get(rank)!)}` : ""),
      strip: this.strips.value.get(rank),
      content: this.contents.ranks.value.get(rank),
    }));
  });

  readonly overview = computed((): readonly (Strip | undefined)[] => this.ranks.value.map((rank) => this.strips.value.get(rank)));

  readonly layout: ReadonlySignal<{ pinned: Layout; rest: Layout }> = computed(() =>
    layoutOf(this.groups.value, { open: this.open.value, hide: this.choices.hide.value, pin: this.choices.pin.value }),
  );

  // By event; where the trace was cut or exported again, by what starts at that time and lasts so long.
  readonly selected = computed((): Selected | undefined => {
    const selection = this.choices.selection.value;
    const content = selection && this.contents.ranks.value.get(selection.rank);
    if (!content) return undefined;
    const { all } = content.spans;
    const isThere = (row: number): boolean =>
      row >= 0 &&
      (selection.start === undefined ||
        (all.starts[row] === selection.start && all.ends[row]! - all.starts[row]! === selection.duration));
    let row = content.index.row(selection.event);
    if (!isThere(row)) row = all.starts.findIndex((_, other) => isThere(other) && selection.start !== undefined);
    return row < 0 ? undefined : { content, lane: content.index.lane(row), row };
  });

  readonly query = computed(() => parseQuery(this.choices.query.value));

  // Names grow when ranks are loaded.
  readonly found = computed(() => {
    const query = this.query.value;
    const shown = this.shown.value;
    if (!query) return undefined;
    const names = matchingNames(query, this.contents.names.words);
    const lanes = new WeakMap<Lane, FoundLane>();
    const lane = (of: Lane): FoundLane => {
      const known = lanes.get(of) ?? foundLane(of, names);
      lanes.set(of, known);
      return known;
    };
    return { names, lane, error: query.error, ...countFound(shown.map(({ spans }) => spans), names) };
  });

  readonly onPath = computed(() => new Map(this.shown.value.map((content) => [content.spans.rank, content.onPath])));

  readonly gaps = computed(() =>
    longestGaps(
      this.shown.value.flatMap(({ spans, idle }) => [...idle.values()].map((lane) => ({ rank: spans.rank, lane }))),
      MOST_GAPS,
      (median(this.steps.value.map((step) => step.end - step.start)) || 0) * LEAST_GAP,
    ),
  );

  readonly arrows = computed((): readonly ShownArrow[] => {
    if (this.allArrows.value) {
      const window = this.window.value;
      const all: ShownArrow[] = [];
      for (const content of this.shown.value) {
        const shift = this.shifts.value.get(content.spans.rank) ?? 0;
        const arrows = arrowsWithin(content.spans, content.index, window.from - shift, window.to - shift, 2000 - all.length);
        if (arrows === undefined) return this.arrowsOfSelection.value;
        for (const arrow of arrows) all.push(shownArrow(content, arrow));
      }
      return all;
    }
    return this.arrowsOfSelection.value;
  });

  private readonly arrowsOfSelection = computed((): readonly ShownArrow[] => {
    const selected = this.selected.value;
    if (!selected) return [];
    const { content, row } = selected;
    return arrowsOf(content.spans, content.index, content.pathRows, row).map((arrow) => shownArrow(content, arrow));
  });

  setFindings(table: Table | null): void {
    this.findingsTable.value = table;
    const first = this.openAtFirst.peek();
    if (first !== undefined && first !== this.ranks.peek()[0] && param("open") === "" && param("sel") === "") this.toReveal.value = first;
  }

  select(rank: string, row: number): void {
    const all = this.contents.ranks.peek().get(rank)!.spans.all;
    const event = all.events[row]!;
    this.choices.select(rank, event === NONE ? -1 : event, all.starts[row]!, all.ends[row]! - all.starts[row]!);
  }
}

function shownArrow({ spans, index }: RankContent, { from, to, kind }: { from: number; to: number; kind: string }): ShownArrow {
  const { starts, ends } = spans.all;
  // From the end of a cause that has one before its effect, else from its start.
  const fromTime = ends[from]! <= starts[to]! ? ends[from]! : starts[from]!;
  return { rank: spans.rank, fromLane: index.lane(from), fromTime, toLane: index.lane(to), toTime: starts[to]!, kind };
}
