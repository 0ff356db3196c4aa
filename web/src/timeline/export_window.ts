// "Open in Perfetto" of what the timeline shows.
import { request } from "../data/server_source.ts";
import { openInPerfetto } from "../perfetto.ts";
import type { TimeWindow } from "./time_window.ts";
import type { Timeline } from "./timeline.ts";

// Of the ranks that are open, else of all that are shown.
export async function openWindow(timeline: Timeline, window: TimeWindow, rank?: string): Promise<void> {
  const { job } = timeline.contents;
  const open = timeline.openRanks.peek();
  const ranks = (rank !== undefined ? [rank] : open.length > 0 ? open : timeline.ranks.peek()).filter((each) => each !== "none");
  const [from, to] = [Math.max(0, Math.floor(window.from)), Math.ceil(window.to)];
  const query = new URLSearchParams({ from: String(from), to: String(to) });
  if (ranks.length > 0) query.set("ranks", ranks.join(","));
  const path = `v1/jobs/${job.id}/export?${query}`;
  const name = job.facts.get("title") || job.folder || job.id;
  await openInPerfetto(
    {
      trace: async () => (await request(path)).arrayBuffer(),
      title: `${name} ${from}-${to} ns`,
      fileName: `${name}.json`,
      from: job.startNs + BigInt(from),
      to: job.startNs + BigInt(to),
    },
    job.facts.get("perfetto_url"),
  );
}
