// What threads and streams are for, told by what runs on them.
import { kindCode, KIND_NAMES } from "./kinds.ts";
import { sumsOf, type Track } from "./lanes.ts";
import type { Names } from "./names.ts";
import { addTimes } from "./prefix_sums.ts";

const MOST = 0.9; // of a stream's time

export function titledTracks(tracks: readonly Track[], names: Names): Track[] {
  return tracks.map((track) => {
    const what = track.device >= 0 ? workOf(track) : roleOf(track, names);
    return what === "" ? track : { ...track, title: `${track.title} · ${what}` };
  });
}

function workOf(track: Track): string {
  const times = new Float64Array(KIND_NAMES.length);
  for (const lane of track.lanes) if (lane.depth >= 0) addTimes(lane, sumsOf(lane), 0, lane.starts.length, times);
  const total = times.reduce((a, b) => a + b, 0);
  const kind = times.findIndex((time) => total > 0 && time >= MOST * total);
  return kind < 0 ? "" : KIND_NAMES[kind]!;
}

const STEP_KIND = kindCode("step");

function roleOf(track: Track, names: Names): string {
  for (const lane of track.lanes) {
    if (lane.kinds.includes(STEP_KIND)) return "main";
    for (const name of lane.names.subarray(0, 200)) if (names.words[name]!.startsWith("autograd::engine")) return "backward";
  }
  return "";
}
