// Operators over the ranks that are shown, and the largest of them by one time.
import { numbersColumn, sums, groupsOf, summed } from "../../data/made_table.ts";
import { allRows, pickRows, rowsOfRank } from "../../data/rows.ts";
import { Table } from "../../data/table.ts";

export const TIMES: [column: string, label: string, kind: string][] = [
  ["device_self_ns", "Device, launched by itself", "compute"],
  ["device_total_ns", "Device, with what it calls", "compute"],
  ["host_self_ns", "Host, itself", "operator"],
  ["host_total_ns", "Host, with what it calls", "operator"],
];

const NAME = "operators_over_ranks"; // no analysis of the program's has it

// One row for each operator (of operator_groups with its shapes and stack where it is by them), added up over the ranks.
export function overRanks(table: Table, rank: string): Table {
  const rows = rowsOfRank(table, rank);
  const keys = ["name", ...["shapes", "stack"].filter((name) => table.has(name) && rows.some((row) => !table.isNull(name, row)))];
  const added = summed(table, keys, ["calls", ...TIMES.map(([name]) => name)], rows);
  if (!table.has("tensor_self_ratio")) return byDeviceTime(new Table(NAME, added.rows, added.columns, added.notes));
  // Shares are of the sums.
  const groups = groupsOf(table, keys, rows);
  const onTensorCores = groups.rows.map((of) => of.reduce((sum, row) =>
    sum + (table.number("tensor_self_ratio", row) || 0) * table.absolute("device_self_ns", row), 0));
  const device = sums(table, groups, "device_self_ns");
  const ratio = numbersColumn("tensor_self_ratio", onTensorCores.map((time, i) => (device[i]! > 0 ? time / device[i]! : Number.NaN)),
    { ...table.column("tensor_self_ratio"), type: "real" });
  return byDeviceTime(new Table(NAME, added.rows, [...added.columns, ratio], added.notes));
}

// The rank's rows come in that order; over ranks it is made again, with the rest last.
function byDeviceTime(table: Table): Table {
  const order = allRows(table).sort((a, b) =>
    Number(isRest(table, a)) - Number(isRest(table, b)) ||
    table.absolute("device_self_ns", b) - table.absolute("device_self_ns", a) ||
    table.absolute("host_self_ns", b) - table.absolute("host_self_ns", a));
  return pickRows(table, order);
}

export const isRest = (table: Table, row: number): boolean => table.text("name", row) === "others";

export interface Share { name: string; value: number; isRest: boolean }

// The largest by one time, and the rest as one.
export function largest(table: Table, column: string, count: number): { shares: Share[]; sum: number } {
  const byName = new Map<string, number>();
  let rest = 0, sum = 0;
  for (let row = 0; row < table.rows; ++row) {
    const value = table.absolute(column, row);
    if (!(value > 0)) continue;
    sum += value;
    if (isRest(table, row)) rest += value;
    else byName.set(table.text("name", row), (byName.get(table.text("name", row)) ?? 0) + value);
  }
  const all = [...byName].map(([name, value]) => ({ name, value, isRest: false })).sort((a, b) => b.value - a.value);
  rest += all.slice(count).reduce((total, each) => total + each.value, 0);
  const shares = all.slice(0, count);
  if (rest > 0) shares.push({ name: "others", value: rest, isRest: true });
  return { shares, sum };
}
