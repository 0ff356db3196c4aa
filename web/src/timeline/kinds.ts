// The kinds of spans: their codes in lanes, and their colours in both themes.

export const KIND_NAMES = [
  "compute",
  "communication",
  "memory",
  "operator",
  "runtime",
  "annotation",
  "step",
  "python",
  "synchronization",
  "overhead",
  "other",
] as const;

export type Theme = "light" | "dark";

export const OTHER_KIND = KIND_NAMES.indexOf("other");
export const COMMUNICATION_KIND = KIND_NAMES.indexOf("communication");

export function kindCode(name: string): number {
  const code = KIND_NAMES.indexOf(name as (typeof KIND_NAMES)[number]);
  return code < 0 ? OTHER_KIND : code;
}

const fills: Record<string, string> = {
  compute: "#0072B2",
  communication: "#D55E00",
  memory: "#E69F00",
  operator: "#009E73",
  runtime: "#56B4E9",
  annotation: "#CC79A7",
  step: "#EBC8DB",
};
const GREY = "#767676";
// What has less than 3 : 1 on white gets an edge that has it.
const LIGHT_EDGES: Record<string, string> = { memory: "#A65F00", runtime: "#2B7DB0", step: "#A8557F" };
const HATCHED = "#FFB27A"; // of communication, so that colour is not all that tells it

export const kindColour = (kind: number): string => fills[KIND_NAMES[kind]] ?? GREY;

// Text that reads on a kind's colour.
export const labelColour = (kind: number): string => (KIND_NAMES[kind] === "compute" ? "#FFFFFF" : "#000000");

// A colour as a pixel of ImageData holds it, in little endian.
export function pixel(colour: string): number {
  const rgb = parseInt(colour.slice(1), 16);
  return (0xff000000 | ((rgb & 0xff) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
}

// How spans of each kind are filled; an edge or a hatch of 0 is none.
export interface Paint {
  fill: Uint32Array;
  edge: Uint32Array;
  hatch: Uint32Array;
}

export function kindPaint(theme: Theme): Paint {
  const count = KIND_NAMES.length;
  const paint = { fill: new Uint32Array(count), edge: new Uint32Array(count), hatch: new Uint32Array(count) };
  KIND_NAMES.forEach((name, kind) => {
    paint.fill[kind] = pixel(kindColour(kind));
    if (theme === "light" && LIGHT_EDGES[name]) paint.edge[kind] = pixel(LIGHT_EDGES[name]);
  });
  paint.hatch[COMMUNICATION_KIND] = pixel(HATCHED);
  return paint;
}

// One colour for all kinds: what a search did not find.
export function plainPaint(colour: string): Paint {
  const count = KIND_NAMES.length;
  return {
    fill: new Uint32Array(count).fill(pixel(colour)),
    edge: new Uint32Array(count),
    hatch: new Uint32Array(count),
  };
}
