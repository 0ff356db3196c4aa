// Answers that are asked for again and again: which stay in sight, and that what is shown goes on to be asked for.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { h, render } from "preact";
import { useLive, type Live } from "../src/data/agents.ts";
import { pending } from "../src/data/use.ts";

Object.assign(globalThis, { document: { hidden: false } });

const parents: Element[] = [];
after(() => parents.forEach((parent) => render(null, parent)));

// A component that shows nothing needs no more of a document than this.
function show<T>(use: () => Live<T>) {
  const parent = { nodeType: 1, childNodes: [], firstChild: null } as unknown as Element;
  parents.push(parent);
  const self = {
    live: { value: null, error: "" } as Live<T>,
    draw: (next = use) => render(h(Probe, { use: () => next() }), parent),
    until: async (isThere: (live: Live<T>) => boolean) => {
      for (let turn = 0; turn < 500 && !isThere(self.live); ++turn) await new Promise((resolve) => setTimeout(resolve, 2));
      assert.ok(isThere(self.live), JSON.stringify(self.live));
    },
  };
  function Probe(props: { use: () => Live<T> }) {
    self.live = props.use();
    return null;
  }
  self.draw();
  return self;
}

test("what is shown goes on to be asked for, however much else is asked", async () => {
  let answer = 1;
  const one = show(() => useLive("one", async () => answer, 5));
  await one.until(({ value }) => value === 1);
  for (let i = 0; i < 60; ++i) show(() => useLive(`other ${i}`, async () => i, 0));
  one.draw();
  assert.equal(one.live.value, 1);
  answer = 2;
  await one.until(({ value }) => value === 2);
});

test("the answer of others than are asked now stays in sight until theirs comes, and the page waits for it", async () => {
  const ask = (hosts: string, answer: Promise<string>) => () => useLive("hosts", () => answer, 0, hosts);
  const view = show(ask("a b", Promise.resolve("of a and b")));
  await view.until(({ value }) => value === "of a and b");
  while (pending.value > 0) await new Promise(setImmediate);
  let come = (_: string) => {};
  const coming = new Promise<string>((resolve) => (come = resolve));
  view.draw(ask("a", coming));
  assert.equal(view.live.value, "of a and b");
  await view.until(() => pending.value === 1);
  assert.equal(view.live.value, "of a and b");
  come("of a");
  await view.until(({ value }) => value === "of a");
  assert.equal(pending.value, 0);
});

test("another question begins without an answer", async () => {
  const view = show(() => useLive("first question", async () => "yes", 0));
  await view.until(({ value }) => value === "yes");
  view.draw(() => useLive("second question", async () => "no", 0));
  assert.equal(view.live.value, null);
  await view.until(({ value }) => value === "no");
});
