// What the page shows, in its address: #/VIEW?key=value&... A link shows what was seen when it was copied. Unknown keys
// stay, and are ignored.
import { computed, signal } from "@preact/signals";

const VERSION = "1";

export interface Place {
  view: string;
  params: ReadonlyMap<string, string>;
}

// One for each version before this one, from a place of that version to one of the next.
const UPGRADERS: Record<string, (place: Place) => Place> = {};

export function parsePlace(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  let place: Place = { view: path || "overview", params: new Map(new URLSearchParams(query)) };
  for (let version = place.params.get("v") ?? VERSION; version !== VERSION; ) {
    const upgrade = UPGRADERS[version];
    if (upgrade === undefined) break;
    place = upgrade(place);
    version = place.params.get("v") ?? VERSION;
  }
  return place;
}

export function hashOf(place: Place): string {
  const params = new URLSearchParams([["v", VERSION]]);
  for (const [key, value] of place.params) if (key !== "v" && value !== "") params.set(key, value);
  // Commas, colons and the like are part of no other syntax here, and easier to read as they are.
  const text = params.toString().replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%2F/g, "/").replace(/%3B/g, ";");
  return `#/${place.view}?${text}`;
}

const current = signal<Place>(parsePlace(typeof location === "undefined" ? "" : location.hash));

export const place = computed(() => current.value);
export const view = computed(() => current.value.view);
export const param = (key: string): string => current.value.params.get(key) ?? "";

// What goes with a user from view to view.
const LASTING = ["job", "base", "ranks", "steps"];

export function linkTo(target: string, params: Record<string, string> = {}): string {
  const all = new Map<string, string>();
  for (const key of LASTING) if (param(key) !== "") all.set(key, param(key));
  for (const [key, value] of Object.entries(params)) all.set(key, value);
  return hashOf({ view: target, params: all });
}

// An empty text takes a key out.
function changed(changes: Record<string, string>): Map<string, string> {
  const params = new Map(current.value.params);
  for (const [key, value] of Object.entries(changes)) {
    if (value === "") params.delete(key);
    else params.set(key, value);
  }
  return params;
}

const MOST_LETTERS = 1500;

// A link that stays in the view: what the address has stays, but for the changes. None, if it would be too long for one.
export function here(changes: Record<string, string>): string | undefined {
  if (Object.values(changes).some((value) => value.length > MOST_LETTERS)) return undefined;
  return hashOf({ view: current.value.view, params: changed(changes) });
}

const MOST_OF_A_LINK = 2000; // longer ones are cut off by some of what people send them with

// The address of a place on this page, to be given to others. From one that is too long the user's marks are left out.
export function linkToGive(page: string, hash: string): { link: string; isWithoutMarks: boolean } {
  const given = parsePlace(hash);
  const isWithoutMarks = page.length + hash.length > MOST_OF_A_LINK && given.params.has("marks");
  const params = new Map([...given.params].filter(([key]) => key !== "marks"));
  return { link: page + (isWithoutMarks ? hashOf({ ...given, params }) : hash), isWithoutMarks };
}

// The rank that views of one rank show; "": all that are shown. A filter that names one rank chooses it.
export const chosenRank = (): string => param("rank") || (/^\d+$/.test(param("ranks")) ? param("ranks") : "");

let written = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
const BETWEEN_WRITES_MS = 250; // browsers refuse many more

function write(push: boolean): void {
  clearTimeout(timer);
  timer = undefined;
  const hash = hashOf(current.value);
  if (hash === location.hash) return;
  if (push) history.pushState(null, "", hash);
  else history.replaceState(null, "", hash);
  written = performance.now();
}

// `push`: the user went somewhere, and Back leads back; else something moved.
export function setParams(changes: Record<string, string>, options: { push?: boolean } = {}): void {
  const params = changed(changes);
  if (options.push) write(false); // what is not written yet belongs to the place that is left
  current.value = { ...current.value, params };
  if (options.push) return write(true);
  const wait = written + BETWEEN_WRITES_MS - performance.now();
  if (wait <= 0) write(false);
  else timer ??= setTimeout(() => write(false), wait);
}

export const setParam = (key: string, value: string, options: { push?: boolean } = {}): void =>
  setParams({ [key]: value }, options);

export function goTo(hash: string): void {
  write(false);
  current.value = parsePlace(hash);
  write(true);
}

// The address was changed by hand, by a link, or by Back.
export function followAddress(): void {
  const follow = () => {
    clearTimeout(timer);
    timer = undefined;
    if (hashOf(current.value) !== location.hash) current.value = parsePlace(location.hash);
  };
  follow(); // what stood in the address beside the place is gone by now
  addEventListener("hashchange", follow);
  addEventListener("popstate", follow);
}
