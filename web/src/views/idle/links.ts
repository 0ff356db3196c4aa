// From a gap to the timeline, with what is around it.
import { linkTo } from "../../state.ts";

export function timelineAt(rank: string, from: number, to: number): string {
  const room = Math.max(2_000, (to - from) * 0.5);
  return linkTo("timeline", { open: rank, from: String(Math.floor(from - room)), to: String(Math.ceil(to + room)) });
}
