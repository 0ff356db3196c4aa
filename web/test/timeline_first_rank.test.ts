// Which rank of a timeline is open where its address names none.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Job, Source } from "../src/data/source.ts";
import { goTo } from "../src/state.ts";
import { Contents } from "../src/timeline/contents.ts";
import { faultyRank } from "../src/timeline/findings.ts";
import { Timeline } from "../src/timeline/timeline.ts";
import { tableOfRows } from "./timeline_tables.ts";

const findings = (...rows: [kind: string, ranks: string][]) =>
  tableOfRows("findings", ["kind", "ranks", "finding", "remedy", "steps", "subject"], rows.map((row) => [...row, "said", "", "", ""]));

test("it is the first that a fault names", () => {
  const ranks = ["0", "1", "2", "3", "none"];
  const cases: [[string, string][], string | undefined][] = [
    [[["opportunity", "1"], ["fault", ""], ["fault", "2-3"], ["fault", "1"]], "2"],
    [[["fault", "7"], ["fault", "3,5"]], "3"],
    [[["caveat", "3"]], undefined],
    [[], undefined],
  ];
  for (const [rows, rank] of cases) assert.equal(faultyRank(findings(...rows), ranks), rank);
});

test("a timeline waits for the findings, and opens a rank that is there", () => {
  Object.assign(globalThis, { location: { hash: "" }, history: { pushState() {}, replaceState() {} } });
  const all = ["0", "1", "2", "3"];
  const of = (ranks: string[], held: string[]) => {
    const source = { hasSpans: (rank: string) => held.includes(rank) } as unknown as Source;
    const job = { id: "", ranks: ranks.map((rank) => ({ rank, path: "", host: "" })) } as unknown as Job;
    return new Timeline(new Contents(source, job));
  };
  const open = (timeline: Timeline) => [...timeline.open.value];
  const slow = findings(["fault", "3"]);

  const timeline = of(all, all);
  assert.deepEqual(open(timeline), []);
  timeline.setFindings(slow);
  assert.deepEqual([open(timeline), timeline.toReveal.value], [["3"], "3"]);
  goTo("#/timeline?v=1&ranks=0-1");
  assert.deepEqual(open(timeline), ["0"], "only of those that are shown");
  goTo("#/timeline?v=1&open=1");
  assert.deepEqual(open(timeline), ["1"], "the address has the word");
  goTo("#/timeline?v=1");

  const unknown = of(all, all);
  unknown.setFindings(null);
  assert.deepEqual([open(unknown), unknown.toReveal.value], [["0"], undefined]);
  assert.deepEqual(open(of(["5"], ["5"])), ["5"], "one rank needs no findings");
  const cut = of(all, ["1", "2"]); // a report without room for the others
  cut.setFindings(slow);
  assert.deepEqual(open(cut), ["1"]);
  const many = Array.from({ length: 100 }, (_, rank) => String(rank));
  const large = of(many, many);
  large.setFindings(findings());
  assert.deepEqual(open(large), []);
  large.setFindings(findings(["fault", "77"]));
  assert.deepEqual(open(large), ["77"]);
});
