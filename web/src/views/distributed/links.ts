// From the view of a distributed job to the timeline.
import { linkTo } from "../../state.ts";
import { toText } from "../../timeline/time_window.ts";
import type { Collective } from "./data.ts";

export const timelineOf = (rank: string): string => linkTo("timeline", rank === "none" ? {} : { open: rank });

// A collective on all its ranks, aligned at its end: who came last is selected.
export function timelineAt({ runs, first, last }: Collective): string {
  const end = Math.max(...runs.map((run) => run.end));
  const room = Math.max(1_000, (end - first) * 0.15);
  return linkTo("timeline", {
    open: runs.map((run) => run.rank).join(","),
    ...toText({ from: first - room, to: end + room }),
    ...(last.event < 0 ? {} : { sel: `${last.rank}:${last.event}`, at: `${last.start}+${last.end - last.start}`, align: "1" }),
  });
}
