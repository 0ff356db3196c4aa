// The small charts of one host and of each of its GPUs.
import { useMemo } from "preact/hooks";
import type { Host } from "../../data/agents.ts";
import type { PointLine } from "../../data/points.ts";
import { clockDate } from "../../format.ts";
import { linkTo, param, setParams } from "../../state.ts";
import { Curve, type CurveMark } from "../../widgets/curve.tsx";
import { Exact } from "../../widgets/exact.tsx";
import { Empty } from "../../widgets/loaded.tsx";
import { Points } from "../../widgets/points.tsx";
import { chartsOf, gpusOf, latest, PANELS, timesOf, type Chart, type Span } from "./data.ts";
import type { HostSamples } from "./samples.ts";

const KINDS = ["compute", "communication"];

// `panel`: of this metric alone; empty: of all.
export function HostCharts({ host, panel, samples, span }: { host: Host; panel: string; samples: HostSamples | undefined; span: Span }) {
  const tables = samples?.tables;
  const { charts, unknown } = useMemo(() => chartsOf(tables ?? [], span, PANELS.filter((each) => panel === "" || each.name === panel)), [tables, panel, span.fromNs, span.stepNs]);
  const x = useMemo(() => timesOf(span), [span.fromNs, span.stepNs]);
  if (samples === undefined) return null;
  const marks = marksOf(samples, span);
  const draw = (of: string) => charts.filter((chart) => chart.of === of).map((chart) => (
    <SmallChart key={chart.panel} chart={chart} x={x} marks={marks} host={host.name} />
  ));
  return (
    <section class="host-charts" aria-label={`Charts of ${host.name}`}>
      <h2>{host.name}</h2>
      {samples.problem !== "" && <Empty>{samples.problem}</Empty>}
      {marks.some((mark) => mark.kind === "annotation") && <p class="muted">Dashed lines: when a capture began.</p>}
      {charts.length > 0 && <div class="small-charts">{draw("")}</div>}
      {gpusOf(samples.tables).filter((gpu) => charts.some((chart) => chart.of === gpu.of)).map((gpu) => (
        <section key={gpu.of} aria-label={`GPU ${gpu.of} of ${host.name}`}>
          <h3>
            GPU {gpu.of}{gpu.title && <span class="muted"> · {gpu.title}</span>}
            {gpu.job && <> · <a href={linkTo("live", { of: gpu.job })}>{gpu.job}</a></>}{gpu.rank && ` rank ${gpu.rank}`}
          </h3>
          <div class="small-charts">{draw(gpu.of)}</div>
        </section>
      ))}
      {charts.length > 0 && <Points label={`Samples of ${host.name}`} x={x} lines={() => charts.flatMap(linesOf)} />}
      {samples.problem === "" && unknown.length > 0 && <p class="muted">Not known here: {unknown.join(", ")}.</p>}
    </section>
  );
}

const linesOf = (chart: Chart): PointLine[] =>
  chart.lines.map((line) => ({ ...line, of: chart.of === "" ? chart.title : `${chart.title}, GPU ${chart.of}`, unit: chart.unit }));

function marksOf(samples: HostSamples, span: Span): CurveMark[] {
  const marks: CurveMark[] = samples.captures.filter((capture) => capture.beganNs >= span.fromNs)
    .map((capture) => ({ ns: capture.beganNs, label: "", kind: "annotation" }));
  const from = Number(param("from")), to = Number(param("to"));
  if (to > from) marks.push({ ns: from, toNs: to, label: "", kind: "selection" });
  return marks;
}

function SmallChart({ chart, x, marks, host }: { chart: Chart; x: Float64Array; marks: CurveMark[]; host: string }) {
  const series = useMemo(() => chart.lines.map((line, i) => ({ ...line, kind: line.isLimit ? "other" : KINDS[i]! })), [chart]);
  const isRatio = chart.unit === "ratio";
  return (
    <figure class="small-chart">
      <figcaption>
        {chart.title}{" "}
        {chart.lines.map((line) => <span key={line.label} class="now">{line.label} <Exact value={latest(line.values)} unit={chart.unit} /></span>)}
      </figcaption>
      <Curve label={`${chart.title}${chart.of === "" ? "" : ` of GPU ${chart.of}`} of ${host} from ${clockDate(x[0]!)} on`}
        x={x} series={series} unit={chart.unit} height={104} fromZero clock marks={marks} {...(isRatio ? { most: 1 } : {})}
        onSelect={(fromNs, toNs) => setParams({ from: fromNs.toFixed(0), to: toNs.toFixed(0) })} />
    </figure>
  );
}
