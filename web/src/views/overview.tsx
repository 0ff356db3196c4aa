// What this job is, and what stands out in it.
import { useTable } from "../data/use.ts";
import { linkTo } from "../state.ts";
import { DataTable } from "../widgets/data_table.tsx";
import { Ready } from "../widgets/loaded.tsx";

export function Overview() {
  const findings = useTable("findings", { all: true });
  return (
    <>
      <section aria-labelledby="stands-out">
        <h2 id="stands-out">What stands out</h2>
        <Ready of={findings}>
          {(table) => <DataTable table={table} columns={["finding", "remedy", "time_ns", "share"]} link={() => linkTo("timeline")} />}
        </Ready>
      </section>
    </>
  );
}
