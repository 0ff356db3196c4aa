// How far the host is ahead of the devices: an empty queue is an idle device, a full one a host that has to wait.
import { pickRows, rowsOfRank } from "../../data/rows.ts";
import { useTable } from "../../data/use.ts";
import { DataTable } from "../../widgets/data_table.tsx";
import { Exact } from "../../widgets/exact.tsx";
import { Empty, Ready } from "../../widgets/loaded.tsx";

export function Queues({ rank }: { rank: string }) {
  const lengths = useTable("queue_length");
  const blocked = useTable("queue_blocked");
  return (
    <section aria-labelledby="queues">
      <h2 id="queues">How far the host is ahead</h2>
      <Ready of={lengths}>
        {(all) => {
          const table = pickRows(all, rowsOfRank(all, rank));
          if (table.rows === 0) return <Empty>No launch of this rank's device work was recorded.</Empty>;
          let longest = 0;
          for (let row = 1; row < table.rows; ++row) if (table.absolute("time_mean", row) > table.absolute("time_mean", longest)) longest = row;
          return (
            <>
              <p>
                On stream {table.exact("stream", longest)}, the longest queue, <Exact value={table.absolute("time_mean", longest)} unit="count" /> launched pieces of work wait on average,
                at most <Exact value={table.absolute("max", longest)} unit="count" />. Near 0, the host is what the device waits for.
              </p>
              <DataTable table={table} columns={["device", "stream", "time_mean", "median", "max"]} />
            </>
          );
        }}
      </Ready>
      <Ready of={blocked}>
        {(all) => {
          const rows = rowsOfRank(all, rank);
          return rows.length === 0
            ? <p class="muted">No queue of this rank is ever full: the host never waits for room in one.</p>
            : <DataTable table={pickRows(all, rows)} label="Time in which a stream's queue is full" />;
        }}
      </Ready>
    </section>
  );
}
