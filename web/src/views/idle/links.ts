// From a gap to the timeline, with what is around it.
import { timelineAround } from "../shared/timeline_around.ts";

export const timelineAt = (rank: string, from: number, to: number): string =>
  timelineAround(rank, from, to, Math.max(2_000, (to - from) * 0.5));
