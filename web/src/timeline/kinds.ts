// The kinds of spans: their codes in lanes, and their colours in both themes.

export const kindNames = [
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

export const otherKind = kindNames.indexOf("other");
export const communicationKind = kindNames.indexOf("communication");

export function kindCode(name: string): number {
  const code = kindNames.indexOf(name as (typeof kindNames)[number]);
  return code < 0 ? otherKind : code;
}

const fills: Record<string, string> = {
  compute: "#0072B2",
  communication: "#D55E00",
  memory: "#E69F00",
  operator: "#009E73",
  runtime: "#56B4E9",
  annotation: "#CC79A7",
  step: "#CC79A7",
};
const grey = "#767676";
// What has less than 3 : 1 on white gets an edge that has it.
const lightEdges: Record<string, string> = { memory: "#A65F00", runtime: "#2B7DB0" };
const hatched = "#FFB27A"; // of communication, so that colour is not all that tells it

export const kindColour = (kind: number): string => fills[kindNames[kind]] ?? grey;

// Text that reads on a kind's colour.
export const labelColour = (kind: number): string => (kindNames[kind] === "compute" ? "#FFFFFF" : "#000000");

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
  const count = kindNames.length;
  const paint = { fill: new Uint32Array(count), edge: new Uint32Array(count), hatch: new Uint32Array(count) };
  kindNames.forEach((name, kind) => {
    paint.fill[kind] = pixel(kindColour(kind));
    if (theme === "light" && lightEdges[name]) paint.edge[kind] = pixel(lightEdges[name]);
  });
  paint.hatch[communicationKind] = pixel(hatched);
  return paint;
}

// One colour for all kinds: what a search did not find.
export function plainPaint(colour: string): Paint {
  const count = kindNames.length;
  return {
    fill: new Uint32Array(count).fill(pixel(colour)),
    edge: new Uint32Array(count),
    hatch: new Uint32Array(count),
  };
}
