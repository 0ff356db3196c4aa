// Under curves: what they are drawn from, for who reads numbers rather than a picture.
import { useSignal } from "@preact/signals";
import { pointTable, type PointLine } from "../data/points.ts";
import { DataTable } from "./data_table.tsx";

export function Points({ label, x, lines }: { label: string; x: ArrayLike<number>; lines: () => PointLine[] }) {
  const isOpen = useSignal(false);
  return (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>Show as table</summary>
      {isOpen.value && <DataTable table={pointTable(x, lines())} label={label} sort="-time" />}
    </details>
  );
}
