// What the user has chosen, as the address has it. The window of time is kept beside it, as it moves more often than an
// address may be written, and follows when the address is changed by hand.
import { computed, signal } from "@preact/signals";
import { param, setParams } from "../state.ts";
import { listOf, listText, parseSelection, selectionText } from "./address.ts";
import { type Mark, marksText, parseMarks } from "./marks.ts";
import { fromText, type TimeWindow, toText, within } from "./time_window.ts";

const BETWEEN_WRITES_MS = 250;
const BETWEEN_PLACES_MS = 700;

export class Choices {
  // What the user moved to; undefined is the whole job.
  readonly moved = signal<TimeWindow | undefined>(undefined);
  readonly pin = computed(() => listOf(param("pin")));
  readonly hide = computed(() => new Set(listOf(param("hide"))));
  readonly marks = computed(() => parseMarks(param("marks")));
  readonly query = computed(() => param("q"));
  readonly selection = computed(() => parseSelection(param("sel"), param("at")));
  // The collective that ranks are aligned on. "1" is what is selected: other views can write no more.
  readonly anchor = computed(() => parseSelection(param("align") === "1" ? param("sel") : param("align"), ""));
  private written: { from: string; to: string } = { from: "", to: "" };
  private selectedAt = Number.NEGATIVE_INFINITY;
  private timer: ReturnType<typeof setTimeout> | undefined;

  open(fallback: readonly string[]): Set<string> {
    return new Set(param("open") === "" ? fallback : listOf(param("open")));
  }

  // To be called whenever the address has changed.
  follow(): void {
    if (param("align") === "1" && param("sel") !== "") setParams({ align: param("sel") });
    const now = { from: param("from"), to: param("to") };
    if (now.from === this.written.from && now.to === this.written.to) return;
    this.written = now;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.moved.value = fromText(now.from, now.to);
  }

  move(window: TimeWindow, whole: TimeWindow): void {
    const moved = within(window, whole);
    const isWhole = moved.from === whole.from && moved.to === whole.to;
    // Where steps are chosen, no window is theirs.
    this.moved.value = isWhole && param("steps") === "" ? undefined : moved;
    this.timer ??= setTimeout(() => this.write(), BETWEEN_WRITES_MS);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private write(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.written = this.moved.value ? toText(this.moved.value) : { from: "", to: "" };
    setParams(this.written);
  }

  select(rank: string, event: number, start: number, duration: number): void {
    setParams(selectionText(rank, event, start, duration), { push: this.isNewPlace() });
  }

  // Of which it is not known when it runs.
  selectEvent(rank: string, event: string): void {
    setParams({ sel: `${rank}:${event}`, at: "" }, { push: this.isNewPlace() });
  }

  // Back leads to what was selected before; what is passed by quickly is no place to go back to.
  private isNewPlace(): boolean {
    const before = this.selectedAt;
    this.selectedAt = performance.now();
    return this.selectedAt - before > BETWEEN_PLACES_MS;
  }

  clearSelection(): void {
    setParams({ sel: "", at: "" });
  }

  alignAtSelection(): void {
    setParams({ align: param("sel") });
  }

  undoAlignment(): void {
    setParams({ align: "" });
  }

  setOpen(names: Iterable<string>): void {
    setParams({ open: listText(names) });
  }

  togglePin(name: string): void {
    const pinned = this.pin.peek();
    setParams({ pin: (pinned.includes(name) ? pinned.filter((other) => other !== name) : [...pinned, name]).join(",") });
  }

  setHidden(name: string, hidden: boolean): void {
    const names = new Set(this.hide.peek());
    if (hidden) names.add(name);
    else names.delete(name);
    setParams({ hide: [...names].join(",") });
  }

  showAll(): void {
    setParams({ hide: "" });
  }

  setMarks(marks: readonly Mark[]): void {
    setParams({ marks: marksText(marks) });
  }

  search(text: string): void {
    setParams({ q: text });
  }
}
