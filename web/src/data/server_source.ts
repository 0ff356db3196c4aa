// The tables of a server: `spotter serve`, or an agent. Its token comes in the fragment of the first address, once, and is
// kept for this origin; it goes with every request.
import { COLUMNS_TYPE, readColumns } from "./columns.ts";
import { Busy, NoAnswer, SourceError, analysesOf, jobOf, type Analysis, type Job, type Source, type TableOptions } from "./source.ts";
import { tableOf, type Document, type Table } from "./table.ts";

const TOKEN = "spotter.token";

// Takes the token out of the address, if one is there; false: there was none.
export function keepToken(): boolean {
  const match = /(^#|&)token=([^&]+)&?/.exec(location.hash);
  if (match === null) return false;
  try {
    localStorage.setItem(TOKEN, decodeURIComponent(match[2]!));
  } catch {
    sessionToken = decodeURIComponent(match[2]!);
  }
  history.replaceState(null, "", location.pathname + location.search + (location.hash.replace(match[0], match[1]!).replace(/^#&?$/, "") || ""));
  return true;
}

let sessionToken = ""; // where the browser keeps nothing

function token(): string {
  try {
    return localStorage.getItem(TOKEN) ?? sessionToken;
  } catch {
    return sessionToken;
  }
}

const BUSY = 409;
const AGAIN_MS = [250, 500, 1000];

// Below the page's own address, wherever a proxy has put it.
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token() !== "") headers.set("Authorization", `Bearer ${token()}`);
  let answer: Response;
  try {
    answer = await fetch(path, { ...init, headers, credentials: "omit" });
  } catch {
    throw new NoAnswer("the server does not answer; is it still running?");
  }
  if (answer.ok) return answer;
  if (answer.status === 401 && answer.headers.has("WWW-Authenticate"))
    throw new SourceError("the server wants its token: open the address that `spotter serve` has printed");
  const said = await answer.json().catch(() => null) as { error?: { message?: string } } | null;
  if (answer.status === 401)
    throw new SourceError(`the agent does not let you in: ${said?.error?.message ?? ""}; its page is opened with a client's certificate, or with #token=TOKEN behind its address`);
  throw new (answer.status === BUSY ? Busy : SourceError)(said?.error?.message ?? `the server answers ${path} with status ${answer.status}`);
}

export const bytesOf = (answer: Response): Promise<ArrayBuffer> =>
  answer.arrayBuffer().catch(() => {
    throw new NoAnswer("the server's answer broke off; is it still running?");
  });

// Who is busy, as with what other tabs of this page ask, is asked again.
export async function ask(path: string, init: RequestInit = {}): Promise<Document> {
  for (let tries = 0; ; ++tries) {
    try {
      const answer = await request(path, { ...init, headers: { Accept: COLUMNS_TYPE, ...init.headers } });
      return readColumns(new Uint8Array(await bytesOf(answer)));
    } catch (error) {
      if (!(error instanceof Busy) || tries === AGAIN_MS.length) throw error;
      await new Promise((done) => setTimeout(done, AGAIN_MS[tries]));
    }
  }
}

async function askTable(path: string, name: string): Promise<Table> {
  const table = tableOf(await ask(path), name);
  table.address = path;
  return table;
}

export function query(options: TableOptions): string {
  const all = new URLSearchParams(options.params);
  if (options.ranks) all.set("ranks", options.ranks);
  if (options.steps) all.set("steps", options.steps);
  const text = all.toString();
  return text === "" ? "" : `?${text}`;
}

export class ServerSource implements Source {
  readonly kind = "server";

  async jobs(): Promise<Table> {
    return tableOf(await ask("v1/jobs"), "jobs");
  }

  async job(id: string): Promise<Job> {
    const found = await ask(`v1/jobs/${id}`);
    return jobOf(tableOf(found, "jobs"), tableOf(found, "facts"), tableOf(found, "ranks"));
  }

  async table(job: string, name: string, options: TableOptions = {}): Promise<Table> {
    return askTable(`v1/jobs/${job}/tables/${name}${query(options)}`, name);
  }

  async spans(job: string, rank: string): Promise<Table> {
    return tableOf(await ask(`v1/jobs/${job}/spans${rank === "none" ? "" : `?rank=${rank}`}`), "spans");
  }

  hasSpans(): boolean {
    return true;
  }

  async event(job: string, rank: string, event: number): Promise<Table> {
    return tableOf(await ask(`v1/jobs/${job}/events/${rank}/${event}`), "event");
  }

  async diff(before: string, after: string, table: string, options: TableOptions = {}): Promise<Table> {
    const asked = query({ ...options, params: { before, after, table, ...options.params } });
    return askTable(`v1/diff${asked}`, table);
  }

  async analyses(): Promise<Analysis[]> {
    return analysesOf(tableOf(await ask("v1/analyses"), "analyses"));
  }
}
