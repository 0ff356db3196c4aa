// Where one can go: findings, the longest gaps, marks; and what is not shown.
import { humanNs, position, printable } from "../format.ts";
import { showTime } from "./actions.ts";
import type { Gap } from "./idle.ts";
import { rankTitle } from "./sentences.ts";
import type { Timeline } from "./timeline.ts";

export function PlacesPanel({ timeline, open }: { timeline: Timeline; open: boolean }) {
  return (
    <>
      {open && timeline.openRanks.value.length === 0 && (
        <p>Each rank is a strip: as high as its devices are busy, in the colours of their work. Open one to see what ran.</p>
      )}
      <Findings timeline={timeline} open={open} />
      <Gaps timeline={timeline} open={open} />
      <Marks timeline={timeline} />
      <Hidden timeline={timeline} />
      <Missing timeline={timeline} />
    </>
  );
}

function Findings({ timeline, open }: { timeline: Timeline; open: boolean }) {
  const findings = timeline.findings.value;
  if (findings.length === 0) return null;
  return (
    <details open={open}>
      <summary>Findings ({findings.length})</summary>
      <ul>
        {findings.map((finding) => (
          <li key={finding.sentence}>
            <button type="button" class="as-link" onClick={() => {
              timeline.finding.value = finding;
              showTime(timeline, finding.from, finding.to);
            }}>{printable(finding.sentence)}</button>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Gaps({ timeline, open }: { timeline: Timeline; open: boolean }) {
  const { gaps, shorter } = timeline.gaps.value;
  if (gaps.length + shorter === 0) return null;
  const show = (gap: Gap): void => {
    const shift = timeline.shifts.peek().get(gap.rank) ?? 0;
    timeline.range.value = { from: gap.start + shift, to: gap.end + shift };
    showTime(timeline, gap.start + shift, gap.end + shift);
  };
  return (
    <details open={open}>
      <summary>Longest gaps of the open ranks' devices</summary>
      <ol>
        {gaps.map((gap) => (
          <li key={`${gap.track} ${gap.start}`}>
            <button type="button" class="as-link" title={`${gap.end - gap.start} ns, ${gap.start} ns after the job's first event`} onClick={() => show(gap)}>
              {humanNs(gap.end - gap.start)} at {position(gap.start)}, {rankTitle(gap.rank)}: {timeline.contents.names.words[gap.name]!.replace(/^idle: /, "")}
            </button>
          </li>
        ))}
      </ol>
      {shorter > 0 && <p class="muted">{gaps.length === 0 ? `${shorter === 1 ? "The one gap is not" : `None of ${shorter} gaps is`} as long as 1 % of a step.` : `and ${shorter} shorter ${shorter === 1 ? "one" : "ones"}`}</p>}
    </details>
  );
}

function Marks({ timeline }: { timeline: Timeline }) {
  const marks = timeline.choices.marks.value;
  if (marks.length === 0) return null;
  const change = (i: number, text: string): void =>
    timeline.choices.setMarks(marks.map((mark, other) => (other === i ? { ...mark, text } : mark)));
  return (
    <>
      <h3>Marks</h3>
      <ul>
        {marks.map((mark, i) => (
          <li key={i}>
            <button type="button" class="as-link" title={`${mark.from} to ${mark.to} ns`} onClick={() => showTime(timeline, mark.from, mark.to)}>{position(mark.from)}, {humanNs(mark.to - mark.from)}</button>{" "}
            <button type="button" aria-label={`Remove the mark at ${position(mark.from)}`} onClick={() => timeline.choices.setMarks(marks.filter((_, other) => other !== i))}>×</button>
            <input value={mark.text} aria-label={`Text of the mark at ${position(mark.from)}`} onChange={(event) => change(i, event.currentTarget.value)} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Hidden({ timeline }: { timeline: Timeline }) {
  const hidden = [...timeline.choices.hide.value];
  if (hidden.length === 0) return null;
  return (
    <>
      <h3>Hidden lanes</h3>
      <ul>
        {hidden.map((name) => (
          <li key={name}>{name} <button type="button" onClick={() => timeline.choices.setHidden(name, false)}>Show</button></li>
        ))}
      </ul>
    </>
  );
}

// What could not be loaded, of the job and of the open ranks, and what a report had no room for.
function Missing({ timeline }: { timeline: Timeline }) {
  const missing = new Set([...timeline.missing.value, ...timeline.shown.value.flatMap((content) => content.missing)]);
  const leftOut = timeline.contents.job.facts.get("left_out");
  if (leftOut) missing.add(leftOut);
  if (missing.size === 0) return null;
  return (
    <details>
      <summary>{missing.size === 1 ? "One thing is" : `${missing.size} things are`} not shown here</summary>
      <ul>{[...missing].map((sentence) => <li key={sentence}>{printable(sentence)}</li>)}</ul>
    </details>
  );
}
