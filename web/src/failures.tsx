// What went wrong, as a sentence with a button that copies it; nothing ends in a blank page.
import { Component, type ComponentChildren } from "preact";
import { signal } from "@preact/signals";
import { forgetLive } from "./data/agents.ts";
import { forget, generation, sentenceOf } from "./data/use.ts";
import { place, type Place } from "./state.ts";

export function copy(text: string): void {
  const clipboard = navigator.clipboard as Clipboard | undefined; // none where a page is from no safe place
  if (clipboard === undefined) return copyBySelection(text);
  clipboard.writeText(text).catch(() => copyBySelection(text));
}

function copyBySelection(text: string): void {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

export function Failure({ error, retry }: { error: string; retry?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{error}</p>
      <button type="button" onClick={() => copy(error)}>Copy</button>
      {retry && <button type="button" onClick={retry}>Try again</button>}
    </div>
  );
}

const AGAIN_MS = 5000;

// Around a view: a mistake in one leaves the others. It is of what was to be shown then: elsewhere, and with newer data, the
// view is drawn again; one that is `isLive` has newer data after a while.
export class Guard extends Component<{ children: ComponentChildren; name: string; isLive: boolean }, { error: string; at?: Place; of?: number }> {
  override state: { error: string; at?: Place; of?: number } = { error: "" };
  private timer: ReturnType<typeof setTimeout> | undefined;

  override componentDidCatch(error: unknown): void {
    this.setState({ error: sentenceOf(error), at: place.peek(), of: generation.peek() });
    clearTimeout(this.timer);
    if (this.props.isLive) this.timer = setTimeout(() => {
      forgetLive();
      this.setState({ error: "" });
    }, AGAIN_MS);
  }

  override componentWillUnmount(): void {
    clearTimeout(this.timer);
  }

  render() {
    const { error, at, of } = this.state;
    if (error === "" || place.value !== at || generation.value !== of) return this.props.children;
    const again = () => {
      forgetLive();
      forget();
    };
    return <Failure error={`${this.props.name} cannot be shown: ${error}`} retry={again} />;
  }
}

// Of what no view shows by itself.
export const lastFailure = signal("");
const mistake = (sentence: string) => (lastFailure.value = `Something went wrong in the page: ${sentence}`);

export function catchFailures(): void {
  addEventListener("error", (event) => {
    if (!event.message.startsWith("ResizeObserver loop")) mistake(event.message); // no failure: the rest is told in the next frame
  });
  addEventListener("unhandledrejection", (event) => mistake(sentenceOf(event.reason)));
}
