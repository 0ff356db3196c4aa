// The tree of the modules over the ranks that are shown.
import { groupsOf, sums } from "../../data/made_table.ts";
import { rowsOfRank } from "../../data/rows.ts";
import type { Table } from "../../data/table.ts";
import type { TreeNode } from "../../widgets/icicle.tsx";

export type Time = "device" | "host";
export type Pass = "both" | "forward" | "backward";

export interface Module {
  name: string;
  path: string;
  depth: number;
  calls: number;
  operators: number;
  forward: Record<Time, number>;
  backward: Record<Time, number>;
  self: Record<Time, number>;
  children: Module[];
}

// A path's names; one / in a name is \/.
export const namesInPath = (path: string): string[] => path.split(/(?<!\\)\//).map((name) => name.replaceAll("\\/", "/"));

export function moduleTree(table: Table, rank: string): Module[] {
  const groups = groupsOf(table, ["path"], rowsOfRank(table, rank));
  const of = (name: string) => sums(table, groups, name);
  const calls = of("calls"), operators = of("operators"), device = of("device_total_ns"), deviceSelf = of("device_self_ns");
  const host = of("host_total_ns"), hostSelf = of("host_self_ns"), backwardDevice = of("backward_device_ns"), backwardHost = of("backward_host_ns");
  const known = new Map<string, Module>();
  const roots: Module[] = [];
  groups.first.forEach((row, i) => {
    const path = table.text("path", row), names = namesInPath(path);
    const module: Module = {
      name: names[names.length - 1]!, path, depth: names.length - 1, calls: calls[i]!, operators: operators[i]!,
      forward: { device: device[i]!, host: host[i]! }, backward: { device: backwardDevice[i]! || 0, host: backwardHost[i]! || 0 },
      self: { device: deviceSelf[i]!, host: hostSelf[i]! }, children: [],
    };
    known.set(path, module);
    const above = known.get(path.slice(0, Math.max(0, lastSlash(path))));
    (above?.children ?? roots).push(module);
  });
  return roots;
}

function lastSlash(path: string): number {
  const match = /^(.*[^\\])\//s.exec(path);
  return match === null ? -1 : match[1]!.length;
}

export const timeOf = (module: Module, time: Time, pass: Pass): number =>
  (pass === "backward" ? 0 : module.forward[time]) + (pass === "forward" ? 0 : module.backward[time]);

export function icicleOf(modules: Module[], time: Time, pass: Pass, name: string): TreeNode {
  const node = (module: Module): TreeNode => ({
    name: module.name, value: timeOf(module, time, pass), children: module.children.map(node), kind: time === "device" ? "compute" : "operator",
    title: `${module.path}, ${module.calls} calls`, key: module.path,
  });
  const children = modules.map(node);
  return { name, children, value: children.reduce((sum, child) => sum + child.value, 0), kind: "other" };
}

// The costliest module whose own part, without the modules inside, is the largest.
export function costliest(modules: Module[], time: Time, pass: Pass): { module: Module; own: number } | null {
  let found: { module: Module; own: number } | null = null;
  const visit = (module: Module) => {
    const own = timeOf(module, time, pass) - module.children.reduce((sum, child) => sum + timeOf(child, time, pass), 0);
    if (own > 0 && (found === null || own > found.own)) found = { module, own };
    module.children.forEach(visit);
  };
  modules.forEach(visit);
  return found;
}

export interface ShownRow { module: Module; isOpen: boolean }

// What is in sight: what is open, and with words all matches with what is around them.
export function rowsInSight(modules: Module[], open: (module: Module) => boolean, words: string): ShownRow[] {
  const word = words.toLowerCase();
  const rows: ShownRow[] = [];
  const matches = (module: Module): boolean => module.name.toLowerCase().includes(word) || module.children.some(matches);
  const visit = (module: Module) => {
    if (word !== "" && !matches(module)) return;
    const isOpen = word !== "" ? module.children.some(matches) : open(module);
    rows.push({ module, isOpen });
    if (isOpen) module.children.forEach(visit);
  };
  modules.forEach(visit);
  return rows;
}
