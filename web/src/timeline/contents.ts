// What the timeline has of each rank, loaded when somebody opens it. Of what could not be loaded the sentence is kept.
import { signal } from "@preact/signals";
import type { Job, Source } from "../data/source.ts";
import { pending, sentenceOf } from "../data/use.ts";
import { type Counter, countersOf, COUNTER_TABLES } from "./counters.ts";
import { pathLane, pathRows } from "./critical_path.ts";
import { type EventIndex, eventIndex } from "./event_index.ts";
import { idleLane } from "./idle.ts";
import { type Lane, rankSpans, type RankSpans } from "./lanes.ts";
import type { GroupContent } from "./layout.ts";
import { Names } from "./names.ts";
import { titledTracks } from "./track_titles.ts";

export interface RankContent extends GroupContent {
  spans: RankSpans;
  index: EventIndex;
  pathRows: number[];
  onPath: Uint8Array; // 1 for each row of its spans that is on the critical path
  missing: string[];
}

const PATH_TABLE = "critical_path_edges";

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

export class Contents {
  readonly names = new Names();
  readonly ranks = signal<ReadonlyMap<string, RankContent>>(new Map());
  readonly failures = signal<ReadonlyMap<string, string>>(new Map());
  readonly job: Job;
  readonly source: Source;
  private readonly asked = new Set<string>();

  constructor(source: Source, job: Job) {
    this.source = source;
    this.job = job;
  }

  // Once for each rank.
  need(rank: string): void {
    if (this.asked.has(rank)) return;
    this.asked.add(rank);
    this.awaited(this.load(rank));
  }

  // What did not come is asked for anew.
  again(): void {
    const failed = [...this.failures.peek().keys()];
    this.failures.value = new Map();
    for (const rank of failed) {
      this.asked.delete(rank);
      this.need(rank);
    }
    for (const [rank, { missing }] of this.ranks.peek()) {
      if (missing.length === 0) continue;
      this.change(rank, () => ({ missing: [] }));
      for (const sentence of missing) this.awaited(this.add(rank, sentence.split(":")[0]!));
    }
  }

  private awaited(loading: Promise<void>): void {
    // Not read: who calls this is not to be called again when it changes.
    pending.value = pending.peek() + 1;
    void loading.finally(() => (pending.value = pending.peek() - 1));
  }

  private async load(rank: string): Promise<void> {
    try {
      const table = await this.source.spans(this.job.id, rank);
      const spans = await rankSpans(table, rank, this.job.startNs, this.names, table.rows > 500_000 ? turn : undefined);
      spans.tracks = titledTracks(spans.tracks, this.names);
      const index = eventIndex(spans);
      const devices = [...new Set(spans.tracks.map((track) => track.device))].filter((device) => device >= 0);
      const idle = new Map<number, Lane>();
      for (const device of devices) {
        const lane = idleLane(spans, index, device, this.names);
        if (lane) idle.set(device, lane);
      }
      const onPath = new Uint8Array(0);
      this.put({ spans, index, tracks: spans.tracks, idle, counters: [], pathRows: [], onPath, missing: [] });
    } catch (error) {
      this.failures.value = new Map(this.failures.value).set(rank, sentenceOf(error));
      return;
    }
    await Promise.all([PATH_TABLE, ...COUNTER_TABLES].map((table) => this.add(rank, table)));
  }

  private put(content: RankContent): void {
    this.ranks.value = new Map(this.ranks.value).set(content.spans.rank, content);
  }

  private change(rank: string, changed: (content: RankContent) => Partial<RankContent>): void {
    const content = this.ranks.value.get(rank)!;
    this.put({ ...content, ...changed(content) });
  }

  // Beside the spans: without it the rest is shown.
  private async add(rank: string, table: string): Promise<void> {
    try {
      await (table === PATH_TABLE ? this.addPath(rank) : this.addCounters(rank, table));
    } catch (error) {
      this.change(rank, ({ missing }) => ({ missing: [...missing, `${table}: ${sentenceOf(error)}`] }));
    }
  }

  private table(rank: string, name: string) {
    return this.source.table(this.job.id, name, rank === "none" ? {} : { ranks: rank });
  }

  private async addPath(rank: string): Promise<void> {
    const path = pathLane(await this.table(rank, PATH_TABLE), rank, this.job.startNs, this.names);
    this.change(rank, ({ spans, index }) => {
      const rows = pathRows(path, index);
      const onPath = new Uint8Array(spans.all.starts.length);
      for (const row of rows) onPath[row] = 1;
      return { path, pathRows: rows, onPath };
    });
  }

  private async addCounters(rank: string, name: string): Promise<void> {
    const added = countersOf(await this.table(rank, name), rank, this.job.startNs);
    if (added.length > 0) this.change(rank, ({ counters }) => ({ counters: inOrder([...counters, ...added]) }));
  }
}

// Whichever came first.
const inOrder = (counters: Counter[]): Counter[] =>
  counters.sort((a, b) => COUNTER_TABLES.indexOf(a.table) - COUNTER_TABLES.indexOf(b.table) || (a.track < b.track ? -1 : 1));
