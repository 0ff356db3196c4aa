// Who called the selected span: Python functions with links to their source, and the operators and annotations between.
import { goToSpan } from "./actions.ts";
import { kindCode } from "./kinds.ts";
import { ancestors, hostRow } from "./relations.ts";
import { SpanName } from "./span_name.tsx";
import type { Selected, Timeline } from "./timeline.ts";

const python = kindCode("python");

export function StackFrames({ timeline, selected }: { timeline: Timeline; selected: Selected }) {
  const { spans, index } = selected.content;
  const host = hostRow(spans, index, selected.row);
  if (host < 0) return null;
  const rows = [...(host === selected.row ? [] : [host]), ...ancestors(spans, index, host)];
  if (rows.length === 0) return null;
  const names = timeline.contents.names.words;
  const hasPython = rows.some((row) => spans.all.kinds[row] === python) || spans.all.kinds[selected.row] === python;
  return (
    <>
      <h3>Called by</h3>
      <ol>
        {rows.map((row) => (
          <li key={row}><SpanName name={names[spans.all.names[row]!]!} onClick={() => goToSpan(timeline, spans.rank, row)} /></li>
        ))}
      </ol>
      {!hasPython && <p class="muted">The trace has no Python functions here: record with_stack to see the source lines.</p>}
    </>
  );
}
