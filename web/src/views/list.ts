// Every view, in the order of the list on the page. A further one is a file here and a line.
import type { ComponentType } from "preact";
import { showsAgents } from "../data/agents.ts";
import { source, useJobs } from "../data/use.ts";
import { CallTree } from "./call_tree.tsx";
import { Captures } from "./captures.tsx";
import { CriticalPath } from "./critical_path.tsx";
import { Diff } from "./diff.tsx";
import { Distributed } from "./distributed.tsx";
import { Hosts } from "./hosts.tsx";
import { Idle } from "./idle.tsx";
import { Incidents } from "./incidents.tsx";
import { Kernels } from "./kernels.tsx";
import { Live } from "./live.tsx";
import { Memory } from "./memory.tsx";
import { Modules } from "./modules.tsx";
import { Operators } from "./operators.tsx";
import { Overview } from "./overview.tsx";
import { Steps } from "./steps.tsx";
import { Tables } from "./tables.tsx";
import { TimelineView } from "./timeline.tsx";

export interface View {
  name: string; // in the address
  Component: ComponentType;
  of?: "report" | "server" | "agents"; // where it is shown; absent: everywhere
  needsNoJob?: boolean;
}

export const ALL_VIEWS: View[] = [
  { name: "overview", Component: Overview },
  { name: "steps", Component: Steps },
  { name: "operators", Component: Operators },
  { name: "kernels", Component: Kernels },
  { name: "modules", Component: Modules },
  { name: "timeline", Component: TimelineView },
  { name: "memory", Component: Memory },
  { name: "distributed", Component: Distributed },
  { name: "critical-path", Component: CriticalPath },
  { name: "idle", Component: Idle },
  { name: "call-tree", Component: CallTree },
  { name: "diff", Component: Diff },
  { name: "tables", Component: Tables },
  { name: "live", Component: Live, of: "agents", needsNoJob: true },
  { name: "incidents", Component: Incidents, of: "agents", needsNoJob: true },
  { name: "captures", Component: Captures, of: "agents", needsNoJob: true },
  { name: "hosts", Component: Hosts, of: "agents", needsNoJob: true },
];

// To be read while drawing. Where there are agents and no traces, there is nothing to show of traces.
export function isShown(view: View): boolean {
  if (view.of === "agents") return showsAgents();
  if (view.of !== undefined && view.of !== source.value?.kind) return false;
  const jobs = useJobs();
  return view.needsNoJob === true || !showsAgents() || jobs.state !== "here" || jobs.value.rows > 0;
}
