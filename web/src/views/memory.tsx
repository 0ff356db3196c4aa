// What holds the memory at its peak: the curve of a device, who holds what, every piece, and what outlives its step.
import { useMemo } from "preact/hooks";
import { allRows, pickRows } from "../data/rows.ts";
import type { Table } from "../data/table.ts";
import { useSpans, useStartNs, useTable, valueOf, type Loaded } from "../data/use.ts";
import { human, position } from "../format.ts";
import { parseFrame } from "../frames.ts";
import { goTo, linkTo, param } from "../state.ts";
import { stepsByRank } from "../timeline/steps.ts";
import type { TimeWindow } from "../timeline/time_window.ts";
import { Bars } from "../widgets/bars.tsx";
import type { CurveMark } from "../widgets/curve.tsx";
import { DataTable } from "../widgets/data_table.tsx";
import { Exact } from "../widgets/exact.tsx";
import { Empty, Ready } from "../widgets/loaded.tsx";
import { SourceLine } from "../widgets/source_link.tsx";
import { MemoryCurveOf } from "./memory/curve.tsx";
import { BEFORE, categoriesOf, curveOf, devicesOf, heldAt, holdersTable, largestPieces, linesOf, operatorsTable, operatorsThatHold, piecesWithLines, rowsOf, withLines, type Device, type OperatorHolds } from "./memory/data.ts";
import { chosenRow, pieceOf, Pieces } from "./memory/pieces.tsx";
import { chosenSpan, memoryLink, timelineAt } from "./memory/window.ts";

export function Memory() {
  const timeline = useTable("memory_timeline");
  const summary = useTable("device_summary");
  const startNs = useStartNs();
  return (
    <Ready of={timeline}>
      {(table) => {
        if (table.rows === 0) return <NoEvents />;
        const devices = devicesOf(table, valueOf(summary), startNs);
        const device = devices.find((each) => each.key === param("device")) ?? devices[0]!;
        return <OneDevice key={device.key} device={device} devices={devices} startNs={startNs} />;
      }}
    </Ready>
  );
}

function NoEvents() {
  return (
    <Empty>
      These traces hold no memory events: a capture on demand (kineto, <code>spotter trace</code>) does not record them.
      Record with <code>torch.profiler.profile(profile_memory=True, record_shapes=True, with_stack=True)</code>, and this view
      shows what holds the memory at its peak.
    </Empty>
  );
}

const ofDevice = (table: Loaded<Table>, device: string): Loaded<Table> =>
  useMemo(() => (table.state === "here" ? { state: "here", value: pickRows(table.value, rowsOf(table.value, device)) } : table), [table, device]);

