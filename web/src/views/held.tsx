// What a report may lack is no failure: it says so, and which command shows it.
import type { ComponentChildren } from "preact";
import { source, type Loaded } from "../data/use.ts";
import { Empty, Ready } from "../widgets/loaded.tsx";

export function Held<T>({ of, children }: { of: Loaded<T>; children: (value: T) => ComponentChildren }) {
  if (of.state === "failed" && source.value?.kind === "report") return <Empty>{of.error[0]!.toUpperCase() + of.error.slice(1)}.</Empty>;
  return <Ready of={of}>{children}</Ready>;
}
