// Severity and state of an incident, by shape and by word.
import { printable } from "../../format.ts";
import { isOpen, severityText } from "./data.ts";

export const SeverityWord = ({ severity }: { severity: string }) => <span class={`severity ${severity}`}>{printable(severityText(severity))}</span>;

// A tick is for what is over.
export const StateWord = ({ state, isMended = false }: { state: string; isMended?: boolean }) => (
  <span class={`incident-state${isOpen(state) ? " open" : ""}`}>{isOpen(state) || !isMended ? printable(state) : `✓ ${state}`}</span>
);
