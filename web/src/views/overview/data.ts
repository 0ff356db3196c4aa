// What the time of a device is made of, and which view shows what a finding rests on.
import { textsColumn } from "../../data/made_table.ts";
import { allRows } from "../../data/rows.ts";
import { Table } from "../../data/table.ts";
import { printable } from "../../format.ts";
import { rangesHave } from "../../ranges.ts";
import type { BarPart } from "../../widgets/bars.tsx";
import { CAUSES, COMPUTE, EXPOSED, HIDDEN } from "../shared/parts_of_time.ts";

// The time from a rank's first device work to its last in parts that add up to it. What is neither computing nor
// communication moves or sets memory; without `overlap` these are one part.
export function devicePartsOf(temporal: Table, row: number, overlap: Table | null, idle: Table | null): BarPart[] {
  const rank = temporal.exact("rank", row);
  const find = (table: Table | null) => (table === null ? -1 : table.rowsWhere("rank", rank)[0] ?? -1);
  const o = find(overlap), i = find(idle);
  const compute = temporal.absolute("compute_ns", row), others = temporal.absolute("non_compute_ns", row);
  const hidden = o < 0 ? 0 : overlap!.absolute("compute_and_communication_ns", o);
  const exposed = o < 0 ? 0 : overlap!.absolute("communication_ns", o) - hidden;
  const parts: BarPart[] = overlap === null ? [
    { kind: COMPUTE.kind, label: "compute", value: compute },
    { kind: EXPOSED.kind, label: "communication, copies and sets", value: others },
  ] : [
    { ...COMPUTE, value: compute - hidden },
    { ...HIDDEN, value: hidden },
    { ...EXPOSED, value: exposed },
    { kind: "memory", label: "only moving or setting memory", value: others - exposed },
  ];
  if (i < 0) parts.push({ kind: "idle", label: "idle", value: temporal.absolute("idle_ns", row) });
  else for (const [name, { kind, label }] of Object.entries(CAUSES)) parts.push({ kind, label: `idle: ${label}`, value: idle!.absolute(`${name}_ns`, i) });
  return parts.filter((part) => part.value > 0);
}

// The first finding, thus the worst, that names this rank and not all: its row; -1: none does.
export function findingsByRank(findings: Table, kind = ""): (rank: number) => number {
  const rows = allRows(findings).filter((row) => findings.text("ranks", row) !== "" && (kind === "" || findings.text("kind", row) === kind));
  const tests = rows.map((row) => ({ row, has: rangesHave(findings.text("ranks", row)) }));
  return (rank) => tests.find((each) => each.has(rank))?.row ?? -1;
}

// Devices with the finding that names their rank, where any does.
export function withFindings(devices: Table, findings: Table | null): Table {
  if (findings === null) return devices;
  const rowOf = findingsByRank(findings);
  const said = allRows(devices).map((row) => rowOf(devices.absolute("rank", row)))
    .map((row) => (row < 0 ? "" : `${findings.text("kind", row)}: ${findings.text("mechanism", row).replaceAll("_", " ")}`));
  if (said.every((text) => text === "")) return devices;
  const column = textsColumn("finding", said, { help: "The worst finding that names the rank and not all; its card above tells more.", role: "detail" });
  const [rank, ...others] = devices.columns;
  return new Table(devices.name, devices.rows, [rank!, column, ...others], devices.notes);
}

// The view that shows a table best; others are among all tables.
const VIEW_OF: Record<string, string> = {
  kernel_breakdown: "kernels", kernel_groups: "kernels", kernel_duration_distribution: "kernels", kernel_launch_stats: "kernels",
  operators: "operators", operator_groups: "operators", operator_efficiency: "operators", operator_kernels: "operators",
  collectives: "distributed", comm_comp_overlap: "distributed", comm_steps: "distributed", stragglers: "distributed",
  flight_recorder: "distributed", critical_path: "critical-path", call_tree: "call-tree", modules: "modules",
  memory_at_peak: "memory", memory_timeline: "memory", memory_by_operator: "memory", memory_leaks: "memory",
  idle_time_breakdown: "idle", device_idle_breakdown: "idle", queue_blocked: "idle", idle_causes: "idle",
  step_breakdown: "steps", steps: "steps", timeline: "timeline", rank_strip: "timeline",
};

// What the command of a finding shows, as a view: its table and ranks.
export function evidenceOf(command: string): { view: string; table: string; ranks: string } {
  const table = /--table ([a-z_]+)/.exec(command)?.[1] ?? "";
  return { table, view: VIEW_OF[table] ?? "tables", ranks: /--ranks ([0-9,-]+)/.exec(command)?.[1] ?? "" };
}

const LEAST_SHARE = 0.02; // of the step, as much as Distributed blames a rank for

// Views in which a finding is seen: that of its table and, of ranks that a fault makes slower, those that tell who waits for
// them and what the step waits for.
export function viewsOf(findings: Table, row: number): string[] {
  const isWaitedFor = findings.text("kind", row) === "fault" && findings.text("ranks", row) !== "" && findings.number("share", row) >= LEAST_SHARE;
  return [...new Set([evidenceOf(findings.text("evidence", row)).view, ...(isWaitedFor ? ["distributed", "critical-path"] : [])])];
}

export interface SeenFaults {
  said: string;
  params: Record<string, string>; // with which the view shows the first of them
}

// By view the faults that are seen in it. What no table shows is seen in none.
export function faultsByView(findings: Table): Map<string, SeenFaults> {
  const seen = new Map<string, SeenFaults>();
  for (const row of allRows(findings).filter((each) => findings.text("kind", each) === "fault")) {
    const { table } = evidenceOf(findings.text("evidence", row));
    for (const view of viewsOf(findings, row)) {
      const isTable = view === "tables";
      if (isTable && table === "") continue;
      const before = seen.get(view);
      const said = `${printable(findings.text("finding", row))}${isTable ? ` (table ${table})` : ""}`;
      seen.set(view, { said: before === undefined ? `A fault is seen here: ${said}` : `${before.said} ${said}`, params: before?.params ?? (isTable ? { table } : {}) });
    }
  }
  return seen;
}
