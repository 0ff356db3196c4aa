// Around what needs something that is loaded: while it is on its way, and where it does not come.
import type { ComponentChildren } from "preact";
import { forget, source, type Loaded } from "../data/use.ts";
import { Failure } from "../failures.tsx";

export function Ready<T>({ of, children }: { of: Loaded<T>; children: (value: T) => ComponentChildren }) {
  if (of.state === "loading") return <p class="muted" aria-busy="true">Loading …</p>;
  if (of.state === "failed") return <Failure error={of.error} retry={() => forget()} />;
  return <>{children(of.value)}</>;
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

// What a report may lack is no failure: it says so, and which command shows it.
export function Held<T>({ of, children }: { of: Loaded<T>; children: (value: T) => ComponentChildren }) {
  if (of.state === "failed" && source.value?.kind === "report") return <Empty>{of.error[0]!.toUpperCase() + of.error.slice(1)}.</Empty>;
  return <Ready of={of}>{children}</Ready>;
}
