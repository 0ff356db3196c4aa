// Every piece of memory: pointing at one marks its time on the curve, choosing one shows who called for it.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { allRows, pickRows } from "../../data/rows.ts";
import type { Table } from "../../data/table.ts";
import { timesOf } from "../../data/table_columns.ts";
import { useSpans, type Loaded } from "../../data/use.ts";
import { human } from "../../format.ts";
import { param } from "../../state.ts";
import type { TimeWindow } from "../../timeline/time_window.ts";
import { DataTable } from "../../widgets/data_table.tsx";
import { Exact } from "../../widgets/exact.tsx";
import { Empty, Ready } from "../../widgets/loaded.tsx";
import { SourceLink } from "../../widgets/source_link.tsx";
import { movedIn, stacksAt } from "./data.ts";
import { memoryLink, hoveredPiece, timelineAt, type Piece } from "./window.ts";

export function pieceOf(events: Table, row: number, startNs: bigint): Piece {
  return {
    allocatedNs: timesOf(events, "allocated_ns", startNs)(row),
    releasedNs: timesOf(events, "released_ns", startNs)(row),
    text: `${events.text("operator", row) || "no operator"}, ${human(events.absolute("bytes", row), "bytes")}`,
  };
}

// The row of the piece that the address names, by when it was allocated.
export function chosenRow(events: Table, startNs: bigint): number {
  if (param("piece") === "") return -1;
  const allocated = timesOf(events, "allocated_ns", startNs), wanted = Number(param("piece"));
  for (let row = 0; row < events.rows; ++row) if (allocated(row) === wanted) return row;
  return -1;
}

export function Pieces({ events, span, startNs, rank }: { events: Loaded<Table>; span: TimeWindow | null; startNs: bigint; rank: string }) {
  return (
    <section aria-labelledby="pieces">
      <h2 id="pieces">{span === null ? "Every piece" : "Pieces that are allocated or released in the chosen time"}</h2>
      <Ready of={events}>{(table) => <PieceTable events={table} span={span} startNs={startNs} rank={rank} />}</Ready>
    </section>
  );
}

function PieceTable({ events, span, startNs, rank }: { events: Table; span: TimeWindow | null; startNs: bigint; rank: string }) {
  const shown = useMemo(
    () => (span === null ? events : pickRows(events, movedIn(events, allRows(events), span, startNs))),
    [events, span?.from, span?.to, startNs],
  );
  const chosen = chosenRow(events, startNs);
  const allocated = timesOf(shown, "allocated_ns", startNs);
  return (
    <>
      <p class="muted">Point at a row to see its time on the curve; follow its size to see who called for it.</p>
      {chosen >= 0 && <Chosen events={events} row={chosen} startNs={startNs} rank={rank} />}
      <DataTable table={shown} columns={["bytes", "operator", "allocated_ns", "released_ns", "held_ns", "category", "phase", "module"]} sort="-bytes"
        label="Pieces of memory" chosen={chosenRow(shown, startNs)}
        onHover={(row) => (hoveredPiece.value = row === null ? null : pieceOf(shown, row, startNs))}
        linkColumn="bytes" link={(row) => (Number.isNaN(allocated(row)) ? undefined : memoryLink({ piece: String(allocated(row)) }))} />
    </>
  );
}

function Chosen({ events, row, startNs, rank }: { events: Table; row: number; startNs: bigint; rank: string }) {
  const piece = pieceOf(events, row, startNs);
  const operator = events.text("operator", row);
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => panel.current?.scrollIntoView({ block: "center" }), [row]);
  return (
    <div class="panel" ref={panel}>
      <h3>{operator || "No operator"}: <Exact value={events.absolute("bytes", row)} unit="bytes" /> <a href={memoryLink({ piece: "" })}>Close</a></h3>
      <p>
        {events.text("category", row)}{events.text("module", row) !== "" && `, in ${events.text("module", row)}`}; held for{" "}
        <Exact value={events.absolute("held_ns", row)} unit="ns" />. <a href={timelineAt(rank, piece.allocatedNs)}>Its allocation in the timeline</a>
        {!Number.isNaN(piece.releasedNs) && <>, <a href={timelineAt(rank, piece.releasedNs)}>its release</a></>}.
      </p>
      {operator === "" ? <Empty>It was allocated outside of operators: whose call that was is not known.</Empty>
        : <Callers ns={piece.allocatedNs} operator={operator} startNs={startNs} rank={rank} />}
    </div>
  );
}

function Callers({ ns, operator, startNs, rank }: { ns: number; operator: string; startNs: bigint; rank: string }) {
  const spans = useSpans(rank === "" ? "none" : rank);
  return (
    <Ready of={spans}>
      {(table) => {
        const stack = stacksAt(table, [{ ns, operator }], startNs)[0]!;
        if (stack.length === 0) return <Empty>No span of the host is around its allocation.</Empty>;
        return (
          <>
            <p>Called for by, the innermost first:</p>
            <ol class="stack">{stack.map((frame, i) => <li key={i} class={frame.kind === "python" ? "" : "muted"}><SourceLink frame={frame.name} /></li>)}</ol>
            {!stack.some((frame) => frame.kind === "python") && <p class="muted">Python functions were not recorded; <code>with_stack=True</code> adds them.</p>}
          </>
        );
      }}
    </Ready>
  );
}
