// The ledger of what was lost, mended or taken for granted, of the tables that are shown.
import { signal } from "@preact/signals";
import type { Note, Table } from "./data/table.ts";
import { jobId } from "./data/use.ts";
import { view } from "./state.ts";

type ByTable = ReadonlyMap<string, readonly Note[]>;
const shownNotes = signal<{ of: string; byTable: ByTable }>({ of: "", byTable: new Map() });
const NONE: ByTable = new Map();

// The job and the view that they are of: those of others are not shown.
const shownNow = (): string => `${jobId.value} ${view.value}`;
const notesOf = (of: string): ByTable => (shownNotes.peek().of === of ? shownNotes.peek().byTable : NONE);

// A view tells of the table that it shows.
export function tellNotes(table: Table): void {
  const of = shownNow();
  if (notesOf(of).get(table.name) === table.notes) return;
  queueMicrotask(() => (shownNotes.value = { of, byTable: new Map(notesOf(of)).set(table.name, table.notes) }));
}

export function NotesBadge() {
  const all = new Map<string, Note>();
  const { of, byTable } = shownNotes.value;
  if (of === shownNow()) for (const notes of byTable.values()) for (const note of notes) all.set(`${note.kind} ${note.sentence} ${note.scope}`, note);
  if (all.size === 0) return null;
  const notes = [...all.values()].sort((a, b) => rank(a) - rank(b));
  const losses = notes.filter((note) => note.severity === "loss").length;
  return (
    <details class="menu">
      <summary class={losses > 0 ? "loss" : ""}>Notes ({notes.length})</summary>
      <ul class="notes">
        {notes.map((note) => <li key={note.kind + note.sentence + note.scope} class={note.severity}><NoteText note={note} /></li>)}
      </ul>
    </details>
  );
}

const rank = (note: Note) => ["loss", "repair", "info"].indexOf(note.severity);

function NoteText({ note }: { note: Note }) {
  const where = note.scope ? ` (${note.scope}${note.scopes > 1 ? ` and ${note.scopes - 1} more` : ""})` : "";
  return <>{note.severity === "info" ? "" : `${note.severity}: `}{note.count > 1 ? `${note.count} × ` : ""}{note.sentence}{where}</>;
}
