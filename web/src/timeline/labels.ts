// Labels of spans, shortened in the middle to the room there is.
import { shortName } from "../format.ts";

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
    let letters = Math.floor((text.length * width) / whole);
    let short = shortName(text, letters);
    while (letters >= 2 && this.width(short) > width) short = shortName(text, --letters);
    return letters < 2 ? "" : short;
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
