// A line of source code as a link to where the user reads it; what is no line of a file is shown as it is.
import { useState } from "preact/hooks";
import { useJob } from "../data/use.ts";
import { copy } from "../failures.tsx";
import { printable, shortName } from "../format.ts";
import { cleanPath, parseFrame, shortPlace, type Frame } from "../frames.ts";
import { describe, resolveSource, type SourceLink as Link } from "../source_links.ts";
import { isTrusted, question, settings } from "../source_settings.ts";

const NO_FACTS: ReadonlyMap<string, string> = new Map();

export function SourceLink({ frame }: { frame: string }) {
  const parsed = parseFrame(frame);
  if (parsed === null || cleanPath(parsed.path) === null) return <span title={printable(frame)}>{printable(frame)}</span>;
  return <FileLink frame={parsed} />;
}

// With its function; `backward`: of what computes the gradient of the operator in this line.
export function SourceLine({ frame, backward = false }: { frame: Frame; backward?: boolean }) {
  return (
    <code class="line">
      <SourceLink frame={`${frame.path}(${frame.line}): ${frame.name}`} />
      {frame.name !== "" && <span class="muted"> {shortName(frame.name)}</span>}
      {backward && <span class="muted" title="It computes the gradient of the operator in this line">, its backward pass</span>}
    </code>
  );
}

function FileLink({ frame }: { frame: Frame }) {
  const job = useJob();
  const resolved = resolveSource(frame, settings.value, job.state === "here" ? job.value.facts : NO_FACTS);
  return (
    <span class="source" onClick={(event) => event.stopPropagation()}>
      <Place frame={frame} resolved={resolved} />
      <CopyButton text={`${frame.path}:${frame.line}`} />
    </span>
  );
}

function Place({ frame, resolved }: { frame: Frame; resolved: ReturnType<typeof resolveSource> }) {
  const text = printable(shortPlace(frame));
  const title = describe(frame);
  if ("link" in resolved) {
    const { link } = resolved;
    const elsewhere = link.isWeb ? { target: "_blank", rel: "noopener noreferrer" } : {};
    return <a href={link.href} title={title} {...elsewhere} onClick={(event) => follow(event, link, frame)}>{text}</a>;
  }
  if (isWithin) return <button type="button" class="link" title={title} onClick={() => tellEditor(frame)}>{text}</button>;
  if (settings.value.editor === "") return <span title={title}>{text}</span>;
  const ask = () => (question.value = { where: frame, why: resolved.why });
  return <button type="button" class="link" title={`${title}. ${resolved.why}`} onClick={ask}>{text}</button>;
}

function follow(event: MouseEvent, link: Link, frame: Frame): void {
  tellEditor(frame);
  if (isTrusted(link)) return;
  event.preventDefault();
  question.value = { follow: link };
}

const isWithin = typeof window !== "undefined" && window.parent !== window;

// In a frame of VS Code this opens the file, as what its extensions for TensorBoard listen for: the message goes to whoever
// is around the page, and around that. It counts lines from 0.
function tellEditor(frame: Frame): void {
  if (!isWithin) return;
  const message = { filename: frame.path, line: frame.line - 1 };
  for (const around of new Set([window.parent, window.parent.parent])) around.postMessage(message, "*");
}

const SHOWN_FOR_MS = 1500;

function CopyButton({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  const click = () => {
    copy(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_FOR_MS);
  };
  const label = isCopied ? "Copied" : `Copy ${printable(text)}`;
  return <button type="button" class="copy" title={label} aria-label={label} onClick={click}><svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d={isCopied ? TICK : SHEETS} /></svg></button>;
}

const SHEETS = "M5 5h9v9H5zM3 11H2V2h9v1";
const TICK = "M2 8l4 4 8-8";
