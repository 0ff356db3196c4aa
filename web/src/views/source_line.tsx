// A line of source code with its function.
import { shortName } from "../format.ts";
import type { Frame } from "../frames.ts";
import { SourceLink } from "../widgets/source_link.tsx";

export function SourceLine({ frame }: { frame: Frame }) {
  return (
    <code class="line">
      <SourceLink frame={`${frame.path}(${frame.line}): ${frame.name}`} />
      {frame.name !== "" && <span class="muted"> {shortName(frame.name)}</span>}
    </code>
  );
}
