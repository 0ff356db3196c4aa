// A number as it is read, with every digit on hover.
import type { Unit } from "../data/table.ts";
import { human } from "../format.ts";

export const exactText = (value: number): string => (Number.isFinite(value) ? String(value) : "not known");

export function Exact({ value, unit }: { value: number; unit: Unit }) {
  return <span class="exact" title={exactText(value)}>{human(value, unit)}</span>;
}
