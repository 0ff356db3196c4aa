// What went wrong, as a sentence with a button that copies it; nothing ends in a blank page.
import { Component, type ComponentChildren } from "preact";
import { signal } from "@preact/signals";
import { forget, sentenceOf } from "./data/use.ts";

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

// Around a view: a mistake in one leaves the others.
export class Guard extends Component<{ children: ComponentChildren; name: string }, { error: string }> {
  override state = { error: "" };

  override componentDidCatch(error: unknown): void {
    this.setState({ error: sentenceOf(error) });
  }

  render() {
    if (this.state.error === "") return this.props.children;
    const again = () => {
      forget();
      this.setState({ error: "" });
    };
    return <Failure error={`${this.props.name} cannot be shown: ${this.state.error}`} retry={again} />;
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
