// What the job is, in a line of few numbers.
import { median } from "../../data/median.ts";
import { allRows } from "../../data/rows.ts";
import type { Table } from "../../data/table.ts";
import { useJob, useTable, type Loaded } from "../../data/use.ts";
import { human, printable, shortName } from "../../format.ts";
import { linkTo } from "../../state.ts";
import { Ready } from "../../widgets/loaded.tsx";
import { levelsOf, stepGrid, stepLengths } from "../steps/data.ts";

export function Facts() {
  const summary = useTable("summary", { all: true });
  const steps = useTable("steps", { all: true }), temporal = useTable("temporal_breakdown", { all: true });
  return <Ready of={summary}>{(table) => <Line summary={table} steps={steps} temporal={temporal} />}</Ready>;
}

interface Fact { name: string; text: string; title?: string; link?: string }

function Line({ summary, steps, temporal }: { summary: Table; steps: Loaded<Table>; temporal: Loaded<Table> }) {
  const job = useJob();
  const rows = allRows(summary);
  const different = (name: string) => [...new Set(rows.map((row) => summary.exact(name, row)))].filter((text) => text !== "");
  const hosts = different("host"), devices = different("device"), worlds = different("world_size");
  const events = rows.reduce((sum, row) => sum + summary.absolute("events", row), 0);
  const losses = rows.reduce((sum, row) => sum + (summary.absolute("losses", row) || 0), 0);
  const start = job.state === "here" ? new Date(Number(job.value.startNs / 1_000_000n)) : null;
  const facts: Fact[] = [
    { name: rows.length === 1 ? "rank" : "ranks", text: worlds.length === 1 && Number(worlds[0]) > rows.length ? `${rows.length} of ${worlds[0]}` : String(rows.length),
      link: linkTo("tables", { table: "summary" }) },
    { name: hosts.length === 1 ? "host" : "hosts", text: hosts.length === 1 ? shortName(hosts[0]!, 40) : hosts.length === 0 ? "not known" : String(hosts.length), title: printable(hosts.join(", ")) },
    { name: devices.length > 1 ? "devices" : "device", text: devices.length === 0 ? "none recorded" : shortName(devices.join(", "), 40), title: printable(devices.join(", ")) },
  ];
  if (steps.state === "here" && steps.value.rows > 0) {
    const table = steps.value;
    const lengths = stepLengths(stepGrid(table, "dur_ns"));
    const numbers = new Set(allRows(table).map((row) => table.exact("number", row)));
    facts.push({ name: numbers.size === 1 ? "step" : "steps", text: String(numbers.size), link: linkTo("steps") });
    const typical = levelsOf(lengths)?.typical ?? [median(lengths)];
    facts.push({ name: typical.length > 1 ? "median steps, of two kinds" : "median step", text: typical.map((ns) => human(ns, "ns")).join(", "), title: `${typical.join(", ")} ns`, link: linkTo("steps") });
  } else if (steps.state === "here") facts.push({ name: "steps", text: "none marked", link: linkTo("steps") });
  if (temporal.state === "here" && temporal.value.rows > 0) {
    const table = temporal.value;
    const sum = (name: string) => allRows(table).reduce((all, row) => all + table.absolute(name, row), 0);
    const idle = sum("idle_ns") / sum("kernel_time_ns");
    facts.push({ name: "of the device time idle", text: human(idle, "ratio"), title: String(idle), link: linkTo("idle") });
  }
  facts.push({ name: "events", text: human(events, "count"), title: String(events) });
  if (losses > 0) facts.push({ name: "lost or mended", text: human(losses, "count"), title: `${losses}; the notes above say what`, link: linkTo("tables", { table: "summary" }) });
  if (start !== null && job.state === "here" && job.value.startNs > 0n)
    facts.push({ name: "UTC, start", text: start.toISOString().slice(0, 19).replace("T", " "), title: `${job.value.startNs} ns since 1970` });
  return (
    <dl class="tiles" aria-label="The job">
      {facts.map((fact) => (
        <div key={fact.name}>
          <dt>{fact.name}</dt>
          <dd title={fact.title}>{fact.link ? <a href={fact.link}>{fact.text}</a> : fact.text}</dd>
        </div>
      ))}
    </dl>
  );
}
