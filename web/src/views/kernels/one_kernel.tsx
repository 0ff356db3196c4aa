// All about one kernel: which lines launch it, how it differs between ranks, which operators and sequences it is in.
import { median } from "../../data/median.ts";
import { pickRows, rowsOfRank } from "../../data/rows.ts";
import type { Table } from "../../data/table.ts";
import { useTable } from "../../data/use.ts";
import { human, printable, shortName } from "../../format.ts";
import { here, linkTo } from "../../state.ts";
import { Bars } from "../../widgets/bars.tsx";
import { rankName } from "../../widgets/choice.tsx";
import { DataTable } from "../../widgets/data_table.tsx";
import { Ready } from "../../widgets/loaded.tsx";
import type { Origin } from "../shared/origins.ts";
import { Origins } from "../shared/origins_table.tsx";
import { byRank } from "./data.ts";

const MOST_RANKS = 32, MOST_LETTERS = 2000;

export function OneKernel({ name, rank, breakdown, origins, originRank, noOrigin }: {
  name: string;
  rank: string;
  breakdown: Table;
  origins: Origin[];
  originRank: string;
  noOrigin: string; // why there are none, as a sentence
}) {
  return (
    <section class="panel" aria-labelledby="kernel">
      <h2 id="kernel">This kernel <a class="back" href={here({ kernel: "" })}>Close</a></h2>
      <p><code title={printable(name)}>{shortName(name, MOST_LETTERS)}</code></p>
      <p class="links">
        <a href={linkTo("timeline", { q: name, ...(rank === "" ? {} : { ranks: rank }) })}>Its runs in the timeline</a>
        <a href={linkTo("call-tree", { name, rank: originRank })}>Who calls it</a>
      </p>
      <h3>Launched by{originRank === "" ? "" : `, ${rankName(originRank)}`}</h3>
      {origins.length === 0 ? <p class="muted">{noOrigin}</p> : <Origins origins={origins} />}
      <Ranks breakdown={breakdown} name={name} />
      <Sequences name={name} rank={rank} />
    </section>
  );
}

function Ranks({ breakdown, name }: { breakdown: Table; name: string }) {
  const ranks = byRank(breakdown, name);
  if (ranks.length < 2) return null;
  const typical = median(ranks.map((each) => each.mean));
  const shown = [...ranks].sort((a, b) => b.mean - a.mean).slice(0, MOST_RANKS);
  return (
    <>
      <h3>Mean duration by rank</h3>
      <Bars unit="ns" label="Mean duration" bars={shown.map((each) => ({
        label: rankName(each.rank), parts: [{ kind: "compute", label: "mean duration", value: each.mean }], link: here({ rank: each.rank }),
        mark: each.mean > 1.05 * typical ? `${human(each.mean / typical - 1, "ratio")} over the median of the ranks` : undefined,
      }))} />
      {shown.length < ranks.length && <p class="muted">The {MOST_RANKS} slowest of {ranks.length} ranks.</p>}
    </>
  );
}

function Sequences({ name, rank }: { name: string; rank: string }) {
  const table = useTable("frequent_kernel_sequences");
  return (
    <Ready of={table}>
      {(all) => {
        const rows = rowsOfRank(all, rank).filter((row) => all.text("kernels", row).split(" -> ").includes(name));
        return rows.length === 0 ? null : <><h3>Sequences that it is part of</h3><DataTable table={pickRows(all, rows)} label="Sequences" /></>;
      }}
    </Ready>
  );
}
