// Kernels over the ranks that are shown: what they cost, whether they use tensor cores, how they differ between ranks, and
// the line of Python that launches them.
import { extremes, groupsOf, means, numbersColumn, sums, textsColumn, textsOf, type Groups } from "../../data/made_table.ts";
import { allRows, pickRows, rowsOfRank } from "../../data/rows.ts";
import { Table, type Column } from "../../data/table.ts";
import { linesOf, type Origin } from "../shared/origins.ts";

export interface KernelTables {
  breakdown: Table;
  groups: Table | null; // kernel_groups
  distribution: Table | null; // kernel_duration_distribution
  origins: Map<string, Origin[]> | null; // of one rank
}

export function kernelTable(tables: KernelTables, rank: string): Table {
  const { breakdown } = tables;
  const groups = groupsOf(breakdown, ["kind", "name"], rowsOfRank(breakdown, rank));
  const names = textsOf(breakdown, groups, "name");
  const sum = sums(breakdown, groups, "sum_ns"), count = sums(breakdown, groups, "count");
  const whole = sum.reduce((all, each) => all + each, 0);
  const help = (name: string) => breakdown.column(name);
  const columns: Column[] = [
    textsColumn("name", names, help("name")),
    numbersColumn("share_ratio", sum.map((each) => each / whole), { help: "Share of the sum of all durations.", unit: "ratio", type: "real" }),
    numbersColumn("sum_ns", sum, help("sum_ns")),
    numbersColumn("count", count, help("count")),
    numbersColumn("mean_ns", sum.map((each, i) => each / count[i]!), help("mean_ns")),
    ...ofOrigins(tables.origins, names),
    ...ofGroups(tables.groups, names, rank),
    ...ofRanks(tables.distribution, breakdown, groups, names),
    textsColumn("kind", textsOf(breakdown, groups, "kind"), help("kind")),
    numbersColumn("min_ns", extremes(breakdown, groups, "min_ns", Math.min), help("min_ns")),
    numbersColumn("max_ns", extremes(breakdown, groups, "max_ns", Math.max), help("max_ns")),
  ];
  const table = new Table("kernels", names.length, columns, breakdown.notes);
  const order = names.map((_, row) => row).sort((a, b) => Number(isOthers(table, a)) - Number(isOthers(table, b)) || sum[b]! - sum[a]!);
  return pickRows(table, order);
}

export const isOthers = (table: Table, row: number): boolean => table.text("name", row) === "others" && table.text("kind", row) === "";

// A table's groups of one name, by name.
function placesOf(texts: string[]): Map<string, number> {
  return new Map(texts.map((text, place) => [text, place]));
}

function ofGroups(table: Table | null, names: string[], rank: string): Column[] {
  if (table === null) return [];
  const groups = groupsOf(table, ["name"], rowsOfRank(table, rank));
  const places = placesOf(textsOf(table, groups, "name"));
  const cores = textsOf(table, groups, "tensor_cores");
  const columns = [textsColumn("tensor_cores", names.map((name) => cores[places.get(name) ?? -1] ?? ""), table.column("tensor_cores"))];
  for (const name of ["occupancy_ratio", "blocks_per_sm"]) {
    const values = means(table, groups, name, "sum_ns");
    const of = names.map((each) => values[places.get(each) ?? -1] ?? Number.NaN);
    if (of.some((value) => !Number.isNaN(value))) columns.push(numbersColumn(name, of, table.column(name)));
  }
  return columns;
}

function ofRanks(table: Table | null, breakdown: Table, groups: Groups, names: string[]): Column[] {
  if (table === null) return [];
  const kinds = textsOf(breakdown, groups, "kind");
  const places = placesOf(allRows(table).map((row) => `${table.text("kind", row)} ${table.text("name", row)}`));
  const rows = names.map((name, i) => places.get(`${kinds[i]} ${name}`) ?? -1);
  const slower = rows.map((row) => (row < 0 || table.absolute("ranks", row) < 2 ? Number.NaN
    : table.absolute("slowest_mean_ns", row) / table.absolute("fastest_mean_ns", row) - 1));
  if (slower.every(Number.isNaN)) return [];
  return [
    numbersColumn("spread_ratio", slower, { help: "How much longer its runs take in the mean on the slowest rank than on the fastest one.", unit: "ratio", type: "real" }),
    numbersColumn("slowest_rank", rows.map((row, i) => (Number.isNaN(slower[i]!) ? Number.NaN : table.absolute("slowest_rank", row))), table.column("slowest_rank")),
  ];
}

function ofOrigins(origins: Map<string, Origin[]> | null, names: string[]): Column[] {
  if (origins === null) return [];
  const lines = names.map((name) => linesOf(origins.get(name) ?? [])[0]);
  const operators = names.map((name) => origins.get(name)?.[0]?.operator ?? "");
  const columns: Column[] = [];
  if (lines.some((line) => line !== undefined))
    columns.push(textsColumn("source_line", lines.map((line) => (line === undefined ? "" : `${line.frame.path}:${line.frame.line}`)),
      { help: "The line of Python that launches most of its time, of the backward pass that of the forward operator; the kernel's row has all of them.", role: "detail" }));
  if (operators.some((operator) => operator !== ""))
    columns.push(textsColumn("operator", operators, { help: "The operator that launches most of its time.", role: "detail" }));
  return columns;
}

// By tensor_cores of kernel_groups: yes, no, unknown, and of what is not listed.
export function tensorShares(groups: Table, rank: string): { name: string; value: number }[] {
  const shares = new Map<string, number>();
  for (const row of rowsOfRank(groups, rank)) {
    const name = groups.text("tensor_cores", row) || "others";
    shares.set(name, (shares.get(name) ?? 0) + groups.absolute("sum_ns", row));
  }
  return ["yes", "no", "unknown", "others"].filter((name) => shares.has(name)).map((name) => ({ name, value: shares.get(name)! }));
}

// The mean duration of one kernel on each rank.
export function byRank(breakdown: Table, name: string): { rank: string; mean: number; sum: number; count: number }[] {
  return breakdown.rowsWhere("name", name).map((row) => ({
    rank: breakdown.exact("rank", row) || "none", mean: breakdown.absolute("mean_ns", row),
    sum: breakdown.absolute("sum_ns", row), count: breakdown.absolute("count", row),
  }));
}
