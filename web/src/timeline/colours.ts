// The timeline's colours besides those of the kinds, as the page's style sheet has them: a canvas cannot use its variables.
import type { Theme } from "./kinds.ts";

export interface Colours {
  background: string;
  band: string; // every second step
  grid: string;
  text: string;
  muted: string;
  edge: string;
  greyed: string; // what a search did not find
  idle: string;
  selection: string;
  selectionEdge: string;
  path: string;
  area: string; // of counters
  line: string;
  mark: string;
  fault: string;
}

const light: Colours = {
  background: "#FFFFFF",
  band: "#F4F6F8",
  grid: "#D9D9D9",
  text: "#1A1A1A",
  muted: "#595959",
  edge: "#8A8A8A",
  greyed: "#D0D3D6",
  idle: "#C9CDD1",
  selection: "#F0E442",
  selectionEdge: "#000000",
  path: "#A3341B",
  area: "#B9D6EA",
  line: "#0072B2",
  mark: "#7A5C00",
  fault: "#A3341B",
};

const dark: Colours = {
  background: "#14171A",
  band: "#1A1F24",
  grid: "#30363C",
  text: "#E8E8E8",
  muted: "#A8A8A8",
  edge: "#6E757C",
  greyed: "#3A4249",
  idle: "#3C444C",
  selection: "#F0E442",
  selectionEdge: "#F0E442",
  path: "#F0A28E",
  area: "#23445A",
  line: "#56B4E9",
  mark: "#F0E442",
  fault: "#F0A28E",
};

export const coloursOf = (theme: Theme): Colours => (theme === "dark" ? dark : light);
