// Ranks and steps as the command line spells them: 0,3-7.

// As a test. An empty text is all; what is no range has no number in it.
export function rangesHave(text: string): (number: number) => boolean {
  const ranges = text
    .split(",")
    .map((part) => /^(\d+)(?:-(\d+))?$/.exec(part.trim()))
    .filter((range) => range !== null)
    .map((range) => [Number(range[1]), Number(range[2] ?? range[1])] as const);
  return (number) => text === "" || ranges.some(([from, to]) => number >= from && number <= to);
}

// Those of `all` that are meant; what has no number is meant by an empty text alone.
export const inRanges = (text: string, all: readonly string[]): string[] =>
  text === "" ? [...all] : all.filter((each) => rangesHave(text)(Number(each)));

export const firstNumber = (text: string): string => /^\d+/.exec(text)?.[0] ?? "";
