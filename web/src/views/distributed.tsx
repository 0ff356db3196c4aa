// Who waits for whom in a distributed job, and how fast its links are.
import { allRows } from "../data/rows.ts";
import type { Table } from "../data/table.ts";
import { rankOf } from "../data/table_columns.ts";
import { useTable } from "../data/use.ts";
import { human } from "../format.ts";
import { here, param } from "../state.ts";
import { Bars, type Bar } from "../widgets/bars.tsx";
import { Choice, rankName } from "../widgets/choice.tsx";
import { DataTable } from "../widgets/data_table.tsx";
import { Exact } from "../widgets/exact.tsx";
import { HeatMap } from "../widgets/heat_map.tsx";
import { Empty, Ready } from "../widgets/loaded.tsx";
import { blame, notableRanks, rankSteps, shareOfStep, stepNumbers, type Blame, type RankSteps } from "./distributed/data.ts";
import { COMPUTE, EXPOSED, HIDDEN } from "./shared/parts_of_time.ts";
import { Lateness } from "./distributed/lateness.tsx";
import { timelineOf } from "./distributed/links.ts";

export function Distributed() {
  const steps = useTable("comm_steps");
  const stragglers = useTable("stragglers");
  const collectives = useTable("collectives");
  return (
    <Ready of={steps}>
      {(table) => (
        <Ready of={stragglers}>
          {(late) => <Ready of={collectives}>{(all) => <All steps={table} stragglers={late} collectives={all} />}</Ready>}
        </Ready>
      )}
    </Ready>
  );
}

function All({ steps, stragglers, collectives }: { steps: Table; stragglers: Table; collectives: Table }) {
  const numbers = stepNumbers(steps);
  const step = numbers.includes(param("step")) ? param("step") : "";
  const all = rankSteps(steps, step);
  if (all.length === 0) return <Empty>These traces have neither steps nor operators, so that nothing can be said of what they spend on communication.</Empty>;
  const communicates = collectives.rows > 0 || all.some((each) => each.overlap + each.exposed > 0);
  const blamed = blame(stragglers, steps);
  const ranks = notableRanks(all, blamed?.rank ?? "");
  return (
    <>
      <section aria-labelledby="waits">
        <h2 id="waits">Who waits for whom</h2>
        <Answer ranks={all} blamed={blamed} communicates={communicates} />
        {numbers.length > 1 && <p><Choice name="step" label="Step" value={step} options={[["", `mean of all ${numbers.length}`], ...numbers.map((each): [string, string] => [each, `step ${each}`])]} /></p>}
        <h3>What {step === "" ? "a step" : `step ${step}`} of each rank is made of</h3>
        {ranks.length < all.length && <p class="muted">Of {all.length} ranks the {ranks.length} that wait least or most, here and below.</p>}
        <Bars label="Time of each rank" unit="ns" bars={stacks(ranks, blamed)} />
        {ranks.some((each) => Number.isNaN(each.exposed)) && <p class="muted">Kernels of communication were not recorded on all ranks: there, communication is not known.</p>}
      </section>
      {communicates && (
        <section aria-labelledby="transfer">
          <h3 id="transfer">What of it is transfer, and what is waiting for other ranks</h3>
          {ranks.some((each) => each.transfer + each.wait > 0)
            ? <Bars label="Transfer and waiting of each rank" unit="ns" bars={transfers(ranks, blamed)} />
            : <Empty>No collective has a second rank in these traces, so that waiting cannot be told from transfer. Give the traces of more ranks.</Empty>}
        </section>
      )}
      {numbers.length > 1 && ranks.some((each) => each.wait > 0) && <WaitMap steps={steps} shown={ranks} numbers={numbers} step={step} blamed={blamed} />}
      {stragglers.rows > 1 && <Lateness ranks={ranks.map((each) => each.rank)} steps={steps} numbers={numbers} step={step} collectives={collectives} blamed={blamed} />}
      <section aria-labelledby="collectives">
        <h2 id="collectives">Collectives</h2>
        {collectives.rows === 0 ? <Empty>No collectives were recorded.</Empty> : (
          <>
            <Fastest table={collectives} />
            <DataTable table={collectives} columns={["group", "operation", "dtype", "size_bytes", "calls", "bus_bytes_per_s", "link_ratio", "transfer_ns", "wait_ns", "mean_skew_ns", "max_skew_ns", "group_size", "description"]} label="Each kind of collective" />
          </>
        )}
      </section>
      {stragglers.rows > 1 && (
        <section aria-labelledby="stragglers">
          <h2 id="stragglers">Who starts late</h2>
          <DataTable table={stragglers} label="Ranks by how long the others wait for them" sort="-caused_wait_ns" link={(row) => here({ rank: rankOf(stragglers, row) })} />
        </section>
      )}
    </>
  );
}

function Answer({ ranks, blamed, communicates }: { ranks: RankSteps[]; blamed: Blame | null; communicates: boolean }) {
  if (!communicates) return <Empty>This job does not communicate: no collective, send or receive was recorded.</Empty>;
  if (blamed !== null) return <Blamed blamed={blamed} ranks={ranks} />;
  const exposed = shareOfStep(ranks, "exposed"), wait = shareOfStep(ranks, "wait");
  return (
    <p class="answer">
      {ranks.length === 1
        ? param("ranks") !== ""
          ? "One rank is chosen: what of its communication nothing hides can be said, not who waits for whom. "
          : "The traces are of one rank only: what of its communication nothing hides can be said, not who waits for whom. "
        : wait.of > 0 ? "No rank makes the others wait much. " : ""}
      Communication that nothing hides takes <Share {...exposed} ranks={ranks.length} />
      {ranks.length > 1 && <>; waiting for other ranks <Share {...wait} ranks={ranks.length} /></>}.
      {ranks.length === 1 && (param("ranks") !== ""
        ? <> <a href={here({ ranks: "" })}>Show all ranks</a> to see it.</>
        : " Give the traces of the other ranks, and this view shows it.")}
    </p>
  );
}

