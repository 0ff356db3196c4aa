// When the timeline is painted, and how sharply: on a display with two pixels for each of CSS.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Names } from "../src/timeline/names.ts";
import type { Scene } from "../src/timeline/scene.ts";
import { Screen } from "../src/timeline/screen.ts";

const NOTHING = { headings: [], rows: [], height: 0 };
const whole = { from: 0, to: 1000 };
const scene = (window = whole): Scene => ({
  theme: "light", width: 300, height: 100, headings: 100, window, whole, names: new Names(), pinned: NOTHING, rest: NOTHING, scrolled: 0,
  overview: [], steps: [], marks: [], findings: [], shifts: new Map(), onPath: new Map(), arrows: [],
});

test("it is painted once for a frame, less sharply while it moves, and no more once it is left", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let frames: (() => void)[] = [];
  const listeners = new Map<string, () => void>();
  const frame = () => {
    const due = frames;
    frames = [];
    for (const paint of due) paint();
  };
  Object.assign(globalThis, {
    window: { devicePixelRatio: 2 },
    requestAnimationFrame: (paint: () => void) => frames.push(paint),
    cancelAnimationFrame: () => (frames = []),
    addEventListener: (name: string, act: () => void) => listeners.set(name, act),
    removeEventListener: (name: string) => listeners.delete(name),
  });
  const image = (width: number, height: number) => ({ width, height, data: new Uint8ClampedArray(width * height * 4) });
  const others = { createImageData: image, measureText: (text: string) => ({ width: text.length * 6 }) };
  const context = new Proxy<Record<string, unknown>>(others, { get: (known, name) => known[String(name)] ?? (() => undefined) });
  const canvas = { width: 0, height: 0, dataset: {} as Record<string, string>, getContext: () => context };
  const painted = () => [Number(canvas.dataset.paints ?? 0), canvas.width, canvas.dataset.to];

  const screen = new Screen(canvas as unknown as HTMLCanvasElement);
  screen.show(scene());
  screen.show(scene(whole));
  assert.deepEqual(painted(), [0, 0, undefined]);
  frame();
  assert.deepEqual(painted(), [1, 600, "1000"]);
  screen.show(scene({ from: 0, to: 500 }));
  frame();
  assert.deepEqual(painted(), [2, 300, "500"], "it moves");
  mock.timers.tick(119);
  frame();
  assert.deepEqual(painted(), [2, 300, "500"]);
  mock.timers.tick(1);
  frame();
  assert.deepEqual(painted(), [3, 600, "500"], "it has stopped");
  screen.show(scene({ from: 0, to: 250 }));
  listeners.get("beforeprint")!();
  assert.deepEqual(painted(), [4, 600, "250"], "on paper, without a frame");
  screen.dispose();
  frame();
  mock.timers.tick(1000);
  frame();
  assert.deepEqual([...painted(), listeners.size], [4, 600, "250", 0]);
  mock.timers.reset();
});
