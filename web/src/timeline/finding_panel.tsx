// A finding whose mark was clicked.
import { shortName } from "../format.ts";
import { Sentence } from "../widgets/sentence.tsx";
import { goToRanks } from "./actions.ts";
import type { Finding } from "./findings.ts";
import type { Timeline } from "./timeline.ts";

export function FindingPanel({ timeline, finding }: { timeline: Timeline; finding: Finding }) {
  return (
    <>
      <h2>Finding</h2>
      <p><Sentence text={finding.sentence} /></p>
      {finding.remedy !== "" && <p><Sentence text={finding.remedy} /></p>}
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
