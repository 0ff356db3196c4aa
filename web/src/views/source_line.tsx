// A line of source code, as it is to be found.
import { describe } from "../links.ts";
import { printable } from "../format.ts";
import type { Frame } from "../frames.ts";

export function SourceLine({ frame }: { frame: Frame }) {
  return <code class="source" title={describe(frame)}>{printable(`${frame.path}:${frame.line}`)}{frame.name && <span class="muted"> {printable(frame.name)}</span>}</code>;
}
