// A number as it is read, with every digit on hover.
import type { Unit } from "../data/table.ts";
import { human } from "../format.ts";

export function Exact({ value, unit }: { value: number; unit: Unit }) {
  return <span class="exact" title={Number.isFinite(value) ? String(value) : "not known"}>{human(value, unit)}</span>;
}
