// Where the files of the traced host are here: rules from the beginning of a path to what stands in its place, the longest
// first.
import { cleanPath } from "./frames.ts";

export interface Rule {
  from: string; // "/workspace", "" for paths that begin nowhere, "*/site-packages/torch" wherever that folder is
  to: string; // a folder, "" for a path below the project's root, or a web address (a template, links.ts)
}

export interface Match {
  rule: Rule;
  rest: string; // what comes after the rule's folder
}

const withoutSlash = (path: string): string => path.replace(/\\/g, "/").replace(/\/+$/, "");

// The rest of the path if it lies below that folder, and how much of it the folder takes.
function below(path: string, from: string): { rest: string; taken: number } | null {
  const folder = withoutSlash(from);
  if (folder.startsWith("*/")) {
    const inner = `/${folder.slice(2)}/`;
    const at = `/${path}`.lastIndexOf(inner);
    return at < 0 ? null : { rest: path.slice(at + inner.length - 1), taken: at + inner.length - 1 };
  }
  if (from === "") return path.startsWith("/") || /^[A-Za-z]:\//.test(path) ? null : { rest: path, taken: 0 };
  if (folder === "" && path.startsWith("/")) return { rest: path.slice(1), taken: 1 };
  if (path === folder) return { rest: "", taken: folder.length };
  return folder !== "" && path.startsWith(`${folder}/`) ? { rest: path.slice(folder.length + 1), taken: folder.length + 1 } : null;
}

// Of rules that take as much, the first one.
export function matchRule(path: string, rules: readonly Rule[]): Match | null {
  let best: Match | null = null;
  let most = -1;
  for (const rule of rules) {
    const found = below(path, rule.from.trim());
    if (found === null || found.taken <= most) continue;
    best = { rule, rest: found.rest };
    most = found.taken;
  }
  return best;
}

export const isAddress = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(text);

export function placeOf({ rule, rest }: Match): string {
  const to = withoutSlash(rule.to.trim());
  if (rest === "") return to;
  if (to === "") return rule.to.trim() === "" ? rest : `/${rest}`;
  return `${to}/${rest}`;
}

// "Where is it here?" From the place of one file the rule for all beside it: what both paths end in falls away.
export function ruleFrom(there: string, here: string): Rule | null {
  const [path, place] = [cleanPath(there.trim()), cleanPath(here.trim())];
  if (path === null || place === null || path === place) return null;
  const [from, to] = [path.split("/"), place.split("/")];
  let same = 0;
  while (from.length > 0 && to.length > 0 && from.at(-1) === to.at(-1) && from.at(-1) !== "") {
    from.pop();
    to.pop();
    same += 1;
  }
  // Of an absolute path the root's empty segment is left.
  const folder = (segments: string[]) => (segments.length === 1 && segments[0] === "" ? "/" : segments.join("/"));
  return same === 0 ? null : { from: folder(from), to: folder(to) };
}

// What is wrong with a rule, as a sentence; "" if nothing.
export function wrongIn(rule: Rule): string {
  if (rule.to.trim().startsWith("~")) return "Write the whole path: editors do not know ~.";
  if (isAddress(rule.from)) return "What is replaced is the beginning of a path in the trace.";
  return "";
}
