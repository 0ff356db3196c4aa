// All that the file says of the selected event; a report does not have it.
import { useLoaded } from "../data/use.ts";
import { printable } from "../format.ts";
import { NONE } from "./lanes.ts";
import type { Selected, Timeline } from "./timeline.ts";

export function Arguments({ timeline, selected }: { timeline: Timeline; selected: Selected }) {
  const { source } = timeline.contents;
  const { spans } = selected.content;
  const event = spans.all.events[selected.row]!;
  if (source.kind === "report" || event === NONE) return null;
  return <Loaded timeline={timeline} rank={spans.rank} event={event} />;
}

function Loaded({ timeline, rank, event }: { timeline: Timeline; rank: string; event: number }) {
  const { source, job } = timeline.contents;
  const loaded = useLoaded(`job ${job.id} event ${rank} ${event}`, () => source.event(job.id, rank, event));
  if (loaded.state === "loading") return <p class="muted" aria-busy="true">Loading the arguments …</p>;
  if (loaded.state === "failed") return <p class="muted">{loaded.error}</p>;
  const table = loaded.value;
  const rows = Array.from({ length: table.rows }, (_, row) => [table.exact("name", row), table.exact("value", row)] as const);
  const json = rows.find(([name]) => name === "json");
  return (
    <>
      <h3>Arguments</h3>
      <dl>
        {rows.filter(([name]) => name !== "json").map(([name, value]) => [
          <dt key={`${name} name`}>{printable(name)}</dt>,
          <dd key={`${name} value`}>{printable(value)}</dd>,
        ])}
      </dl>
      {json && <details><summary>As the file has it</summary><pre class="doc">{json[1]}</pre></details>}
    </>
  );
}
