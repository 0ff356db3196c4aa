// Where the user wants lines of source code opened: kept in this browser, where it keeps anything.
import { signal } from "@preact/signals";
import type { Frame } from "./frames.ts";
import { settingsOf, type SourceLink, type SourceSettings } from "./source_links.ts";

const KEY = "spotter.source";
const TRUSTED_KEY = "spotter.source.trusted";

function kept(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null; // a page without storage, or what is there is not ours
  }
}

function keep(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // then it is so until the page is closed
  }
}

export const settings = signal<SourceSettings>(settingsOf(kept(KEY)));

export function change(changes: Partial<SourceSettings>): void {
  settings.value = { ...settings.value, ...changes };
  keep(KEY, settings.value);
}

// Another window's settings are these.
if (typeof addEventListener === "function")
  addEventListener("storage", (event) => {
    if (event.key === KEY) settings.value = settingsOf(kept(KEY));
  });

// Templates of editors whose links were shown whole, and followed.
const trusted = new Set<string>(stringsIn(kept(TRUSTED_KEY)));

function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

export const isTrusted = (link: SourceLink): boolean => link.isWeb || trusted.has(link.template);

export function trust(link: SourceLink): void {
  trusted.add(link.template);
  keep(TRUSTED_KEY, [...trusted]);
}

// What the user is asked: whether a link shall be followed, or where a file is.
export type Question = { follow: SourceLink } | { where: Frame; why: string };
export const question = signal<Question | null>(null);
