// Opens a window of time in Perfetto; only where there is a server that exports it.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { sentenceOf } from "../data/use.ts";
import { Failure } from "../failures.tsx";
import { openWindow } from "./export_window.ts";
import type { TimeWindow } from "./time_window.ts";
import type { Timeline } from "./timeline.ts";

export function PerfettoButton({ timeline, window, rank, children }: {
  timeline: Timeline;
  window: TimeWindow;
  rank?: string;
  children: ComponentChildren;
}) {
  const failure = useSignal("");
  const busy = useSignal(false);
  if (timeline.contents.source.kind !== "server") return null;
  const open = (): void => {
    failure.value = "";
    busy.value = true;
    openWindow(timeline, window, rank)
      .catch((error: unknown) => (failure.value = sentenceOf(error)))
      .finally(() => (busy.value = false));
  };
  return (
    <>
      <button type="button" onClick={open} disabled={busy.value} title="In a new tab, which gets the trace from this page; it stays in this browser">
        {children}
      </button>
      {failure.value !== "" && <Failure error={failure.value} />}
    </>
  );
}
