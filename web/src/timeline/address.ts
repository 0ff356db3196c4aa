// The selection and lists of lanes as the address has them.

export const listOf = (text: string): string[] =>
  text.split(",").filter((name) => name !== "" && name !== "-");

// An empty list is "-": absent is what nobody chose.
export const listText = (names: Iterable<string>): string => [...names].join(",") || "-";

export interface SelectionAddress {
  rank: string;
  event: number; // -1: of a span that is no event
  start?: number;
  duration?: number;
}

export function selectionText(rank: string, event: number, start: number, duration: number): { sel: string; at: string } {
  return { sel: `${rank}:${event}`, at: `${start}+${duration}` };
}

export function parseSelection(sel: string, at: string): SelectionAddress | undefined {
  const place = /^([^:]+):(-?\d{1,10})$/.exec(sel);
  if (place === null) return undefined;
  const time = /^(-?\d{1,16})[+ ](\d{1,16})$/.exec(at);
  return {
    rank: place[1],
    event: Number(place[2]),
    ...(time === null ? {} : { start: Number(time[1]), duration: Number(time[2]) }),
  };
}
