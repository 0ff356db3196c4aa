// The lengths of the steps of two jobs over one axis, as two histograms: the one before above, the one after below.
import { human } from "../../format.ts";
import { histogramOf, type StepTimes } from "./data.ts";

const BINS = 40, WIDTH = 1000, HALF = 60;

export function Distributions({ before, after }: { before: StepTimes; after: StepTimes }) {
  const least = Math.min(before.times[0]!, after.times[0]!);
  const most = Math.max(before.times.at(-1)!, after.times.at(-1)!);
  const counts = [before, after].map(({ times }) => histogramOf(times, least, most, BINS));
  const tallest = Math.max(1, ...counts.flat());
  const step = (most - least) / BINS;
  const at = (ns: number) => (most > least ? ((ns - least) / (most - least)) * WIDTH : WIDTH / 2);
  const text = (name: string, { times, median }: StepTimes) =>
    `${name}: ${times.length} steps of ${human(times[0]!, "ns")} to ${human(times.at(-1)!, "ns")}, median ${human(median, "ns")}`;
  return (
    <figure class="distributions">
      <figcaption>
        <span class="swatch other" aria-hidden="true" />{text("Before, above", before)}<br />
        <span class="swatch annotation" aria-hidden="true" />{text("After, below", after)}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${2 * HALF + 2}`} preserveAspectRatio="none" role="img" aria-label={`Lengths of steps. ${text("Before", before)}. ${text("After", after)}.`}>
        {counts.map((each, side) => each.map((count, bin) => {
          const height = (count / tallest) * HALF;
          if (count === 0) return null;
          return (
            <rect key={`${side} ${bin}`} class={side === 0 ? "other" : "annotation"} x={(bin / BINS) * WIDTH} width={WIDTH / BINS - 1} y={side === 0 ? HALF - height : HALF + 2} height={height}>
              <title>{`${side === 0 ? "before" : "after"}: ${count} steps of ${human(least + bin * step, "ns")} to ${human(least + (bin + 1) * step, "ns")}`}</title>
            </rect>
          );
        }))}
        <line class="axis" x1={0} x2={WIDTH} y1={HALF + 1} y2={HALF + 1} />
        <line class="median" x1={at(before.median)} x2={at(before.median)} y1={0} y2={HALF}><title>{`median before: ${before.median} ns`}</title></line>
        <line class="median" x1={at(after.median)} x2={at(after.median)} y1={HALF + 2} y2={2 * HALF + 2}><title>{`median after: ${after.median} ns`}</title></line>
      </svg>
      <p class="ends muted" aria-hidden="true"><span title={`${least} ns`}>{human(least, "ns")}</span><span title={`${most} ns`}>{human(most, "ns")}</span></p>
    </figure>
  );
}
