// Beside the lanes: what is selected, in full; else what can be gone to.
import { JobSearch } from "./job_search.tsx";
import { PlacesPanel } from "./places_panel.tsx";
import { FindingPanel } from "./finding_panel.tsx";
import { RangePanel } from "./range_panel.tsx";
import { SelectionPanel } from "./selection_panel.tsx";
import type { Timeline } from "./timeline.ts";

export function Panel({ timeline }: { timeline: Timeline }) {
  const range = timeline.range.value;
  const finding = timeline.finding.value;
  const selected = timeline.selected.value;
  return (
    <section class="timeline-panel" aria-label="Selection" tabIndex={0}>
      {finding && <FindingPanel timeline={timeline} finding={finding} />}
      {range && <RangePanel timeline={timeline} range={range} />}
      {selected && <SelectionPanel key={`${selected.content.spans.rank} ${selected.row}`} timeline={timeline} selected={selected} />}
      {!selected && <MissingSelection timeline={timeline} />}
      <JobSearch timeline={timeline} />
      <PlacesPanel timeline={timeline} open={!selected && !range && !finding} />
    </section>
  );
}

// A link can name a span that is not there, or not yet.
function MissingSelection({ timeline }: { timeline: Timeline }) {
  const wanted = timeline.choices.selection.value;
  if (!wanted) return null;
  const failure = timeline.contents.failures.value.get(wanted.rank);
  if (failure) return null; // it is told with the lanes
  if (!timeline.contents.ranks.value.has(wanted.rank)) return <p class="muted">Loading …</p>;
  return <p class="muted">Event {wanted.event} of rank {wanted.rank}, which the address names, is not in this trace.</p>;
}
