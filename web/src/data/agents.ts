// The agents that a server shows: `spotter serve` with --socket, --host or --slurm-job, or an agent that serves this page
// itself. What is asked of one goes by its prefix. What changes while it is looked at is asked for again and again, and
// stays in sight where an answer does not come.
import { signal, type Signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { COLUMNS_TYPE } from "./columns.ts";
import { ask, bytesOf, request } from "./server_source.ts";
import { SourceError } from "./source.ts";
import { tableOf, type Document, type Table } from "./table.ts";
import { jobs, pending, sentenceOf, source, type Loaded } from "./use.ts";

export interface Host {
  name: string;
  address: string;
  kind: string; // local or remote
  state: "up" | "down" | "denied" | "asked";
  message: string; // why it is not up
  role: string; // what may be asked of it: view, trace, admin; empty: not known
  isForViewer: boolean; // who asks has the token for viewers of `spotter serve`, which asks agents with its own rights
  version: string; // empty: not known
  uptimeNs: number; // NaN: not known
  failing: string | null; // parts of the agent, empty: none; null: not known
  hasHistory: boolean; // or that is not known
  prefix: string; // "", or "v1/hosts/NAME/"
}

export interface Hosts {
  list: Host[];
  table: Table | null; // as it came
  job: string; // that is shown first; empty: any
}

export function hostsOf(document: Document): Hosts {
  const table = tableOf(document, "hosts");
  const { job, viewer } = document.members;
  const list = Array.from({ length: table.rows }, (_, row): Host => ({
    name: table.text("host", row),
    address: table.text("address", row),
    kind: table.text("kind", row),
    state: table.text("state", row) as Host["state"],
    message: table.text("message", row),
    role: table.text("role", row),
    isForViewer: viewer === true,
    version: table.text("version", row),
    uptimeNs: table.absolute("uptime_ns", row),
    failing: table.isNull("failing", row) ? null : table.text("failing", row),
    hasHistory: !table.has("history") || table.exact("history", row) !== "false",
    prefix: table.text("prefix", row),
  }));
  return { list, table, job: typeof job === "string" ? job : "" };
}

export const mayTrace = (host: Host): boolean => host.state === "up" && host.role !== "view";

// What captures have written; an agent lets do that who may trace, `spotter serve` its viewers, too.
export const mayRead = (host: Host): boolean => mayTrace(host) || (host.state === "up" && host.isForViewer);

// Below /v1 of an agent.
export const pathOf = (host: Host, path: string): string => (host.prefix === "" ? `v1/${path}` : `${host.prefix}${path}`);

export const askHost = (host: Host, path: string, init: RequestInit = {}): Promise<Document> => ask(pathOf(host, path), init);

// The file of `bytes` bytes that process `pid` has written in a capture, which comes in parts. `told`: how much is here.
export async function fileOf(host: Host, capture: string, pid: string, bytes: number, told: (part: number) => void): Promise<Blob> {
  const parts: ArrayBuffer[] = [];
  for (let from = 0; from < bytes; ) {
    const answer = await request(pathOf(host, `captures/${encodeURIComponent(capture)}/file?pid=${encodeURIComponent(pid)}&from=${from}`));
    const part = await bytesOf(answer);
    if (part.byteLength === 0) throw new SourceError(`the file ends at byte ${from} of ${bytes}: it has changed since it was written`);
    parts.push(part);
    from += part.byteLength;
    told(from / bytes);
  }
  return new Blob(parts);
}

export async function tellHost(host: Host, path: string, body: unknown): Promise<Response> {
  return request(pathOf(host, path), {
    method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", Accept: COLUMNS_TYPE },
  });
}

// What is shown of something that changes: the last answer, and why there is no newer one.
export interface Live<T> {
  value: T | null;
  error: string;
}

interface Kept<T> {
  shown: Signal<Live<T>>;
  of: string | null; // from whom the answer is; null: there is none
}

const MOST_KEPT = 50;
const kept = new Map<string, Kept<unknown>>();

function keptOf<T>(key: string): Kept<T> {
  const entry = (kept.get(key) as Kept<T> | undefined) ?? { shown: signal<Live<T>>({ value: null, error: "" }), of: null };
  kept.delete(key);
  kept.set(key, entry as Kept<unknown>);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
  return entry;
}

// What is shown next begins without the last answers: one of them cannot be drawn.
export const forgetLive = (): void => kept.clear();

// `load` is given the answer before. Asks again `everyMs` after each one, while it is shown and the page is seen; 0: not again by itself. With another key
// it is another question; with another `of` the same one to others, and the answer before stays in sight until theirs comes.
export function useLive<T>(key: string, load: (signal: AbortSignal, before: T | null) => Promise<T>, everyMs: number, of = ""): Live<T> {
  const entry = useMemo(() => keptOf<T>(key), [key]);
  useEffect(() => follow(entry, of, load, everyMs), [entry, of, everyMs]);
  return entry.shown.value;
}

function follow<T>(entry: Kept<T>, of: string, load: (signal: AbortSignal, before: T | null) => Promise<T>, everyMs: number): () => void {
  const { shown } = entry;
  const ending = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isFirst = entry.of !== of;
  if (isFirst) pending.value += 1;
  const settle = () => {
    if (isFirst) pending.value -= 1;
    isFirst = false;
  };
  const ask = async () => {
    if (!document.hidden || isFirst) {
      try {
        const value = await load(ending.signal, shown.peek().value);
        if (ending.signal.aborted) return;
        entry.of = of;
        shown.value = { value, error: "" };
      } catch (error) {
        if (ending.signal.aborted) return;
        shown.value = { ...shown.peek(), error: sentenceOf(error) };
      }
      settle();
    }
    if (everyMs > 0) timer = setTimeout(ask, everyMs);
  };
  void ask();
  return () => {
    ending.abort();
    clearTimeout(timer);
    settle();
  };
}

// Which hosts there are: asked when the page begins, so that it is known which views there are to show.
export const hosts = signal<Loaded<Hosts>>({ state: "loading" });
const EVERY_MS = 4000; // agents keep a connection for five seconds

// `act` is called when that is known, and whether there are traces, too.
export async function findHosts(act: (hasTraces: boolean) => void = () => undefined): Promise<void> {
  if (source.value?.kind !== "server") {
    hosts.value = { state: "here", value: NONE };
    return;
  }
  pending.value += 1;
  const hasTraces = await jobs().then((all) => all.rows > 0, () => true);
  try {
    hosts.value = { state: "here", value: await loadHosts() };
    act(hasTraces);
  } catch (error) {
    hosts.value = { state: "failed", error: sentenceOf(error) };
  }
  pending.value -= 1;
}

async function loadHosts(signal?: AbortSignal): Promise<Hosts> {
  return hostsOf(await ask("v1/hosts", signal ? { signal } : {}));
}

export const showsAgents = (): boolean => hosts.value.state === "here" && hosts.value.value.list.length > 0;

// The hosts as they are now, and why there is nothing newer. To be read while drawing a view of agents.
export function useHosts(): Hosts & { error: string } {
  const live = useLive("hosts", async (signal) => {
    const value = await loadHosts(signal);
    hosts.value = { state: "here", value };
    return value;
  }, EVERY_MS);
  const first = hosts.value;
  return { ...(live.value ?? (first.state === "here" ? first.value : NONE)), error: live.error };
}

const NONE: Hosts = { list: [], table: null, job: "" };
