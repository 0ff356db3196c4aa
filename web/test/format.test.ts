// Numbers and names as people read them: the same as the program's own text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { clockTick, human, position, printable, shortName, shortNames } from "../src/format.ts";

test("numbers have three digits and a unit of the right size", () => {
  const cases: [number, Parameters<typeof human>[1], string][] = [
    [0, "ns", "0 ns"], [999, "ns", "999 ns"], [999.6, "ns", "1.00 µs"], [1_234_567, "ns", "1.23 ms"], [59.96e9, "ns", "1.00 min"],
    [-1500, "ns", "-1.50 µs"], [1023, "bytes", "1023 B"], [1536, "bytes", "1.50 KiB"], [0.5, "ratio", "50.0 %"],
    [1_234_567, "count", "1,234,567"], [12.5, "count", "12.5"], [1234.5, "count", "1,235"], [7, "none", "7"], [NaN, "ns", "-"],
  ];
  for (const [value, unit, text] of cases) assert.equal(human(value, unit), text);
});

test("positions keep their microseconds", () => {
  assert.equal(position(1_500_000), "0.001500 s");
  assert.equal(position(-499), "-0.000000 s");
  assert.equal(position(12_345_678_901_234), "12345.678901 s");
  assert.equal(position(NaN), "not known");
});

test("on an axis a day begins with its date", () => {
  const at = (hours: number, seconds: number) => new Date(2026, 10, 8, hours, 0, seconds).getTime() * 1e6;
  assert.deepEqual([at(0, 0), at(12, 0), at(0, 5)].map(clockTick), ["11-08", "12:00", "00:00:05"]);
});

test("what would not be seen is shown", () => {
  assert.equal(printable("a\u202eb\u0000c\nd"), "a\\u202eb\\u0000c d");
  assert.equal(shortName("void at::native::f<int>(a)"), "f<int>(a)");
});

test("names that differ only in their middle are told apart", () => {
  const names = ["tn", "nt", "nn"].map((layout) => `sm90_xmma_gemm_bf16bf16_bf16f32_f32_${layout}_n_tilesize128x128x64_warpgroupsize1x1x1_execute`);
  const shorts = names.map((name) => shortNames([...names, "short"], 40).get(name)!);
  assert.equal(new Set(shorts).size, 3);
  shorts.forEach((short, i) => {
    assert.ok(short.length <= 40, short);
    assert.ok(short.startsWith("sm90_xmma"), short);
    assert.match(short, new RegExp(`_${["tn", "nt", "nn"][i]}_`));
  });
  assert.equal(shortNames(names, 200).get(names[0]!), names[0]);
});
