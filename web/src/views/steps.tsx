// Which step is odd, on which rank.
import { useMemo } from "preact/hooks";
import { ranksIn, rowsOfRank } from "../data/rows.ts";
import type { Table } from "../data/table.ts";
import { useJob, useStartNs, useTable, valueOf } from "../data/use.ts";
import { human, printable } from "../format.ts";
import { chosenRank, here, linkTo, param } from "../state.ts";
import { Bars } from "../widgets/bars.tsx";
import { Choice, RankChoice, rankName } from "../widgets/choice.tsx";
import { DataTable } from "../widgets/data_table.tsx";
import { HeatMap } from "../widgets/heat_map.tsx";
import { Empty, Ready } from "../widgets/loaded.tsx";
import { StepColumns } from "./shared/step_columns.tsx";
import { STEP_PARTS, barParts, stepSums } from "./shared/step_parts.ts";
import { stepWindow, windowOf } from "./shared/step_windows.ts";
import { faultOf, levelsOf, mostDifferent, oddest, stepGrid, stepLengths, type Levels, type Oddity, type StepGrid, type StepsFault } from "./steps/data.ts";

const MOST_RANKS = 48, MOST_STEPS = 200, MOST_BARS = 40;
const MEASURES: [string, string][] = [["dur_ns", "length"], ["device_busy_ns", "device busy"]];

export function Steps() {
  const marks = useTable("steps"), parts = useTable("step_breakdown");
  return (
    <Ready of={marks}>
      {(table) => table.rows === 0 ? (
        <Empty>
          No steps were marked. Call the profiler's <code>step()</code> at the end of each pass of the loop, or put each pass into{" "}
          <code>with record_function("step")</code>; what is here is then by step. What ran all the same is in the{" "}
          <a href={linkTo("timeline")}>timeline</a>.
        </Empty>
      ) : (
        <Ready of={parts}>{(breakdown) => <Both marks={table} parts={breakdown} />}</Ready>
      )}
    </Ready>
  );
}

const ALL_MEASURES: [string, string][] = [...MEASURES, ...STEP_PARTS.map(([name, text]): [string, string] => [name, text])];

function Both({ marks, parts }: { marks: Table; parts: Table }) {
  const gridOf = (measure: string) => (marks.has(measure) ? stepGrid(marks, measure) : stepGrid(parts, measure));
  // Ranks that wait for each other have steps of one length: then the kernels tell more.
  const usual = useMemo(() => {
    const telling = ["dur_ns", "kernel_ns"].find((measure) => oddest(gridOf(measure)) !== null);
    return telling ?? "dur_ns";
  }, [marks, parts]);
  const measure = ALL_MEASURES.find(([each]) => each === param("show"))?.[0] ?? usual;
  const name = ALL_MEASURES.find(([each]) => each === measure)![1];
  const grid = useMemo(() => gridOf(measure), [marks, parts, measure]);
  const odd = useMemo(() => oddest(grid), [grid]);
  const findings = valueOf(useTable("findings", { all: true }));
  const fault = findings === null ? null : faultOf(findings, grid.ranks);
  // A rank that nobody chose is the one that is said to be at fault, or odd, else the first.
  const rank = chosenRank() || fault?.rank || (odd !== null && odd.rank >= 0 ? grid.ranks[odd.rank]! : ranksIn(marks)[0]!);
  return (
    <>
      {fault !== null && <Fault of={fault} />}
      <Said grid={grid} odd={odd} name={name} marks={marks} />
      <p class="choices">
        <Choice name="show" label="Show" value={measure} options={ALL_MEASURES} />
        <RankChoice ranks={ranksIn(marks)} all={false} value={rank} />
      </p>
      <StepMap grid={grid} name={name} marks={marks} rank={rank} />
      <OfRank marks={marks} parts={parts} rank={rank} />
    </>
  );
}

// Who makes the steps long is not always whose steps are the longest.
function Fault({ of: { said, ranks, rank } }: { of: StepsFault }) {
  return (
    <p class="answer">
      <span class="flag" aria-hidden="true">⚑ </span><strong>{printable(said)}</strong>
      {ranks !== "" && rank === undefined && ` ${/^\d+$/.test(ranks) ? `Rank ${ranks} is` : `Ranks ${ranks} are`} not among those that are shown.`}
    </p>
  );
}

