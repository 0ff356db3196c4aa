// A line of source code as traces name it: what PyTorch, the TensorBoard plugin, py-spy, memory snapshots and Python's own
// tracebacks write.

export interface Frame {
  path: string;
  line: number;
  column: number; // 1 if it is not known
  name: string; // of the function; "" if it is not known
}

const MOST_LETTERS = 4096;

// "train.py(118): step", "train.py(118)": PyTorch.
const KINETO = /^(.+?)\((\d{1,9})\)(?:: ?(.*))?$/;
// File "train.py", line 118, in step: Python.
const TRACEBACK = /^File "(.+?)", line (\d{1,9})(?:, in (.*))?$/;
// "step (train.py:118)": py-spy.
const PY_SPY = /^(\S+) \((.+):(\d{1,9})\)$/;
// "train.py:118", "train.py:118:4", "train.py:118:step", "train.py:118 in step". Only of files of source code, since "host:80" is written alike.
const COLON = /^(.+?\.(?:py|pyx|pyi|ipynb|c|cc|cpp|cxx|cu|cuh|h|hh|hpp|cuda|hip|rs|go|js|ts|java|kt|jl|f90|mojo)):(\d{1,9})(?::(\d{1,9}))?(?:(?::| in) ?(.*))?$/i;

export function parseFrame(text: string): Frame | null {
  const trimmed = text.trim();
  if (trimmed.length > MOST_LETTERS) return null;
  const frame = (path: string, line: string, name = "", column = "1"): Frame => ({ path, line: Math.max(1, Number(line)), column: Math.max(1, Number(column)), name });
  let parts: RegExpMatchArray | null;
  if ((parts = trimmed.match(TRACEBACK))) return frame(parts[1]!, parts[2]!, parts[3]);
  if ((parts = trimmed.match(PY_SPY)) && COLON.test(`${parts[2]}:${parts[3]}`)) return frame(parts[2]!, parts[3]!, parts[1]);
  if ((parts = trimmed.match(KINETO)) && /[./\\<]/.test(parts[1]!)) return frame(parts[1]!, parts[2]!, parts[3]);
  if ((parts = trimmed.match(COLON))) return frame(parts[1]!, parts[2]!, parts[4], parts[3]);
  return null;
}

// With forward slashes and without "." and ".."; null if it names no file that could be opened: what Python made up
// ("<string>", "<frozen os>"), a path out of its root, and another host's share, which must never be asked for by a link.
export function cleanPath(path: string): string | null {
  if (path === "" || path.startsWith("<") || /[\u0000-\u001f\u007f-\u009f]/.test(path)) return null;
  const isWindows = /^[A-Za-z]:[\\/]/.test(path) || (path.includes("\\") && !path.includes("/"));
  if (path.startsWith("\\")) return null;
  const slashed = isWindows ? path.replaceAll("\\", "/") : path;
  if (slashed.endsWith("/")) return null;
  const kept: string[] = [];
  for (const segment of slashed.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") kept.push(segment);
    else if (kept.length === 0 || /^[A-Za-z]:$/.test(kept.at(-1)!)) return null;
    else kept.pop();
  }
  return kept.length === 0 ? null : (slashed.startsWith("/") ? "/" : "") + kept.join("/");
}

export const isAbsolute = (path: string): boolean => path.startsWith("/") || /^[A-Za-z]:\//.test(path);

// "train.py:118"; of a file that many folders have, with its folder.
export function shortPlace(frame: Frame): string {
  const segments = frame.path.split(/[\\/]/).filter((each) => each !== "");
  const kept = /^(__init__|__main__|index|mod)\./.test(segments.at(-1) ?? "") ? 2 : 1;
  return `${segments.slice(-kept).join("/")}:${frame.line}`;
}
