// A link that is given to others: whole, or without the marks that make it too long.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hashOf, linkToGive, parsePlace } from "../src/state.ts";
import { marksText } from "../src/timeline/marks.ts";

const PAGE = "http://127.0.0.1:4000/";
const marks = (count: number): string =>
  marksText(Array.from({ length: count }, (_, i) => ({ from: 1000 * i, to: 1000 * i + 500, text: `mark ${i}` })));
const hash = (count: number, more: [string, string][] = []): string =>
  hashOf({ view: "timeline", params: new Map([["job", "7"], ["from", "1000"], ["marks", marks(count)], ["later", "kept"], ...more]) });

test("up to 2,000 characters it is the address, with its marks", () => {
  const room = 2000 - PAGE.length - hash(3, [["q", "x"]]).length + 1;
  const full = hash(3, [["q", "x".repeat(room)]]), longer = hash(3, [["q", "x".repeat(room + 1)]]);
  assert.equal((PAGE + full).length, 2000);
  assert.deepEqual(linkToGive(PAGE, full), { link: PAGE + full, isWithoutMarks: false });
  assert.equal(linkToGive(PAGE, longer).isWithoutMarks, true);
});

test("from a longer one the marks are left out, and nothing else", () => {
  const { link, isWithoutMarks } = linkToGive(PAGE, hash(200));
  assert.equal(isWithoutMarks, true);
  const { view, params } = parsePlace(link.slice(PAGE.length));
  assert.equal(view, "timeline");
  assert.deepEqual([...params], [["v", "1"], ["job", "7"], ["from", "1000"], ["later", "kept"]]);
});

test("one that is long without marks is as it is, and nothing is said to be left out", () => {
  const long = hash(0, [["filter", "x".repeat(3000)]]);
  assert.deepEqual(linkToGive(PAGE, long), { link: PAGE + long, isWithoutMarks: false });
});
