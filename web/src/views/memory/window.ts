// The part of the time, and the piece of memory, that the address of the view of memory names.
import { signal } from "@preact/signals";
import { linkTo, param, setParams } from "../../state.ts";
import type { Span } from "./data.ts";

export function chosenSpan(): Span | null {
  const from = param("from"), to = param("to");
  return /^-?\d{1,16}$/.test(from) && /^-?\d{1,16}$/.test(to) && Number(to) > Number(from) ? { from: Number(from), to: Number(to) } : null;
}

export const clearSpan = (): void => setParams({ from: "", to: "" }, { push: true });
export const setSpan = (span: Span): void => setParams({ from: String(Math.floor(span.from)), to: String(Math.ceil(span.to)) }, { push: true });

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

export const timelineAround = (rank: string, ns: number): string =>
  linkTo("timeline", { open: rank, from: String(Math.floor(ns - 100_000)), to: String(Math.ceil(ns + 100_000)) });