function OneDevice({ device, devices, startNs }: { device: Device; devices: Device[]; startNs: bigint }) {
  const span = chosenSpan();
  const series = useTable("memory_timeline_series");
  const atPeak = ofDevice(useTable("memory_at_peak"), device.key);
  const byOperator = ofDevice(useTable("memory_by_operator"), device.key);
  const events = ofDevice(useTable("memory_events"), device.key);
  const leaks = ofDevice(useTable("memory_leaks"), device.key);
  const curve = useMemo(
    () => (series.state === "here" ? curveOf(series.value, device.key, startNs, span) : null),
    [series, device.key, startNs, span?.from, span?.to],
  );
  const peakNs = span === null ? device.peakNs : curve?.peakNs ?? Number.NaN;
  const held = useMemo(() => (events.state === "here" ? heldAt(events.value, allRows(events.value), peakNs, startNs) : []),
    [events, peakNs, startNs]);
  const { holders, operators } = useMemo(() => inSpan(events, held, span, curve?.peak ?? Number.NaN, startNs),
    [events, held, span?.from, span?.to, curve, startNs]);
  const rank = device.key.split("/")[0]!;
  const shownHolders = span === null ? atPeak : holders;
  const pieces = useMemo(() => (shownHolders.state === "here" && events.state === "here"
    ? largestPieces(events.value, held, shownHolders.value) : new Map<number, number>()), [events, held, shownHolders]);
  const toPiece = (row: number): string | undefined => (events.state !== "here" || !pieces.has(row) ? undefined
    : memoryLink({ piece: String(pieceOf(events.value, pieces.get(row)!, startNs).allocatedNs) }));
  const wanted = useMemo(() => (shownHolders.state === "here" && events.state === "here"
    ? piecesWithLines(events.value, pieces, shownHolders.value) : []), [events, pieces, shownHolders]);
  // A rank's spans are much: they are asked for only where they can tell a line.
  const spans = wanted.length > 0 ? valueOf(useSpans(rank === "" ? "none" : rank)) : null;
  const lines = useMemo(() => (spans !== null && events.state === "here"
    ? linesOf(events.value, wanted, spans, startNs) : new Map<number, string>()), [spans, events, wanted, startNs]);
  const lined = useMemo(() => (shownHolders.state === "here" ? withLines(shownHolders.value, lines) : null), [shownHolders, lines]);
  return (
    <>
      <section aria-labelledby="peak">
        <h2 id="peak">The peak</h2>
        <Sentence device={device} step={stepAt(useTable("steps", { all: true }), rank, device.peakNs, startNs)} lines={span === null ? lines : new Map()} atPeak={atPeak} holds={span === null && events.state === "here" ? operatorsThatHold(events.value, held) : []} />
        {devices.length > 1 && <DeviceChoice device={device} devices={devices} />}
        {curve === null && <Ready of={series}>{() => null}</Ready>}
      </section>
      {curve !== null && <MemoryCurveOf curve={curve} device={device} span={span} chosen={chosenMarks(events, startNs)} />}
      <section aria-labelledby="holders">
        <h2 id="holders">{span === null ? "Who holds it at the peak" : "Who holds it when most is in use in the chosen time"}</h2>
        <Ready of={shownHolders}>
          {(table) => (
            <>
              {span !== null && <p>The most in use between {position(span.from)} and {position(span.to)} is {curve === null || Number.isNaN(curve.peakNs) ? "not known" : <><Exact value={curve.peak} unit="bytes" />, at {position(curve.peakNs)}</>}.</p>}
              <Categories table={table} />
              {events.state === "here" && <ByOperator holds={operatorsThatHold(events.value, held)} />}
              <DataTable table={lined ?? table} from="memory_at_peak" columns={["bytes", "ratio", "category", "operator", "module", "source_line", "phase", "pieces"]} sort="-bytes" label="Who holds the memory" linkColumn="operator" link={toPiece}
                cell={(column, row) => (column.name === "source_line" && lines.has(row) ? <Line of={lines.get(row)!} /> : undefined)} />
              <p class="muted">Follow an operator to its largest piece: when it was allocated, and by which lines of the program.</p>
            </>
          )}
        </Ready>
      </section>
      <Pieces events={events} span={span} startNs={startNs} rank={rank} />
      <section aria-labelledby="operators">
        <h2 id="operators">Operators that allocate and release{span === null ? "" : ", in the chosen time"}</h2>
        <Ready of={span === null ? byOperator : operators}>
          {(table) => <DataTable table={table} from="memory_by_operator" columns={table.columns.map((column) => column.name).filter((name) => !["rank", "device_type", "device_id"].includes(name))}
            linkColumn="operator" link={(row) => (table.text("operator", row) === "others" ? undefined : linkTo("operators", { filter: table.text("operator", row) }))} />}
        </Ready>
      </section>
      <section aria-labelledby="leaks">
        <h2 id="leaks">What outlives its step</h2>
        <Ready of={leaks}>
          {(table) => table.rows === 0
            ? <Empty>Nothing that was allocated within a step outlived it by two more: no leak is seen, as far as the recording goes.</Empty>
            : (
              <>
                <p>Memory that was still held two steps after the one that allocated it. What is made once, such as the state of an optimizer in its first step, is here too.</p>
                <DataTable table={table} columns={["bytes", "allocations", "steps", "operator", "module", "phase", "stack", "retained_bytes"]} />
              </>
            )}
        </Ready>
      </section>
    </>
  );
}

function inSpan(events: Loaded<Table>, held: number[], span: TimeWindow | null, peak: number, startNs: bigint): { holders: Loaded<Table>; operators: Loaded<Table> } {
  if (span === null || events.state !== "here") return { holders: events, operators: events };
  const table = events.value;
  const rows = allRows(table);
  return {
    holders: { state: "here", value: holdersTable(table, held, peak) },
    operators: { state: "here", value: operatorsTable(table, rows, span, startNs) },
  };
}

function chosenMarks(events: Loaded<Table>, startNs: bigint): CurveMark[] {
  const row = events.state === "here" ? chosenRow(events.value, startNs) : -1;
  if (events.state !== "here" || row < 0) return [];
  const { allocatedNs, releasedNs, text } = pieceOf(events.value, row, startNs);
  return [{ ns: allocatedNs, ...(Number.isNaN(releasedNs) ? {} : { toNs: releasedNs }), label: text, kind: "annotation" }];
}

const Line = ({ of }: { of: string }) => <SourceLine frame={parseFrame(of)!} />;

// "": in none.
function stepAt(steps: Loaded<Table>, rank: string, ns: number, startNs: bigint): string {
  const own = steps.state === "here" ? stepsByRank(steps.value, startNs).get(rank || "none") : undefined;
  return String(own?.find((step) => step.start <= ns && ns < step.end)?.number ?? "");
}

