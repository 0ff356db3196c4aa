// To a part of the time in the timeline, with room on both sides.
import { linkTo } from "../../state.ts";
import { toText } from "../../timeline/time_window.ts";

export const timelineAround = (rank: string, from: number, to: number, room: number, params: Record<string, string> = {}): string =>
  linkTo("timeline", { open: rank, ...toText({ from: from - room, to: to + room }), ...params });
