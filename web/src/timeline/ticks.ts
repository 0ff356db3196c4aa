// Marks of a ruler at 1, 2 or 5 times a power of ten, and times as text.
import { twoDigits } from "../format.ts";

export interface Ticks {
  step: number;
  times: number[];
}

// So many as have `leastPixels` between them.
export function ticks(from: number, to: number, pixels: number, leastPixels = 90): Ticks {
  const step = tickStep(((to - from) * leastPixels) / Math.max(pixels, 1));
  const times: number[] = [];
  for (let n = Math.ceil(from / step); n * step <= to; ++n) times.push(n * step);
  return { step, times };
}

export function tickStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  for (const factor of [1, 2, 5]) if (factor * power >= least) return factor * power;
  return 10 * power;
}

const units: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

// A time on the ruler: in the unit of the step's size, with the digits that tell neighbours apart.
export function tickText(time: number, step: number): string {
  const [size, unit] = units.find(([size]) => Math.max(Math.abs(time), step) >= size) ?? units[3];
  const digits = Math.max(0, Math.round(-Math.log10(step / size) + 0.499));
  return `${(time / size).toFixed(Math.min(digits, 9))} ${unit}`;
}


// Unix time in ns as a date and a time of day, UTC.
export function instantText(ns: bigint): string {
  const seconds = ns / 1_000_000_000n;
  const rest = ns - seconds * 1_000_000_000n;
  const date = new Date(Number(seconds) * 1000);
  if (Number.isNaN(date.getTime())) return `${ns} ns`;
  const day = `${date.getUTCFullYear()}-${twoDigits(date.getUTCMonth() + 1)}-${twoDigits(date.getUTCDate())}`;
  const time = `${twoDigits(date.getUTCHours())}:${twoDigits(date.getUTCMinutes())}:${twoDigits(date.getUTCSeconds())}`;
  return `${day} ${time}.${String(rest).padStart(9, "0")} UTC`;
}
