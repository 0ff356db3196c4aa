// The selected span: when, how long, with which arguments, called by whom, launching what, and how it compares.
import { human, humanNs, position, printable } from "../format.ts";
import { fitSelection, goToSpan, markSelection } from "./actions.ts";
import { Arguments } from "./arguments.tsx";
import { PerfettoButton } from "./perfetto_button.tsx";
import { COMMUNICATION_KIND, KIND_NAMES } from "./kinds.ts";
import { kernelsBelow, relatedTo } from "./relations.ts";
import { rankTitle, trackTitle } from "./sentences.ts";
import { SpanName } from "./span_name.tsx";
import { StackFrames } from "./stack_frames.tsx";
import { standing, timeOfRows } from "./statistics.ts";
import { instantText } from "./ticks.ts";
import type { Selected, Timeline } from "./timeline.ts";

const MOST_NAMES = 12;

export function SelectionPanel({ timeline, selected }: { timeline: Timeline; selected: Selected }) {
  const { content, lane, row } = selected;
  const { all, rank } = content.spans;
  const [start, end] = [all.starts[row]!, all.ends[row]!];
  const name = timeline.contents.names.words[all.names[row]!]!;
  const onDevice = lane.track.startsWith(`${rank}/d`);
  const canAlign = all.kinds[row] === COMMUNICATION_KIND && onDevice;
  return (
    <>
      <h2>{printable(name)}</h2>
      <dl>
        <dt>kind</dt><dd><span class={`swatch ${KIND_NAMES[all.kinds[row]!]}`} />{KIND_NAMES[all.kinds[row]!]}</dd>
        <dt>where</dt><dd>{rankTitle(rank)}, {trackTitle(content, lane.track)}</dd>
        <dt>start</dt><dd title={instantText(timeline.contents.job.startNs + BigInt(start))}>{position(start)}</dd>
        <dt>lasts</dt><dd title={`${end - start} ns`}>{humanNs(end - start)}</dd>
        <Standing timeline={timeline} name={all.names[row]!} duration={end - start} onDevice={onDevice} />
      </dl>
      <div class="actions">
        <button type="button" onClick={() => fitSelection(timeline)}>Zoom here (F)</button>
        <button type="button" onClick={() => markSelection(timeline)}>Mark (M)</button>
        <button type="button" onClick={() => timeline.choices.search(name)}>Find all</button>
        {canAlign && <button type="button" onClick={() => timeline.choices.alignAtSelection()} title="Shift the open ranks so that this collective ends at the same time on all of them">Align ranks here</button>}
        <PerfettoButton timeline={timeline} window={{ from: start, to: end }} rank={rank}>Open in Perfetto here</PerfettoButton>
        <button type="button" onClick={() => timeline.choices.clearSelection()}>Clear (Esc)</button>
      </div>
      <Related timeline={timeline} selected={selected} />
      <StackFrames timeline={timeline} selected={selected} />
      <Kernels timeline={timeline} selected={selected} />
      <Arguments timeline={timeline} selected={selected} />
    </>
  );
}

function Standing({ timeline, name, duration, onDevice }: { timeline: Timeline; name: number; duration: number; onDevice: boolean }) {
  const spans = timeline.shown.value.map((content) => content.spans);
  const all = standing(spans, name, duration, onDevice);
  if (all.count < 2) return null;
  return (
    <>
      <dt>of this name</dt>
      <dd>
        {human(all.count, "count")} runs on the open ranks, <span title={`${all.total} ns`}>{humanNs(all.total)}</span> in sum, median{" "}
        <span title={`${all.median} ns`}>{humanNs(all.median)}</span>, longest <span title={`${all.longest} ns`}>{humanNs(all.longest)}</span>;{" "}
        <span title={`${all.percentile} %`}>{all.percentile.toFixed(0)} %</span> last no longer than this one
      </dd>
    </>
  );
}

function Related({ timeline, selected }: { timeline: Timeline; selected: Selected }) {
  const { content, row } = selected;
  const { spans, index } = content;
  const related = relatedTo(spans, index, row);
  if (related.length === 0) return null;
  return (
    <>
      <h3>Along the arrows ([ ])</h3>
      <ul>
        {related.slice(0, MOST_NAMES).map(({ row: other, what }) => (
          <li key={`${what} ${other}`}>
            {what}: <SpanName name={timeline.contents.names.words[spans.all.names[other]!]!} onClick={() => goToSpan(timeline, spans.rank, other)} />
          </li>
        ))}
      </ul>
      {related.length > MOST_NAMES && <p class="muted">and {related.length - MOST_NAMES} more</p>}
    </>
  );
}

function Kernels({ timeline, selected }: { timeline: Timeline; selected: Selected }) {
  const { spans, index } = selected.content;
  const { rows, cut } = kernelsBelow(spans, index, selected.row);
  if (rows.length === 0) return null;
  const names = timeOfRows(spans, rows);
  const total = names.reduce((sum, name) => sum + name.time, 0);
  return (
    <>
      <h3>Device work that it launches</h3>
      <p><span title={`${rows.length}`}>{human(rows.length, "count")}</span>{cut ? " and more" : ""}, <span title={`${total} ns`}>{humanNs(total)}</span> in sum</p>
      <ul>
        {names.slice(0, MOST_NAMES).map((name) => (
          <li key={name.name}>
            {name.count} × <SpanName name={timeline.contents.names.words[name.name]!} onClick={() => goToSpan(timeline, spans.rank, name.first)} />{" "}
            <span title={`${name.time} ns`}>{humanNs(name.time)}</span>
          </li>
        ))}
      </ul>
      {names.length > MOST_NAMES && <p class="muted">and {names.length - MOST_NAMES} more names</p>}
    </>
  );
}
