// Links that stay in the view that is shown, and the one rank that views of one rank show.
import { hashOf, param, place } from "../state.ts";

const MOST_LETTERS = 1500;

// What the address has stays, but for the changes; an empty text takes a key out. No link, if it would be too long for one.
export function here(changes: Record<string, string>): string | undefined {
  if (Object.values(changes).some((value) => value.length > MOST_LETTERS)) return undefined;
  const params = new Map(place.value.params);
  for (const [key, value] of Object.entries(changes)) {
    if (value === "") params.delete(key);
    else params.set(key, value);
  }
  return hashOf({ view: place.value.view, params });
}

// "": all that are shown. A filter that names one rank chooses it.
export function chosenRank(): string {
  const rank = param("rank");
  if (rank !== "") return rank;
  return /^\d+$/.test(param("ranks")) ? param("ranks") : "";
}
