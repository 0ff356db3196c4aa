// Where a line of source code is to be seen: in an editor, or on the web at the job's commit. All that goes into a link may
// be hostile: paths are encoded, schemes are known ones, and nothing of a path comes before a link's host.
import { printable } from "./format.ts";
import { cleanPath, isAbsolute, type Frame } from "./frames.ts";
import { isAddress, matchRule, placeOf, type Rule } from "./path_rules.ts";

export interface Editor {
  key: string;
  title: string;
  template: string;
  asks?: "host" | "project"; // what else it needs
  help?: string;
}

const codeLike = (scheme: string, title: string): Editor => ({ key: scheme, title, template: `${scheme}://file{path}:{line}:{column}` });
// Without line and column VS Code takes the path for a folder (microsoft/vscode-remote-release#4779).
const remote = (kind: string) => `vscode://vscode-remote/${kind}+{host}{path}:{line}:{column}`;

export const EDITORS: Editor[] = [
  codeLike("vscode", "VS Code"),
  { key: "vscode-ssh", title: "VS Code, over SSH", template: remote("ssh-remote"), asks: "host", help: "the host as your SSH configuration names it" },
  { key: "vscode-container", title: "VS Code, in a container", template: remote("attached-container"), asks: "host", help: "the container's name" },
  { key: "vscode-wsl", title: "VS Code, in WSL", template: remote("wsl"), asks: "host", help: "the distribution's name" },
  codeLike("vscode-insiders", "VS Code Insiders"),
  codeLike("cursor", "Cursor"),
  codeLike("vscodium", "VSCodium"),
  codeLike("windsurf", "Windsurf"),
  { key: "pycharm", title: "PyCharm", template: "pycharm://open?file={path}&line={line}" },
  { key: "idea", title: "IntelliJ IDEA", template: "idea://open?file={path}&line={line}" },
  {
    key: "jetbrains", title: "PyCharm by JetBrains Toolbox", asks: "project", help: "the project's name; rules lead to paths below its root",
    template: "jetbrains://pycharm/navigate/reference?project={project}&path={relative}:{line}",
  },
  { key: "zed", title: "Zed", template: "zed://file{path}:{line}" },
  { key: "sublime", title: "Sublime Text", template: "subl://open?url=file://{path}&line={line}" },
  { key: "textmate", title: "TextMate", template: "txmt://open?url=file://{path}&line={line}" },
];

export interface SourceSettings {
  editor: string; // of EDITORS, "custom", or "": on the web
  host: string;
  project: string;
  template: string; // of "custom"
  sourceUrl: string; // on the web; "": the job's, if it has one
  torchOnWeb: boolean; // PyTorch's own files where PyTorch publishes them
  torchVersion: string; // "": the job's, if it tells
  rules: Rule[];
}

export const DEFAULTS: SourceSettings = { editor: "", host: "", project: "", template: "", sourceUrl: "", torchOnWeb: true, torchVersion: "", rules: [] };

// What was kept, as far as it is usable.
export function settingsOf(kept: unknown): SourceSettings {
  const from = (typeof kept === "object" && kept !== null ? kept : {}) as Record<string, unknown>;
  const text = (key: string) => (typeof from[key] === "string" ? from[key] : "");
  const rules = Array.isArray(from.rules) ? (from.rules as unknown[]) : [];
  return {
    editor: text("editor"), host: text("host"), project: text("project"), template: text("template"), sourceUrl: text("sourceUrl"),
    torchOnWeb: from.torchOnWeb !== false, torchVersion: text("torchVersion"),
    rules: rules
      .map((each) => each as Partial<Rule> | null)
      .filter((each): each is Rule => typeof each?.from === "string" && typeof each?.to === "string")
      .map(({ from, to }) => ({ from, to })),
  };
}

const NEVER = new Set(["javascript", "data", "file", "vbscript", "blob", "about", "filesystem", "view-source"]);

