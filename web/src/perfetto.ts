// Hands a part of a trace to Perfetto in a tab of its own. Its page takes a trace by a message, once it has answered one;
// nothing is sent to anybody else, and the trace stays in the browser.

const ORIGIN = "https://ui.perfetto.dev";
const BETWEEN_PINGS_MS = 100;
const LONGEST_WAIT_MS = 60_000;

export interface ForPerfetto {
  trace: () => Promise<ArrayBuffer>;
  title: string;
  fileName: string;
  // What is to be seen first: Unix time in ns.
  from: bigint;
  to: bigint;
}

// Perfetto refuses other characters.
export const perfettoTitle = (title: string): string => title.replace(/[^A-Za-z0-9.\-_#:/?=&;%+$ ]+/g, "_").slice(0, 200);

// The number that times in the file count from, or 0: it is near the file's beginning or its end.
export function baseOfTrace(trace: ArrayBuffer): bigint {
  const reach = 65_536;
  const decoder = new TextDecoder();
  const ends = [new Uint8Array(trace, 0, Math.min(reach, trace.byteLength)), new Uint8Array(trace, Math.max(0, trace.byteLength - reach))];
  for (const bytes of ends) {
    const found = /"baseTimeNanoseconds"\s*:\s*"?(-?\d{1,19})/.exec(decoder.decode(bytes));
    if (found) return BigInt(found[1]!);
  }
  return 0n;
}

// To be called by a click: a browser opens no window later. `own` is the address of another copy of Perfetto.
export async function openInPerfetto(what: ForPerfetto, own = ORIGIN): Promise<void> {
  const origin = new URL(own).origin;
  const tab = window.open(own, "_blank");
  if (tab === null) throw new Error("the browser did not open a tab for Perfetto; allow this page to open windows");
  const ready = answered(tab, origin);
  let trace: ArrayBuffer;
  try {
    [trace] = await Promise.all([what.trace(), ready]);
  } catch (error) {
    ready.catch(() => undefined);
    throw error;
  }
  const base = baseOfTrace(trace);
  const seconds = (ns: bigint): number => Number(ns - base) / 1e9;
  tab.postMessage(
    { perfetto: { buffer: trace, title: perfettoTitle(what.title), fileName: perfettoTitle(what.fileName), localOnly: true, keepApiOpen: true } },
    origin,
    [trace],
  );
  tab.postMessage({ perfetto: { timeStart: seconds(what.from), timeEnd: seconds(what.to), viewPercentage: 0.95 } }, origin);
}

// When the other page has answered. Only its own answer counts.
function answered(tab: Window, origin: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = performance.now();
    const done = (): void => {
      clearInterval(timer);
      removeEventListener("message", hear);
    };
    const hear = (event: MessageEvent): void => {
      if (event.source !== tab || event.origin !== origin || event.data !== "PONG") return;
      done();
      resolve();
    };
    const timer = setInterval(() => {
      if (tab.closed || performance.now() - begin > LONGEST_WAIT_MS) {
        done();
        reject(new Error(tab.closed ? "the tab of Perfetto was closed" : `${origin} does not answer; is there a network?`));
        return;
      }
      tab.postMessage("PING", origin);
    }, BETWEEN_PINGS_MS);
    addEventListener("message", hear);
  });
}
