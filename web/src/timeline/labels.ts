// Labels of spans, shortened in the middle to the room there is.
import { shortName } from "../format.ts";

// What tells ProfilerStep#3 from others: it stays whole.
const NUMBER = /#?\d+$/;
const LEAST_HEAD = 2;

// "": there is no room for the end.
function shortened(text: string, letters: number, end: string): string {
  const short = shortName(text, letters);
  if (short.endsWith(end)) return short;
  const head = letters - 1 - end.length;
  return head < LEAST_HEAD ? "" : `${[...text].slice(0, head).join("")}…${end}`;
}

// Labels that fit in a width, with each name's width measured once.
export class Labels {
  private readonly widths = new Map<string, number>();
  private readonly measure: (text: string) => number;

  constructor(measure: (text: string) => number) {
    this.measure = measure;
  }

  fit(name: string, width: number): string {
    const text = shortName(name, 400);
    const whole = this.width(text);
    if (whole <= width) return text;
    const end = NUMBER.exec(text)?.[0] ?? "";
    for (let letters = Math.floor((text.length * width) / whole); letters >= 2; --letters) {
      const short = shortened(text, letters, end);
      if (short !== "" && this.width(short) <= width) return short;
    }
    return end.startsWith("#") && this.width(end) <= width ? end : "";
  }

  private width(text: string): number {
    const known = this.widths.get(text);
    if (known !== undefined) return known;
    if (this.widths.size > 20_000) this.widths.clear();
    const width = this.measure(text);
    this.widths.set(text, width);
    return width;
  }
}
