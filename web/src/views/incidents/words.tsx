// Severity and state of an incident, by shape and by word.
import { printable } from "../../format.ts";
import { isOpen, severityText } from "./data.ts";

export const SeverityWord = ({ severity }: { severity: string }) => <span class={`severity ${severity}`}>{printable(severityText(severity))}</span>;

export const StateWord = ({ state }: { state: string }) => (
  <span class={`incident-state${isOpen(state) ? " open" : ""}`}>{isOpen(state) ? printable(state) : `✓ ${state}`}</span>
);
