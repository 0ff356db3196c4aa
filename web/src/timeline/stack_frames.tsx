// Who called the selected span: Python functions with links to their source, and the operators and annotations between.
import { parseFrame } from "../frames.ts";
import { SourceLink } from "../widgets/source_link.tsx";
import { goToSpan } from "./actions.ts";
import { kindCode } from "./kinds.ts";
import { ancestors, hostRow } from "./relations.ts";
import { SpanName } from "./span_name.tsx";
import type { Selected, Timeline } from "./timeline.ts";

const python = kindCode("python");

export function StackFrames({ timeline, selected }: { timeline: Timeline; selected: Selected }) {
  const { spans, index } = selected.content;
  const host = hostRow(spans, index, selected.row);
  const rows = host < 0 ? [] : [...(host === selected.row ? [] : [host]), ...ancestors(spans, index, host)];
  const names = timeline.contents.names.words;
  return (
    <>
      <h3>Stack</h3>
      {rows.length > 0 && (
        <ol>
          {rows.map((row) => (
            <li key={row} class="named">
              <SpanName name={names[spans.all.names[row]!]!} onClick={() => goToSpan(timeline, spans.rank, row)} />
              {spans.all.kinds[row] === python && isLine(names[spans.all.names[row]!]!) && <SourceLink frame={names[spans.all.names[row]!]!} />}
            </li>
          ))}
        </ol>
      )}
      <p class="muted">{missing(selected, host, rows)}</p>
    </>
  );
}

function missing({ content, row }: Selected, host: number, rows: readonly number[]): string {
  const { kinds } = content.spans.all;
  if (host < 0) return "The trace does not say what on the host this comes from.";
  if ([row, ...rows].some((each) => kinds[each] === python)) return "";
  return rows.length === 0
    ? "It is the outermost of its thread."
    : "It has no Python functions: a capture with_stack has them, with their source lines.";
}

const isLine = (name: string): boolean => parseFrame(name) !== null;