function Sentence({ device, step, lines, atPeak, holds }: { device: Device; step: string; lines: ReadonlyMap<number, string>; atPeak: Loaded<Table>; holds: OperatorHolds[] }) {
  const share = device.peak / device.capacity;
  const where = `${device.label[0]!.toUpperCase()}${device.label.slice(1)}`;
  return (
    <p class="answer">
      {where} has at most <strong><Exact value={device.peak} unit="bytes" /></strong> in use
      {Number.isFinite(share) && <>, <Exact value={share} unit="ratio" /> of its <Exact value={device.capacity} unit="bytes" /></>}, at{" "}
      <a href={timelineAt(device.key.split("/")[0]!, device.peakNs, `peak of memory, ${human(device.peak, "bytes")}`)} title={`${device.peakNs} ns`}>{position(device.peakNs)}</a>
      {step !== "" && ` in step ${step}`}
      {device.peakReserved > device.peak && <>; its allocator holds up to <Exact value={device.peakReserved} unit="bytes" /></>}.
      {atPeak.state === "here" && atPeak.value.rows > 0 && <>{" "}<Holders table={atPeak.value} holds={holds} lines={lines} /></>}
    </p>
  );
}

function Holders({ table, holds, lines }: { table: Table; holds: OperatorHolds[]; lines: ReadonlyMap<number, string> }) {
  const categories = categoriesOf(table);
  const before = categories.find((each) => each.category === BEFORE);
  const since = categories.filter((each) => each !== before);
  const named = allRows(table)
    .filter((row) => table.text("operator", row) !== "" && table.text("operator", row) !== "others")
    .sort((a, b) => table.absolute("bytes", b) - table.absolute("bytes", a))[0];
  return (
    <>
      It is {categories.map((each, i) => <>{i > 0 && ", "}{each.category} <Exact value={each.bytes} unit="bytes" /></>)}.
      {holds[0] !== undefined && since.length > 0 && (
        <>{" "}Of what was allocated in the recording <strong>{holds[0].operator}</strong> holds the most: <Exact value={holds[0].bytes} unit="bytes" /> in {holds[0].pieces} pieces.</>
      )}
      {named !== undefined && table.text("module", named) !== "" && (
        <>{" "}The most in one place: <strong>{table.text("operator", named)}</strong> in <strong>{table.text("module", named)}</strong>, <Exact value={table.absolute("bytes", named)} unit="bytes" /> of {table.text("category", named).replace("_", " ")}{lines.has(named) && <>, allocated at <Line of={lines.get(named)!} /></>}.</>
      )}
      {before !== undefined && <>{" "}What was allocated before the recording began has no name: record from the start of the program to see it.</>}
    </>
  );
}

const MOST_OPERATORS = 6;

function ByOperator({ holds }: { holds: OperatorHolds[] }) {
  if (holds.length < 2) return null;
  const label = "held, of what was allocated in the recording";
  return (
    <Bars label="By operator" unit="bytes"
      bars={holds.slice(0, MOST_OPERATORS).map((each) => ({ label: each.operator, parts: [{ kind: "operator", label, value: each.bytes }] }))} />
  );
}

const MOST_BARS = 16;

function DeviceChoice({ device, devices }: { device: Device; devices: Device[] }) {
  const choose = (key: string) => linkTo("memory", { device: key });
  const most = Math.max(...devices.map((each) => each.peak));
  if (devices.length > MOST_BARS) {
    return (
      <label>Device{" "}
        <select value={device.key} onChange={(event) => goTo(choose(event.currentTarget.value))}>
          {devices.map((each) => <option key={each.key} value={each.key}>{each.label}: {human(each.peak, "bytes")}</option>)}
        </select>
      </label>
    );
  }
  return (
    <Bars label="Peak of each device" unit="bytes" most={most}
      bars={devices.map((each) => ({
        label: each.label,
        isChosen: each.key === device.key,
        link: choose(each.key),
        parts: [{ kind: "memory", label: "most in use", value: each.peak }],
      }))} />
  );
}

const KINDS: Record<string, string> = {
  parameters: "compute", buffers: "runtime", gradients: "communication", "optimizer state": "annotation", activations: "operator", temporaries: "memory",
  [BEFORE]: "idle",
};

function Categories({ table }: { table: Table }) {
  const parts = categoriesOf(table).map(({ category, bytes }) => ({ kind: KINDS[category] ?? "other", label: category, value: bytes }));
  return <Bars label="What it is for" unit="bytes" bars={[{ label: "in use", parts }]} />;
}
