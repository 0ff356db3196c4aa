// A sentence of the program's; tables that it names are links to them.
import { printable } from "../format.ts";
import { linkTo } from "../state.ts";
import { piecesOf } from "../table_mentions.ts";

// `job`: of which the sentence is, where that is not the one that is shown.
export function Sentence({ text, job }: { text: string; job?: string }) {
  return (
    <>
      {piecesOf(printable(text)).map((piece, i) => ("text" in piece ? piece.text : (
        <a key={i} href={linkTo("tables", { table: piece.table, ...(job === undefined ? {} : { job }) })}>table {piece.table}</a>
      )))}
    </>
  );
}