// What is wrong with a template that the user typed himself, as a sentence; "" if nothing.
export function wrongWith(template: string): string {
  const scheme = template.match(/^([a-z][a-z0-9+.-]*):/i)?.[1]?.toLowerCase();
  if (scheme === undefined) return "A template begins with a scheme, as https:// or vscode://.";
  if (NEVER.has(scheme)) return `Links with ${scheme}: are never made.`;
  if (/[\u0000-\u0020\u007f-\u00a0\\]/.test(template)) return "A template has no blanks and no backslashes.";
  const host = template.match(/^https?:\/\/([^/?#]*)/i)?.[1];
  if (/^https?:/i.test(template) && (host === undefined || host === "" || host.includes("{"))) return "The host has to stand in the template itself.";
  const unknown = template.match(/\{[^}]*\}?/g)?.find((each) => !PLACEHOLDERS.includes(each));
  if (unknown !== undefined) return `There is no ${unknown}; there are ${PLACEHOLDERS.join(" ")}.`;
  return /\{(path|relative)\}/.test(template) ? "" : "A template has {path} or {relative} in it.";
}

const PLACEHOLDERS = ["{path}", "{relative}", "{line}", "{column}", "{host}", "{project}", "{commit}"];

// The web addresses of the source, with the folder of the traced host that each is of: "[ROOT=]TEMPLATE ...". A template
// without placeholders is the repository's root.
export function sourceUrlRules(words: string): Rule[] {
  return words.split(/\s+/).filter((word) => word !== "").map((word) => {
    const equals = word.indexOf("=");
    const hasRoot = equals > 0 && !isAddress(word.slice(0, equals));
    const template = hasRoot ? word.slice(equals + 1) : word;
    return {
      from: hasRoot ? word.slice(0, equals) : "",
      to: /\{(path|relative)\}/.test(template) ? template : `${template.replace(/\/+$/, "")}/{relative}#L{line}`,
    };
  });
}

// A report's own address was typed by whoever made the report: it leads to the web, or to a file in a known editor.
const TO_FILE = /^(?:(?:vscode|vscode-insiders|cursor|vscodium|windsurf|zed):\/\/file|vscode:\/\/vscode-remote)(?:\/|\{path\})/;
const isOfReport = (template: string): boolean =>
  /^https?:/i.test(template) || TO_FILE.test(template) || EDITORS.some((each) => each.template === template);

// The tag or commit of PyTorch's repository for "2.13.0+cu130", "2.1.0a0+gitabc1234", "2.6.0a0+ecf3bae40a.nv25.01".
export function torchRevision(version: string): string {
  const commit = version.match(/\+(?:git)?([0-9a-f]{7,40})(?:\.|$)/)?.[1];
  if (commit !== undefined) return commit;
  const release = version.match(/^v?(\d+\.\d+\.\d+)(?:\+|$|\.post)/)?.[1];
  return release === undefined ? "main" : `v${release}`;
}

function torchRules(version: string): Rule[] {
  const to = `https://github.com/pytorch/pytorch/blob/${torchRevision(version)}/torch/{relative}#L{line}`;
  return ["*/site-packages/torch", "*/dist-packages/torch", "torch"].map((from) => ({ from, to }));
}

const encoded = (path: string): string =>
  path.split("/").map((segment, at) => (at <= 1 && /^[A-Za-z]:$/.test(segment) ? segment : encodeURIComponent(segment).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`))).join("/");

// As VS Code names a container that it is attached to: what it is, in hexadecimal digits.
const containerName = (name: string): string =>
  [...new TextEncoder().encode(JSON.stringify({ containerName: `/${name.replace(/^\//, "")}` }))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export interface SourceLink {
  href: string;
  template: string; // what the link was made from
  isWeb: boolean;
}

// A link, or why there is none, as a sentence ("": this is no line of a file).
export type Resolved = { link: SourceLink } | { why: string };

interface Values {
  path: string; // "" if it is not known where it begins
  relative: string; // "" if it is not known what it is relative to
}

function filled(template: string, frame: Frame, values: Values, settings: SourceSettings, commit: string): Resolved {
  const wrong = wrongWith(template);
  if (wrong !== "") return { why: wrong };
  const path = /^[A-Za-z]:/.test(values.path) && !template.includes("={path}") ? `/${values.path}` : values.path;
  const host = settings.host.trim();
  const texts: Record<string, string> = {
    "{path}": encoded(path), "{relative}": encoded(values.relative), "{line}": String(frame.line), "{column}": String(frame.column),
    "{host}": encodeURIComponent(template.includes("attached-container+") && host !== "" ? containerName(host) : host),
    "{project}": encodeURIComponent(settings.project.trim()), "{commit}": encodeURIComponent(commit),
  };
  const whys: Record<string, string> = {
    "{path}": "The trace names this file without its folder: a rule in the settings can say where it is here.",
    "{relative}": "It is not known where the project begins: a rule in the settings from its folder to nothing can say so.",
    "{host}": "The settings do not name the host.", "{project}": "The settings do not name the project.", "{commit}": "The job does not tell its commit.",
  };
  const missing = PLACEHOLDERS.find((each) => template.includes(each) && texts[each] === "");
  if (missing !== undefined) return { why: whys[missing] ?? "" };
  const href = template.replace(/\{[a-z]+\}/g, (placeholder) => texts[placeholder]!);
  return { link: { href, template, isWeb: /^https?:/i.test(template) } };
}

export const describe = (frame: Frame): string => printable(`${frame.path}:${frame.line}${frame.name ? ` in ${frame.name}` : ""}`);

// `facts`: of the job; source_url, torch_version and commit count.
export function resolveSource(frame: Frame, settings: SourceSettings, facts: ReadonlyMap<string, string>): Resolved {
  const path = cleanPath(frame.path);
  if (path === null) return { why: "" };
  try {
    const fill = (template: string, values: Values) => filled(template, frame, values, settings, facts.get("commit") ?? "");
    const torch = settings.torchOnWeb ? torchRules(settings.torchVersion.trim() || (facts.get("torch_version") ?? "")) : [];
    const match = matchRule(path, [...settings.rules, ...torch]);
    if (match !== null && isAddress(match.rule.to)) return fill(sourceUrlRules(match.rule.to)[0]!.to, { path: "", relative: match.rest });
    const place = match === null ? path : (cleanPath(placeOf(match)) ?? "");
    const values = (relative: string): Values => ({ path: isAbsolute(place) ? place : "", relative });
    const editor = EDITORS.find((each) => each.key === settings.editor);
    if (editor !== undefined || settings.editor === "custom") return fill(editor?.template ?? settings.template.trim(), values(isAbsolute(place) ? "" : place));
    const own = sourceUrlRules(settings.sourceUrl);
    const addresses = own.length > 0 ? own : sourceUrlRules(facts.get("source_url") ?? "").filter((each) => isOfReport(each.to));
    if (addresses.length === 0) return { why: "Neither the job nor the settings say where its source is on the web, and no editor is chosen." };
    const address = matchRule(place, addresses);
    if (address !== null) return fill(address.rule.to, values(address.rest));
    // One that takes a whole path needs no root.
    const whole = addresses.find((each) => each.from === "" && each.to.includes("{path}"));
    return fill((whole ?? addresses[0]!).to, values(""));
  } catch {
    return { why: "" }; // half a character, which no address can have
  }
}
