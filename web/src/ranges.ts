// Ranks and steps as the command line spells them: 0,3-7.

// As a test.
export function rangesHave(text: string): (number: number) => boolean {
  const ranges = text.split(",").map((part) => part.split("-").map(Number));
  return (number) => ranges.some(([from, to = from]) => number >= from! && number <= to!);
}

export const firstNumber = (text: string): string => /^\d+/.exec(text)?.[0] ?? "";
