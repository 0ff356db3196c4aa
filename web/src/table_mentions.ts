// Sentences of the program name tables as its command line has them: "(--table collectives)".

export type Piece = { text: string } | { table: string };

export function piecesOf(sentence: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of sentence.matchAll(/--table ([a-z][a-z_]*)/g)) {
    if (match.index > at) pieces.push({ text: sentence.slice(at, match.index) });
    pieces.push({ table: match[1]! });
    at = match.index + match[0].length;
  }
  if (at < sentence.length) pieces.push({ text: sentence.slice(at) });
  return pieces;
}
