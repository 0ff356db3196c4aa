// What is selected or under the pointer, in words.
import { human, humanNs, position, printable, shortName } from "../format.ts";
import { valueAt } from "./counters.ts";
import type { Hit } from "./hit.ts";
import { KIND_NAMES } from "./kinds.ts";
import type { RankContent } from "./contents.ts";
import { shiftOf, timeAt, type Scene } from "./scene.ts";
import type { Selected } from "./timeline.ts";

export const titleOf = (name: string): string => shortName(name, 80);

export const rankTitle = (rank: string): string => (rank === "none" ? "the file without a rank" : `rank ${rank}`);

export function trackTitle(content: RankContent, name: string): string {
  const track = content.tracks.find((each) => each.name === name);
  if (!track) return name;
  return track.device >= 0 ? `device ${track.device} ${track.title}` : track.title;
}

export function selectedSentence(selected: Selected | undefined, words: readonly string[]): string {
  if (!selected) return "";
  const { content, lane, row } = selected;
  const { all, rank } = content.spans;
  const [start, end] = [all.starts[row]!, all.ends[row]!];
  return (
    `Selected: ${titleOf(words[all.names[row]!]!)}, ${KIND_NAMES[all.kinds[row]!]}, on ${rankTitle(rank)}, ` +
    `${trackTitle(content, lane.track)}, starts at ${position(start)}, lasts ${humanNs(end - start)}.`
  );
}

export function hoverText(scene: Scene, hit: Hit, x: number): string {
  const time = timeAt(scene, x);
  const where = position(time);
  if (hit.at === "head" && hit.finding) return `${where} · ${printable(hit.finding.sentence)}`;
  if (hit.at === "head" && hit.mark) return `${where} · ${printable(hit.mark.text)}`;
  if (hit.at !== "row") return where;
  const { row, span } = hit;
  if (row.counter) {
    const value = valueAt(row.counter, time - shiftOf(scene, row.rank));
    return `${where} · ${row.counter.title}: ${Number.isNaN(value) ? "not known" : human(value, row.counter.unit)}`;
  }
  if (!row.lane || span < 0) return where;
  const { lane } = row;
  return `${where} · ${shortName(scene.names.words[lane.names[span]!]!, 60)} · ${humanNs(lane.ends[span]! - lane.starts[span]!)}`;
}
