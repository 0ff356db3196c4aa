// The gaps of a rank by their length, and the longest ones: of the rank's own spans.
import { useMemo } from "preact/hooks";
import { tableFrom } from "../../data/made_table.ts";
import type { Table } from "../../data/table.ts";
import { useSpans, useStartNs } from "../../data/use.ts";
import { humanNs } from "../../format.ts";
import { param } from "../../state.ts";
import { Bars } from "../../widgets/bars.tsx";
import { Choice } from "../../widgets/choice.tsx";
import { DataTable } from "../../widgets/data_table.tsx";
import { Empty, Ready } from "../../widgets/loaded.tsx";
import { CAUSES } from "../shared/parts_of_time.ts";
import { gapsOf, histogram, type Gap } from "./data.ts";
import { timelineAt } from "./links.ts";

const MOST_GAPS = 50;

export function Gaps({ rank }: { rank: string }) {
  const spans = useSpans(rank);
  const startNs = useStartNs();
  return (
    <section aria-labelledby="gaps">
      <h2 id="gaps">Gaps by their length</h2>
      <Ready of={spans}>{(table) => <Found spans={table} rank={rank} startNs={startNs} />}</Ready>
    </section>
  );
}

function Found({ spans, rank, startNs }: { spans: Table; rank: string; startNs: bigint }) {
  const gaps = useMemo(() => gapsOf(spans, startNs), [spans, startNs]);
  const longest = useMemo(() => [...gaps].sort((a, b) => b.end - b.start - (a.end - a.start)).slice(0, MOST_GAPS), [gaps]);
  const table = useMemo(() => gapTable(longest, startNs), [longest, startNs]);
  const buckets = useMemo(() => histogram(gaps), [gaps]);
  const isCount = param("measure") === "count";
  if (gaps.length === 0) return <Empty>There is no gap between the first and the last work of this rank's devices.</Empty>;
  const names = Object.keys(CAUSES).filter((name) => gaps.some((gap) => gap.cause === name));
  const bars = buckets.map((bucket) => {
    const values = isCount ? bucket.counts : bucket.times;
    return {
      label: `${humanNs(bucket.from)} to ${humanNs(bucket.to)}`,
      parts: names.map((name) => ({ kind: CAUSES[name]!.kind, label: CAUSES[name]!.label, value: values.get(name) ?? 0 })),
      ...(bucket.longest === null ? {} : { link: timelineAt(rank, bucket.longest.start, bucket.longest.end) }),
    };
  });
  return (
    <>
      <p>
        <Choice name="measure" label="Show" value={isCount ? "count" : ""} options={[["", "the time in them"], ["count", "how many there are"]]} />{" "}
        <span class="muted">A length leads to the longest such gap in the timeline.</span>
      </p>
      <Bars label="Gaps by their length" unit={isCount ? "count" : "ns"} bars={bars} />
      <h3>The longest gaps{gaps.length > MOST_GAPS && `: ${MOST_GAPS} of ${gaps.length}`}</h3>
      <DataTable table={table} from="device_idle_breakdown" link={(row) => timelineAt(rank, longest[row]!.start, longest[row]!.end)} linkColumn="dur_ns" label="The longest gaps" />
    </>
  );
}

const gapTable = (gaps: readonly Gap[], startNs: bigint): Table =>
  tableFrom("longest_gaps", [
    { name: "start_ns", type: "integer", unit: "ns", role: "time", help: "Start of the gap", base: startNs },
    { name: "dur_ns", type: "integer", unit: "ns", help: "How long no device of the rank has work" },
    { name: "cause", type: "text", help: "Why, as device_idle_breakdown tells it" },
    { name: "next", type: "text", help: "The work that ends it" },
  ], gaps.map((gap) => [gap.start, gap.end - gap.start, CAUSES[gap.cause]!.label, gap.next]));
