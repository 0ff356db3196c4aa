// The form that begins a capture: the options of `spotter trace`.
import { useSignal } from "@preact/signals";
import { tellHost, type Host } from "../../data/agents.ts";
import { readColumns } from "../../data/columns.ts";
import { sentenceOf } from "../../data/use.ts";
import { copy, Failure } from "../../failures.tsx";
import { setParam } from "../../state.ts";
import { captureText, commandOf, hostsFor, requestOf, USUAL, type CaptureId, type Wish } from "./data.ts";
import type { Part } from "./stacked.ts";

const FLAGS: [name: "shapes" | "stacks" | "memory" | "flops" | "modules" | "all", text: string, help: string][] = [
  ["shapes", "shapes", "record the shapes of operators' inputs"],
  ["stacks", "Python stacks", "record Python stacks (slow, large)"],
  ["memory", "memory events", "record memory events"],
  ["flops", "FLOPs", "estimate FLOPs"],
  ["modules", "modules", "record the modules of operators"],
  ["all", "launchers and workers, too", "processes that do not train are passed over otherwise"],
];

// `hosts`: that let who asks trace; `all`: how many there are.
export function Begin({ parts, hosts, all, firstJob }: { parts: Part[]; hosts: Host[]; all: number; firstJob: string }) {
  const wish = useSignal<Wish>({ ...USUAL, job: firstJob });
  const errors = useSignal<string[]>([]);
  const isAsked = useSignal(false);
  const set = (changes: Partial<Wish>) => (wish.value = { ...wish.value, ...changes });
  const jobs = [...new Set(parts.flatMap(({ table }) => Array.from({ length: table.rows }, (_, row) => table.text("job", row))))].filter((job) => job !== "");
  const meant = hostsFor(wish.value, parts, hosts);
  const begin = async (event: Event) => {
    event.preventDefault();
    if (isAsked.value) return;
    isAsked.value = true;
    const { begun, failed } = await beginOn(wish.value, meant);
    isAsked.value = false;
    errors.value = failed;
    if (begun.length > 0) setParam("capture", captureText(begun), { push: true });
  };
  const w = wish.value;
  const number = (name: "durationMs" | "iterations" | "roundup" | "warmupMs", label: string, least: number) => (
    <label>{label}{" "}
      <input type="number" min={least} step={1} size={6} required value={w[name]} onInput={(event) => set({ [name]: event.currentTarget.valueAsNumber })} />
    </label>
  );
  return (
    <form class="begin" onSubmit={begin}>
      <h3>Begin a capture</h3>
      {hosts.length < all && <p>{hosts.length === 0 ? "You may look here and not trace: that needs the role trace." : `On ${all - hosts.length} of ${all} hosts you may look and not trace.`}</p>}
      <fieldset>
        <legend>Processes</legend>
        <label>Job{" "}
          <select value={w.job} onChange={(event) => set({ job: event.currentTarget.value })}>
            <option value="">all that are listed</option>
            {[...new Set([...jobs, ...(firstJob === "" ? [] : [firstJob])])].map((job) => <option key={job} value={job}>{job}</option>)}
          </select>
        </label>
        <label>Ranks{" "}<input size={8} placeholder="all" title="as 0,3-7" value={w.ranks} onInput={(event) => set({ ranks: event.currentTarget.value })} /></label>
      </fieldset>
      <fieldset>
        <legend>How long</legend>
        <label><input type="radio" name="by" checked={w.by === "duration"} onChange={() => set({ by: "duration" })} /> a time</label>
        {w.by === "duration" && number("durationMs", "ms", 1)}
        <label><input type="radio" name="by" checked={w.by === "iterations"} onChange={() => set({ by: "iterations" })} /> iterations (optimizer steps)</label>
        {w.by === "iterations" && number("iterations", "how many", 1)}
        {w.by === "iterations" && number("roundup", "begin at a multiple of (0: any)", 0)}
        {number("warmupMs", "warm-up, ms", 0)}
      </fieldset>
      <fieldset>
        <legend>What is recorded beside operators and kernels</legend>
        {FLAGS.map(([name, text, help]) => (
          <label key={name} title={help}><input type="checkbox" checked={w[name]} onChange={(event) => set({ [name]: event.currentTarget.checked })} /> {text}</label>
        ))}
      </fieldset>
      <fieldset>
        <legend>Where to</legend>
        <label>Folder{" "}<input size={30} placeholder="the first one that the agent allows" value={w.output} onInput={(event) => set({ output: event.currentTarget.value })} /></label>
      </fieldset>
      <p>
        <button type="submit" class="go" disabled={meant.length === 0 || isAsked.value}>{isAsked.value ? "Asking …" : meant.length > 1 ? `Begin on ${meant.length} hosts` : "Begin"}</button>{" "}
        <button type="button" onClick={() => copy(commandOf(w, meant.filter((host) => host.kind === "remote").map((host) => host.name).join(",")))}>Copy as a command</button>
      </p>
      {errors.value.map((error) => <Failure key={error} error={error} />)}
    </form>
  );
}

async function beginOn(wish: Wish, hosts: readonly Host[]): Promise<{ begun: CaptureId[]; failed: string[] }> {
  const begun: CaptureId[] = [];
  const failed: string[] = [];
  let request: Record<string, unknown>;
  try {
    request = requestOf(wish, hosts.length, Date.now());
  } catch (error) {
    return { begun, failed: [sentenceOf(error)] };
  }
  await Promise.all(hosts.map(async (host) => {
    try {
      const answer = await tellHost(host, "captures", request);
      const { members } = readColumns(new Uint8Array(await answer.arrayBuffer()));
      begun.push({ host: host.name, id: String(members["capture"]) });
    } catch (error) {
      failed.push(`${host.name}: ${sentenceOf(error)}`);
    }
  }));
  return { begun, failed };
}
