// How hosts and ranks are now, as tables. Empty cells are not known.
import type { Host } from "../../data/agents.ts";
import { Table } from "../../data/table.ts";
import { chartsOf, gpusOf, NOW, nowOf, spanOf, type RankNow } from "./data.ts";
import { numbersColumn, textsColumn } from "../../data/made_table.ts";
import type { HostSamples } from "./samples.ts";

export function fleetTable(list: readonly Host[], samples: ReadonlyMap<string, HostSamples>, ranks: readonly { host: string; job: string }[]): Table {
  const now = list.map((host) => {
    const found = samples.get(host.name);
    const tables = found?.now ?? [];
    return nowOf(chartsOf(tables, spanOf(NOW, found?.atNs ?? 0)).charts, gpusOf(tables).length || Number.NaN);
  });
  const jobs = list.map((host) => [...new Set(ranks.filter((rank) => rank.host === host.name).map((rank) => rank.job))].join(", "));
  const ratio = (name: string, values: number[], help: string) => numbersColumn(name, values, { help, unit: "ratio", type: "real" });
  return new Table("hosts_now", list.length, [
    textsColumn("host", list.map((host) => host.name), { help: "The host.", role: "key" }),
    textsColumn("state", list.map((host) => host.state), { help: "up, down (no agent answers), denied, or asked (it has not answered yet)." }),
    ratio("processors", now.map((each) => each.cpu), "Part of the processors that is busy."),
    ratio("memory", now.map((each) => each.memory), "Part of the memory that is in use."),
    numbersColumn("gpus", now.map((each) => each.gpus), { help: "GPUs that the agent finds.", unit: "count" }),
    ratio("gpu_busy", now.map((each) => each.gpuBusy), "Part of the time in which a kernel runs, mean over the GPUs."),
    ratio("least_busy_gpu", now.map((each) => each.gpuLeast), "The same of the GPU that is busy least."),
    ratio("gpu_memory", now.map((each) => each.gpuMemory), "Part of the memory of all GPUs that is in use."),
    textsColumn("jobs", jobs, { help: "Jobs whose processes run there." }),
    textsColumn("message", list.map((host) => host.message || samples.get(host.name)?.problem || ""), { help: "Why it is not up, or tells nothing." }),
  ]);
}

export function rankTable(ranks: readonly (RankNow & { host: string })[]): Table {
  const numbers = (name: string, of: (rank: RankNow) => number, unit: "count" | "bytes", help: string) =>
    numbersColumn(name, ranks.map(of), { help, unit, type: "real" });
  return new Table("ranks_now", ranks.length, [
    textsColumn("job", ranks.map((rank) => rank.job), { help: "The job.", role: "key" }),
    numbersColumn("rank", ranks.map((rank) => (rank.rank === "" ? Number.NaN : Number(rank.rank))), { help: "Rank in the job.", role: "key" }),
    textsColumn("host", ranks.map((rank) => rank.host), { help: "Its host.", role: "key" }),
    textsColumn("user", ranks.map((rank) => rank.user), { help: "Whose processes they are." }),
    numbersColumn("step_ns", ranks.map((rank) => rank.step), { help: "Time from one step of the optimizer to the next, as PyTorch tells.", unit: "ns", type: "real" }),
    numbers("processes", (rank) => rank.processes, "count", "Processes, workers among them."),
    numbers("processors", (rank) => rank.cores, "count", "Processors that its processes keep busy."),
    numbers("memory_bytes", (rank) => rank.resident, "bytes", "Memory that they hold."),
    textsColumn("gpus", ranks.map((rank) => rank.gpus), { help: "GPUs that they are on." }),
    numbers("gpu_memory_bytes", (rank) => rank.gpuMemory, "bytes", "Device memory that they hold."),
  ]);
}
