// The part of the time, and the piece of memory, that the address of the view of memory names.
import { signal } from "@preact/signals";
import { linkTo, param, setParams } from "../../state.ts";
import { marksText } from "../../timeline/marks.ts";
import { toText, type TimeWindow } from "../../timeline/time_window.ts";
import { timelineAround } from "../shared/timeline_around.ts";

export function chosenSpan(): TimeWindow | null {
  const from = param("from"), to = param("to");
  return /^-?\d{1,16}$/.test(from) && /^-?\d{1,16}$/.test(to) && Number(to) > Number(from) ? { from: Number(from), to: Number(to) } : null;
}

export const clearSpan = (): void => setParams({ from: "", to: "" }, { push: true });
export const setSpan = (span: TimeWindow): void => setParams(toText(span), { push: true });

export interface Piece {
  allocatedNs: number; // NaN: before the recording
  releasedNs: number; // NaN: still held at its end
  text: string;
}

// The one that the pointer is at, in the table of pieces.
export const hoveredPiece = signal<Piece | null>(null);

// To the memory view with the same device and time.
export const memoryLink = (params: Record<string, string>): string =>
  linkTo("memory", { device: param("device"), from: param("from"), to: param("to"), piece: param("piece"), ...params });

export const timelineAt = (rank: string, ns: number, mark = ""): string =>
  timelineAround(rank, ns, ns, 100_000, mark === "" ? {} : { marks: marksText([{ from: ns, to: ns, text: mark }]) });
