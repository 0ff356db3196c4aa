// The headings of lanes beside the canvas: to open, pin and hide them, and to come to them by the keyboard.
import { toggle } from "./actions.ts";
import type { Heading, Layout } from "./layout.ts";
import { ABOVE_HEIGHT, headingAbove, nameTop, visible } from "./layout.ts";
import type { Timeline } from "./timeline.ts";

interface HeadingsProps {
  timeline: Timeline;
  layout: Layout;
  top: number; // where they begin on the screen
  height: number;
  scrolled: number;
  onFocus: (heading: Heading) => void;
}

// One beyond each end, so that Tab leads on.
export function Headings({ timeline, layout, top, height, scrolled, onFocus }: HeadingsProps) {
  const [first, end] = visible(layout.headings, scrolled, scrolled + height);
  const shown = layout.headings.slice(Math.max(0, first - 1), end + 1);
  const above = headingAbove(layout.headings, first);
  const topOf = (heading: Heading) => nameTop(heading, scrolled, above === undefined ? -Infinity : ABOVE_HEIGHT);
  return (
    <div class="timeline-clip" style={{ top: `${top}px`, height: `${Math.max(0, height)}px` }} onScroll={(event) => (event.currentTarget.scrollTop = 0)}>
      {shown.map((heading) => (
        <OneHeading key={heading.name} timeline={timeline} heading={heading} top={topOf(heading)} bottom={heading.top + heading.height - scrolled} onFocus={() => onFocus(heading)} />
      ))}
      {above !== undefined && <div class="timeline-heading rank above" aria-hidden="true" onClick={() => (timeline.toReveal.value = above.name)}>{above.title}</div>}
    </div>
  );
}

function OneHeading({ timeline, heading, top, bottom, onFocus }: { timeline: Timeline; heading: Heading; top: number; bottom: number; onFocus: () => void }) {
  const { name, title, open, pinned } = heading;
  const sign = open === undefined ? "" : open ? "▾ " : "▸ ";
  return (
    <div class={heading.level === 0 ? "timeline-heading rank" : "timeline-heading"} style={{ top: `${top}px`, height: `${bottom - top}px` }}
      onFocusIn={onFocus} data-track={name}>
      <button type="button" title={open === undefined ? title : `${title}; ${open ? "close" : "open"}`} aria-expanded={open}
        onClick={() => open !== undefined && toggle(timeline, name)}>
        <span aria-hidden="true">{sign}</span>{title}
      </button>
      <span class="more">
        <button type="button" aria-pressed={pinned} aria-label={`Pin ${title} to the top`} title="Pin to the top (P)"
          onClick={() => timeline.choices.togglePin(name)}>
          <span aria-hidden="true">⊤</span>
        </button>
        <button type="button" aria-label={`Hide ${title}`} title="Hide" onClick={() => timeline.choices.setHidden(name, true)}>
          <span aria-hidden="true">×</span>
        </button>
      </span>
    </div>
  );
}