// The answer in a sentence.
function Said({ grid, odd, name, marks }: { grid: StepGrid; odd: Oddity | null; name: string; marks: Table }) {
  const job = useJob();
  const levels = useMemo(() => levelsOf(stepLengths(grid)), [grid]);
  const two = levels !== null && <TwoLevels levels={levels} name={name} />;
  if (odd === null) return <p class="answer">{two}No step and no rank stands out by {name}: all are within 2 % of the median{two && " of their kind"}.</p>;
  const rank = odd.rank < 0 ? "" : grid.ranks[odd.rank]!, step = odd.step < 0 ? "" : grid.numbers[odd.step]!;
  const at = job.state === "here" ? stepWindow(marks, rank === "none" ? "" : rank, step, job.value.startNs) : null;
  const what = step === "" ? `${rankName(rank)} in its steps` : rank === "" ? `step ${step}${grid.ranks.length > 1 ? " on all ranks" : ""}` : `step ${step} of ${rankName(rank)}`;
  return (
    <p class="answer">
      {two}Stands out by {name}: <strong>{what}</strong>, <span title={`${odd.value} ns`}>{human(odd.value, "ns")}</span>, where the median{two && odd.step >= 0 && " of its kind"} is{" "}
      <span title={`${odd.typical} ns`}>{human(odd.typical, "ns")}</span> (+{((odd.value / odd.typical - 1) * 100).toFixed(0)} %).{" "}
      {param("show") === "" && name !== "length" && "The steps are of one length, as ranks wait for each other. "}
      {at !== null && <a href={linkTo("timeline", { ...(rank === "" || rank === "none" ? {} : { ranks: rank }), ...at.params })}>Timeline</a>}
    </p>
  );
}

function TwoLevels({ levels, name }: { levels: Levels; name: string }) {
  const [low, high] = levels.typical.map((ns) => <strong title={`${ns} ns`}>{human(ns, "ns")}</strong>);
  const of = name === "length" ? "" : ` by ${name}`;
  if (levels.alternate) return <>Steps alternate{of} between about {low} and about {high}. </>;
  return <>Steps are of two kinds{of}: {levels.count[0]} of about {low}, {levels.count[1]} of about {high}. </>;
}

function StepMap({ grid, name, marks, rank }: { grid: StepGrid; name: string; marks: Table; rank: string }) {
  const shown = mostDifferent(grid, MOST_RANKS, rank);
  const steps = grid.numbers.slice(0, MOST_STEPS);
  const start = useStartNs();
  const marked = param("step");
  const windows = stepGrid(marks, "dur_ns");
  const places = new Map(windows.ranks.map((each, place) => [each, place]));
  const columns = new Map(windows.numbers.map((each, place) => [each, place]));
  return (
    <section aria-label="Steps of all ranks">
      <HeatMap label={`${name[0]!.toUpperCase()}${name.slice(1)} by rank and step`} unit="ns"
        rows={shown.map((row) => rankName(grid.ranks[row]!))} columns={steps.map((step) => (steps.length > 24 ? step : `step ${step}`))}
        rowLink={(row) => here({ rank: grid.ranks[shown[row]!]! })} chosenRow={shown.findIndex((row) => grid.ranks[row] === rank)}
        cell={(row, column) => {
          const number = grid.numbers[column]!, of = grid.ranks[shown[row]!]!;
          const value = grid.value(shown[row]!, column);
          if (Number.isNaN(value)) return { value };
          const mark = windows.row(places.get(of) ?? -1, columns.get(number) ?? -1);
          const link = mark < 0 ? undefined : linkTo("timeline", { ...(of === "none" ? {} : { ranks: of }), ...windowOf(marks, mark, start).params });
          return { value, link, isMarked: of === rank && number === marked };
        }} />
      <p class="muted">
        A cell leads to the timeline of its rank and step; a rank's name shows its steps below.
        {shown.length < grid.ranks.length && ` ${shown.length} of ${grid.ranks.length} ranks, the one below and those that differ most from the others.`}
        {steps.length < grid.numbers.length && ` The first ${MOST_STEPS} of ${grid.numbers.length} steps.`}
      </p>
    </section>
  );
}

function OfRank({ marks, parts, rank }: { marks: Table; parts: Table; rank: string }) {
  const rows = rowsOfRank(parts, rank);
  const sums = stepSums(parts, rows);
  const start = useStartNs();
  const link = (step: number) => {
    const at = stepWindow(marks, rank === "none" ? "" : rank, String(step), start);
    return at === null ? undefined : linkTo("timeline", { ...(rank === "none" ? {} : { ranks: rank }), ...at.params });
  };
  const marked = param("step");
  return (
    <section aria-labelledby="of-rank">
      <h2 id="of-rank">What the steps of {rankName(rank)} are made of</h2>
      {sums.length === 0 ? <Empty>What its steps are made of is not known.</Empty> : sums.length > MOST_BARS ? (
        <StepColumns steps={sums} label={`Steps of ${rankName(rank)}`} link={(step) => link(step.number)} />
      ) : (
        <Bars unit="ns" label={`Steps of ${rankName(rank)}`} bars={sums.map((step) => ({
          label: `step ${step.number}`, parts: barParts(step), link: link(step.number), isChosen: String(step.number) === marked,
        }))} />
      )}
      <p class="muted">Each moment counts for the first of these that is so. <a href={linkTo("critical-path")}>What the length waits for</a></p>
      <DataTable table={parts} sortKey="sort" filterKey="filter" label="Parts of each step" />
    </section>
  );
}
