// What the pointer does to the timeline.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Names } from "../src/timeline/names.ts";
import { followPointer } from "../src/timeline/pointer.ts";
import type { Scene } from "../src/timeline/scene.ts";
import type { Timeline } from "../src/timeline/timeline.ts";

const NOTHING = { headings: [], rows: [], height: 0 };
const whole = { from: 0, to: 1000 };
const scene: Scene = {
  theme: "light", width: 300, height: 100, headings: 100, window: whole, whole, names: new Names(), pinned: NOTHING, rest: NOTHING, scrolled: 0,
  overview: [undefined], steps: [], marks: [], findings: [], shifts: new Map(), onPath: new Map(), arrows: [],
};

test("a touch that the browser takes to scroll with is no click", () => {
  const listeners = new Map<string, (event: object) => void>();
  const canvas = {
    addEventListener: (name: string, act: () => void) => listeners.set(name, act), removeEventListener: () => {},
    getBoundingClientRect: () => ({ left: 0, top: 0 }), setPointerCapture: () => {},
  } as unknown as HTMLCanvasElement;
  const toReveal = { value: "" }, dragging = { value: true };
  const timeline = { toReveal, dragging, window: { peek: () => whole }, ranks: { peek: () => ["3"] } } as unknown as Timeline;
  followPointer({ canvas, timeline, scene: () => scene, hover: () => {} });
  const send = (name: string) => listeners.get(name)!({ clientX: 150, clientY: 1, button: 0, pointerId: 1 });
  send("pointerdown");
  send("pointercancel");
  send("pointerup");
  assert.deepEqual([toReveal.value, dragging.value], ["", false]);
  send("pointerdown");
  send("pointerup");
  assert.equal(toReveal.value, "3");
});
