// Steps as stacked columns side by side; drawing over some of them chooses them.
import { useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { human } from "../../format.ts";
import { Legend } from "../../widgets/legend.tsx";
import { STEP_PARTS, barParts, type StepSum } from "./step_parts.ts";

const HEIGHT = 180, WIDTH = 1000, MOST = 400;

export function StepColumns({ steps, label, onSelect, link }: {
  steps: StepSum[];
  label: string;
  onSelect?: (first: number, last: number) => void;
  link?: (step: StepSum) => string | undefined;
}) {
  const shown = steps.length > MOST ? steps.slice(0, MOST) : steps;
  const picture = useRef<SVGSVGElement>(null);
  const drag = useSignal<[number, number] | null>(null);
  const largest = Math.max(1, ...shown.map((step) => step.total));
  const width = WIDTH / Math.max(1, shown.length);
  const used = STEP_PARTS.filter((_, i) => shown.some((step) => step.parts[i]! > 0));
  const at = (event: PointerEvent): number => {
    const box = picture.current!.getBoundingClientRect();
    return Math.min(shown.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * shown.length)));
  };
  const end = () => {
    const range = drag.value;
    drag.value = null;
    if (range === null || range[0] === range[1]) return;
    onSelect?.(shown[Math.min(...range)]!.number, shown[Math.max(...range)]!.number);
  };
  const every = Math.ceil(shown.length / 20);
  return (
    <figure class="steps-chart">
      <Legend kinds={used.map(([, text, kind]) => [kind, text])} />
      <p class="muted axis" title={String(largest)}>{human(largest, "ns")}</p>
      <svg ref={picture} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${label}: ${saidOf(shown)}`}
        onPointerDown={onSelect && ((event) => (drag.value = [at(event), at(event)]))}
        onPointerMove={onSelect && ((event) => drag.value && (drag.value = [drag.value[0], at(event)]))}
        onPointerUp={onSelect && end} onPointerLeave={onSelect && end}>
        {shown.map((step, i) => <Column key={step.number} step={step} x={i * width} width={width} largest={largest} />)}
        {drag.value && drag.value[0] !== drag.value[1] && (
          <rect class="chosen" x={Math.min(...drag.value) * width} y={0} width={(Math.abs(drag.value[1] - drag.value[0]) + 1) * width} height={HEIGHT} />
        )}
      </svg>
      <div class="numbers" style={{ gridTemplateColumns: `repeat(${shown.length}, minmax(0, 1fr))` }}>
        {shown.map((step, i) => {
          const text = i % every === 0 ? String(step.number) : "";
          const to = text === "" ? undefined : link?.(step);
          return <span key={step.number}>{to ? <a href={to} aria-label={`Step ${step.number}`}>{text}</a> : text}</span>;
        })}
      </div>
      {shown.length < steps.length && <p class="muted">The first {MOST} of {steps.length} steps.</p>}
    </figure>
  );
}

function Column({ step, x, width, largest }: { step: StepSum; x: number; width: number; largest: number }) {
  let y = HEIGHT;
  return (
    <g>
      {barParts(step).map((part) => {
        const height = (part.value / largest) * HEIGHT;
        y -= height;
        return (
          <rect key={part.label} class={part.kind} x={(x + width * 0.05).toFixed(2)} y={y.toFixed(2)} width={(width * 0.9).toFixed(2)} height={height.toFixed(2)}>
            <title>{`Step ${step.number}, ${part.label}: ${human(part.value, "ns")} (${part.value} ns) of ${human(step.total, "ns")}`}</title>
          </rect>
        );
      })}
    </g>
  );
}

function saidOf(steps: StepSum[]): string {
  if (steps.length === 0) return "no steps";
  const totals = steps.map((step) => step.total);
  return `${steps.length} steps, ${human(Math.min(...totals), "ns")} to ${human(Math.max(...totals), "ns")}`;
}
