// What a search finds on ranks that are not open: only a server can look there.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask } from "../data/server_source.ts";
import { tableOf } from "../data/table.ts";
import { timesOf } from "../data/table_columns.ts";
import { useLoaded } from "../data/use.ts";
import { human, humanNs } from "../format.ts";
import { rankTitle } from "./sentences.ts";
import { SpanName } from "./span_name.tsx";
import { within } from "./time_window.ts";
import type { Timeline } from "./timeline.ts";

const STILL_FOR_MS = 400; // ms after the last letter
const MOST_NAMES = 20;

export function JobSearch({ timeline }: { timeline: Timeline }) {
  const words = timeline.choices.query.value.trim();
  const asked = useSignal(words);
  useEffect(() => {
    const timer = setTimeout(() => (asked.value = words), STILL_FOR_MS);
    return () => clearTimeout(timer);
  }, [words]);
  const isWhole = timeline.shown.value.length === timeline.ranks.value.length;
  if (timeline.contents.source.kind !== "server" || asked.value === "" || asked.value.startsWith("/") || isWhole) return null;
  return <Found timeline={timeline} words={asked.value} />;
}

function Found({ timeline, words }: { timeline: Timeline; words: string }) {
  const { job } = timeline.contents;
  const query = new URLSearchParams({ q: words });
  const loaded = useLoaded(`job ${job.id} search ${words}`, async () => tableOf(await ask(`v1/jobs/${job.id}/search?${query}`), "search"));
  if (loaded.state === "loading") return <p class="muted" aria-busy="true">Searching the other ranks …</p>;
  if (loaded.state === "failed") return <p class="muted">{loaded.error}</p>;
  const table = loaded.value;
  const start = timesOf(table, "start_ns", job.startNs);
  const rows = Array.from({ length: Math.min(table.rows, MOST_NAMES) }, (_, row) => row);
  return (
    <details open>
      <summary>On all ranks: {human(table.rows, "count")} {table.rows === 1 ? "name" : "names"}</summary>
      <ul>
        {rows.map((row) => (
          <li key={row}>
            <SpanName name={table.text("name", row)} onClick={() => show(timeline, table.exact("rank", row) || "none", table.exact("event", row), start(row))} />{" "}
            {human(table.absolute("count", row), "count")} runs,{" "}
            {humanNs(table.absolute("sum_ns", row))}; the first on {rankTitle(table.exact("rank", row) || "none")}
          </li>
        ))}
      </ul>
    </details>
  );
}

// The rank opens because something on it is selected.
function show(timeline: Timeline, rank: string, event: string, start: number): void {
  const whole = timeline.whole.peek();
  const window = timeline.window.peek();
  const half = (window.to - window.from) / 2;
  timeline.choices.selectEvent(rank, event);
  timeline.choices.move(within({ from: start - half, to: start + half }, whole), whole);
}
