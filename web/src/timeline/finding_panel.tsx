// A finding whose mark was clicked.
import { printable, shortName } from "../format.ts";
import { goToRanks } from "./actions.ts";
import type { Finding } from "./findings.ts";
import type { Timeline } from "./timeline.ts";

export function FindingPanel({ timeline, finding }: { timeline: Timeline; finding: Finding }) {
  return (
    <>
      <h2>Finding</h2>
      <p>{printable(finding.sentence)}</p>
      {finding.remedy !== "" && <p>{printable(finding.remedy)}</p>}
      <div class="actions">
        {finding.ranks !== "" && (
          <button type="button" onClick={() => goToRanks(timeline, finding)}>Open rank {finding.ranks}</button>
        )}
        {finding.subject !== "" && (
          <button type="button" onClick={() => timeline.choices.search(finding.subject)}>Search {shortName(finding.subject)}</button>
        )}
        <button type="button" onClick={() => (timeline.finding.value = undefined)}>Close</button>
      </div>
    </>
  );
}
