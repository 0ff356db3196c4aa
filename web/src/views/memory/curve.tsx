// The memory of a device over time, with its peak, its capacity and what is pointed at; dragging over it chooses a time.
import { useMemo } from "preact/hooks";
import { human, humanNs, position } from "../../format.ts";
import { linkTo, param, setParam } from "../../state.ts";
import type { TimeWindow } from "../../timeline/time_window.ts";
import { Curve, type CurveMark } from "../../widgets/curve.tsx";
import type { Device, MemoryCurve } from "./data.ts";
import { clearSpan, hoveredPiece, setSpan } from "./window.ts";

const FULL = 0.5; // from this part of the capacity on it is in the picture unasked

export function MemoryCurveOf({ curve, device, span, chosen }: { curve: MemoryCurve; device: Device; span: TimeWindow | null; chosen: CurveMark[] }) {
  const hasCapacity = Number.isFinite(device.capacity);
  const asked = param("capacity");
  const showsCapacity = hasCapacity && (asked === "" ? device.peak > device.capacity * FULL : asked === "1");
  const series = useMemo(
    () => [
      { label: "in use", kind: "compute", values: curve.allocated },
      ...(curve.reserved.some((value) => value > 0) ? [{ label: "held by the allocator", kind: "memory", values: curve.reserved }] : []),
      ...(showsCapacity ? [{ label: "the device has", kind: "loss", values: curve.x.map(() => device.capacity) }] : []),
    ],
    [curve, showsCapacity, device.capacity],
  );
  const piece = hoveredPiece.value;
  const hasPeak = !Number.isNaN(curve.peakNs); // not where the chosen time is before the first event
  const marks: CurveMark[] = [...(hasPeak ? [{ ns: curve.peakNs, label: `peak ${human(curve.peak, "bytes")}`, kind: "text" }] : []), ...chosen];
  if (piece !== null && !Number.isNaN(piece.allocatedNs) && !Number.isNaN(piece.releasedNs))
    marks.push({ ns: piece.allocatedNs, toNs: piece.releasedNs, label: piece.text, kind: "link" });
  else if (piece !== null) marks.push({ ns: Number.isNaN(piece.allocatedNs) ? piece.releasedNs : piece.allocatedNs, label: piece.text, kind: "link" });
  return (
    <>
      <div class="pinned">
        <Curve label={`Memory in use on ${device.label} over time${hasPeak ? `: at most ${human(curve.peak, "bytes")}, at ${position(curve.peakNs)}` : ""}`}
          x={curve.x} series={series} unit="bytes" height={220} stepped fromZero marks={marks}
          onSelect={(from, to) => setSpan({ from, to })} />
      </div>
      <p class="tools">
        {span === null ? (
          <span class="muted">Drag over the curve to look at a part of the time: the tables below follow.</span>
        ) : (
          <>
            <span title={`${span.from} to ${span.to} ns`}>{position(span.from)} to {position(span.to)} ({humanNs(span.to - span.from)})</span>
            <button type="button" onClick={clearSpan}>Whole recording</button>
          </>
        )}
        <TimeForm curve={curve} span={span} />
        {hasCapacity && (
          <label><input type="checkbox" checked={showsCapacity} onChange={(event) => setParam("capacity", event.currentTarget.checked ? "1" : "0")} /> Up to the device's {human(device.capacity, "bytes")}</label>
        )}
        <a href={asTable(device)}>Show as table</a>
        {curve.isThinned && <span class="muted">More points than can be drawn: each part of the time shows its first, least, most and last.</span>}
      </p>
    </>
  );
}

// All rows that the curve of this device is drawn from.
function asTable(device: Device): string {
  const [rank, type, number] = device.key.split("/");
  const filter = `${rank === "" ? "" : `rank:${rank} `}device_type:${type} device_id:${number}`;
  return linkTo("tables", { table: "memory_timeline_series", filter });
}

// For who has no pointer to drag with.
function TimeForm({ curve, span }: { curve: MemoryCurve; span: TimeWindow | null }) {
  const first = span?.from ?? curve.x[0] ?? 0, last = span?.to ?? curve.x.at(-1) ?? 0;
  const apply = (event: Event & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const from = Number(data.get("from")) * 1e6, to = Number(data.get("to")) * 1e6;
    if (to > from) setSpan({ from, to });
  };
  return (
    <details class="menu">
      <summary>Choose a time</summary>
      <form onSubmit={apply} key={`${first} ${last}`}>
        <label>From, in ms <input name="from" size={12} inputMode="decimal" defaultValue={String(Math.floor(first) / 1e6)} /></label>
        <label>To, in ms <input name="to" size={12} inputMode="decimal" defaultValue={String(Math.ceil(last) / 1e6)} /></label>
        <button type="submit">Show</button>
      </form>
    </details>
  );
}
