// Numbers as a person reads them, as the program's own text shows them (src/render/human.cc): three significant digits and a
// unit of the right size.
import type { Column, Role, Table, Unit } from "./data/table.ts";

type Step = [size: number, below: number, name: string];

const TIMES: Step[] = [[1, 999.5, "ns"], [1e3, 999.5, "µs"], [1e6, 999.5, "ms"], [1e9, 59.95, "s"], [60e9, Infinity, "min"]];
const BYTES: Step[] = [[1, 1023.5, "B"], [2 ** 10, 1023.5, "KiB"], [2 ** 20, 1023.5, "MiB"], [2 ** 30, 1023.5, "GiB"], [2 ** 40, Infinity, "TiB"]];
const WATTS: Step[] = [[1, 999.5, "W"], [1e3, Infinity, "kW"]];
const JOULES: Step[] = [[1, 999.5, "J"], [1e3, 999.5, "kJ"], [1e6, 999.5, "MJ"], [1e9, Infinity, "GJ"]];
const HERTZ: Step[] = [[1, 999.5, "Hz"], [1e3, 999.5, "kHz"], [1e6, 999.5, "MHz"], [1e9, Infinity, "GHz"]];

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ",");

function threeDigits(value: number): string {
  if (value < 9.995) return value.toFixed(2);
  if (value < 99.95) return value.toFixed(1);
  return grouped(value.toFixed(0));
}

function scaled(value: number, steps: Step[]): string {
  const size = Math.abs(value);
  const sign = value < 0 ? "-" : "";
  const [, below, name] = steps[0]!;
  if (size < below && Number.isInteger(size)) return `${sign}${size} ${name}`;
  const step = steps.find(([unit, most]) => size / unit < most) ?? steps[steps.length - 1]!;
  return `${sign}${threeDigits(size / step[0])} ${step[2]}`;
}

// Three significant digits without zeros at the end.
function short(value: number): string {
  const text = value.toPrecision(3);
  return text.includes("e") ? String(Number(text)) : text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

export function human(value: number, unit: Unit): string {
  if (!Number.isFinite(value)) return "-";
  switch (unit) {
    case "none":
      return Number.isInteger(value) ? String(value) : human(value, "count");
    case "count":
      if (Number.isInteger(value)) return grouped(String(value));
      return Math.abs(value) < 999.5 ? short(value) : grouped(value.toFixed(0));
    case "ns":
      return scaled(value, TIMES);
    case "bytes":
      return scaled(value, BYTES);
    case "bytes_per_s":
      return `${scaled(value, BYTES)}/s`;
    case "ratio":
      return `${(value * 100).toFixed(1)} %`;
    case "celsius":
      return `${value.toFixed(0)} °C`;
    case "watts":
      return scaled(value, WATTS);
    case "joules":
      return scaled(value, JOULES);
    case "hertz":
      return scaled(value, HERTZ);
    case "per_s":
      return `${human(value, "count")} /s`;
  }
}

export const humanNs = (ns: number): string => human(ns, "ns");

export const twoDigits = (value: number): string => String(value).padStart(2, "0");

// Of Unix time, where the reader is.
export function clockTime(unixNs: number, withSeconds = true): string {
  const at = new Date(unixNs / 1e6);
  return `${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}${withSeconds ? `:${twoDigits(at.getSeconds())}` : ""}`;
}

// With its day, for what may be long ago.
export function clockDate(unixNs: number): string {
  const at = new Date(unixNs / 1e6);
  return `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())} ${clockTime(unixNs)}`;
}

// On an axis: where a day begins, the day.
export function clockTick(unixNs: number): string {
  const time = clockTime(unixNs, unixNs % 60e9 !== 0);
  return time === "00:00" ? clockDate(unixNs).slice(5, 10) : time;
}

// Seconds with microseconds: positions are compared with each other, so all digits stay. Of a time relative to a start.
export function position(ns: number): string {
  if (Number.isNaN(ns)) return "not known";
  const us = Math.round(Math.abs(ns) / 1000);
  const seconds = Math.floor(us / 1e6);
  return `${ns < 0 ? "-" : ""}${seconds}.${String(us - seconds * 1e6).padStart(6, "0")} s`;
}

// A cell as it is shown; positions in time count from `startNs`, the job's first span.
export function cellText(table: Table, column: Column, row: number, startNs: bigint): string {
  if (table.isNull(column, row)) return "";
  switch (column.type) {
    case "text":
      return printable(table.text(column, row));
    case "flag":
      return column.values[row] ? "yes" : "no";
    case "integer":
    case "real": {
      const value = table.number(column, row);
      if (isPosition(column)) return position(value + Number(column.base - startNs));
      // Identifiers keep all digits.
      if (column.unit === "none" && column.type === "integer") return table.exact(column, row);
      return human(value + Number(column.base), column.unit);
    }
  }
}

export const isPosition = (column: { role: Role; unit: Unit }): boolean => column.role === "time" && column.unit === "ns";

// Characters that would not be seen, or would turn the text around them, as their numbers.
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (letter) =>
    letter === "\n" || letter === "\t" ? " " : `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

// A kernel's name without what tells nothing, its middle left out beyond `most` letters.
export const shortName = (name: string, most = 60): string => withoutMiddle([...plainName(name)], most);

function plainName(name: string): string {
  const text = printable(name);
  const plain = /[(<]/.test(text) ? text.replace(/^void /, "") : text;
  return plain.replaceAll("at::native::", "").replaceAll("(anonymous namespace)::", "");
}

function withoutMiddle(letters: string[], most: number): string {
  if (letters.length <= most) return letters.join("");
  const head = Math.floor((most * 2) / 3);
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (most - 1 - head)).join("")}`;
}

// Short names by which each can be told from the others: of those whose short names would be equal the beginning, and what
// follows from where they differ on.
export function shortNames(names: readonly string[], most = 60): Map<string, string> {
  const alike = new Map<string, string[]>();
  for (const name of new Set(names)) {
    const short = shortName(name, most);
    alike.set(short, [...(alike.get(short) ?? []), name]);
  }
  const shorts = new Map<string, string>();
  for (const [short, group] of alike) {
    const letters = group.map((name) => [...plainName(name)]);
    const difference = group.length > 1 ? firstDifference(letters) : 0;
    const head = Math.floor(most / 3);
    group.forEach((name, i) => {
      const from = Math.max(head, difference - Math.floor(most / 4));
      shorts.set(name, group.length === 1 ? short : `${letters[i]!.slice(0, head).join("")}…${withoutMiddle(letters[i]!.slice(from), most - head - 1)}`);
    });
  }
  return shorts;
}

function firstDifference(texts: string[][]): number {
  const [first] = texts;
  for (let at = 0; at < first!.length; ++at) if (texts.some((text) => text[at] !== first![at])) return at;
  return first!.length;
}