function Share({ share, of, ranks }: { share: number; of: number; ranks: number }) {
  if (of === 0) return <>a time that is not known</>;
  return <><Exact value={share} unit="ratio" /> of a step{of < ranks && ` (known of ${of} of ${ranks} ranks)`}</>;
}

function Blamed({ blamed, ranks }: { blamed: Blame; ranks: RankSteps[] }) {
  const findings = useTable("findings", { all: true });
  const others = ranks.filter((each) => each.rank !== blamed.rank);
  const own = ranks.find((each) => each.rank === blamed.rank);
  const mean = (value: (each: RankSteps) => number) => others.reduce((sum, each) => sum + value(each), 0) / Math.max(1, others.length);
  const compute = (each: RankSteps) => each.compute + (each.overlap || 0);
  const longer = own === undefined ? 0 : compute(own) / mean(compute) - 1;
  return (
    <>
      <p class="answer">
        <span class="flag" aria-hidden="true">⚑ </span><strong>Rank {blamed.rank} makes the others wait</strong>: it starts {blamed.last} of {blamed.collectives}{" "}
        collectives last, up to <Exact value={blamed.maxLate} unit="ns" /> late, and each other rank waits{" "}
        <Exact value={blamed.waited} unit="ns" /> for it in all steps together, <Exact value={blamed.share} unit="ratio" /> of their time.
        {longer > 0.05 && <>{" "}It computes <Exact value={longer} unit="ratio" /> longer than the others do.</>}
      </p>
      {findings.state === "here" && <Findings table={findings.value} rank={blamed.rank} />}
    </>
  );
}

function Findings({ table, rank }: { table: Table; rank: string }) {
  const rows = allRows(table).filter((row) => table.text("ranks", row) === rank);
  return (
    <>
      {rows.map((row) => (
        <div class="card fault" key={row}><p><strong>{table.text("finding", row)}</strong></p><p>{table.text("remedy", row)}</p></div>
      ))}
    </>
  );
}

const markOf = (blamed: Blame | null, rank: string): { mark?: string } =>
  blamed?.rank === rank ? { mark: `rank ${rank} makes the others wait: it starts ${blamed.last} of ${blamed.collectives} collectives last` } : {};

function stacks(ranks: RankSteps[], blamed: Blame | null): Bar[] {
  return ranks.map((each) => ({
    label: rankName(each.rank),
    ...markOf(blamed, each.rank),
    link: timelineOf(each.rank),
    parts: [
      { ...COMPUTE, value: each.compute },
      { ...HIDDEN, value: each.overlap },
      { ...EXPOSED, value: each.exposed },
      { kind: "idle", label: "other", value: each.other },
    ],
  }));
}

function transfers(ranks: RankSteps[], blamed: Blame | null): Bar[] {
  return ranks.map((each) => ({
    label: rankName(each.rank),
    ...markOf(blamed, each.rank),
    parts: [
      { kind: "communication", label: "transfers", value: each.transfer },
      { kind: "annotation", label: "waits for another rank", value: each.wait },
    ],
  }));
}

function WaitMap({ steps, shown, numbers, step, blamed }: { steps: Table; shown: RankSteps[]; numbers: string[]; step: string; blamed: Blame | null }) {
  const rows = new Map<string, Map<string, number>>();
  for (let row = 0; row < steps.rows; ++row) {
    const rank = rankOf(steps, row);
    if (!rows.has(rank)) rows.set(rank, new Map());
    rows.get(rank)!.set(steps.exact("number", row), row);
  }
  const ranks = shown.map((each) => each.rank).filter((rank) => rows.has(rank));
  return (
    <section aria-labelledby="wait-map">
      <h3 id="wait-map">Waiting by rank and step</h3>
      <p class="muted">Who waits little where all others wait long is who they wait for. A step leads to its collectives.</p>
      <HeatMap label="Time that each rank waits for others, by rank and step" unit="ns"
        rows={ranks.map((rank) => rankName(rank) + (rank === blamed?.rank ? " ⚑" : ""))} columns={numbers.map((number) => `step ${number}`)}
        cell={(r, c) => {
          const row = rows.get(ranks[r]!)!.get(numbers[c]!);
          return row === undefined
            ? { value: Number.NaN }
            : { value: steps.absolute("wait_ns", row), link: here({ step: numbers[c]! === step ? "" : numbers[c]! }) };
        }} />
    </section>
  );
}

function Fastest({ table }: { table: Table }) {
  let most = 0;
  for (let row = 1; row < table.rows; ++row) if (table.absolute("time_ns", row) > table.absolute("time_ns", most)) most = row;
  const bus = table.absolute("bus_bytes_per_s", most), link = table.absolute("link_ratio", most);
  return (
    <p>
      Most time is in {table.text("operation", most).replace("_", "-")}
      {!table.isNull("size_bytes", most) && <> of <Exact value={table.absolute("size_bytes", most)} unit="bytes" /></>}:{" "}
      {human(table.absolute("calls", most), "count")} calls
      {Number.isFinite(bus) && <>, bus bandwidth <Exact value={bus} unit="bytes_per_s" /></>}
      {Number.isFinite(link) && <> (<Exact value={link} unit="ratio" /> of what the devices' own links do)</>}
      {Number.isFinite(table.absolute("mean_skew_ns", most)) && <>; its ranks start <Exact value={table.absolute("mean_skew_ns", most)} unit="ns" /> apart on average</>}.
    </p>
  );
}
