// What stands out, as cards: what it is and costs, what to do, and where it is seen.
import { useEffect, useRef } from "preact/hooks";
import { allRows } from "../../data/rows.ts";
import type { Table } from "../../data/table.ts";
import { useJob, useTable } from "../../data/use.ts";
import { copy } from "../../failures.tsx";
import { human, printable } from "../../format.ts";
import { firstNumber } from "../../ranges.ts";
import { linkTo, param } from "../../state.ts";
import { Sentence } from "../../widgets/sentence.tsx";
import { stepWindow } from "../shared/step_windows.ts";
import { titleOf } from "../shared/title.ts";
import { evidenceOf, viewsOf } from "./data.ts";

const KINDS: Record<string, string> = {
  fault: "Fault", opportunity: "Opportunity", caveat: "Caveat",
};

export function Findings({ table }: { table: Table }) {
  if (table.rows === 0)
    return (
      <p>
        Nothing stands out: no fault, and nothing that costs 1 % of the step or more. Where the time goes is below, and under{" "}
        <a href={linkTo("kernels")}>Kernels</a> and <a href={linkTo("operators")}>Operators</a>.
      </p>
    );
  return <div class="cards">{allRows(table).map((row) => <Card key={row} table={table} row={row} />)}</div>;
}

function Card({ table, row }: { table: Table; row: number }) {
  const text = (name: string) => printable(table.text(name, row));
  const kind = table.text("kind", row);
  const time = table.absolute("time_ns", row), share = table.number("share", row);
  const facts: [string, string][] = [
    [/^\d+$/.test(table.text("ranks", row)) ? "Rank" : "Ranks", table.text("ranks", row)], ["Group", table.text("group", row)], ["Steps", table.text("steps", row)],
    ["Confidence", table.text("confidence", row)], ["Subject", table.text("subject", row)],
  ];
  const card = useRef<HTMLElement>(null);
  const isChosen = param("finding") === String(row);
  useEffect(() => {
    if (isChosen) card.current?.focus();
  }, [isChosen]);
  return (
    <article ref={card} tabIndex={-1} class={`card ${kind} ${isChosen ? "picked" : ""}`} data-mechanism={table.text("mechanism", row)}>
      <h3>
        {KINDS[kind] ?? kind}: {text("mechanism").replaceAll("_", " ")}
        {!Number.isNaN(time) && (
          <span class="stake" title={`${table.exact("time_ns", row)} ns, share ${table.exact("share", row) || "not known"}`}>
            {human(time, "ns")}{Number.isNaN(share) ? "" : ` · ${human(share, "ratio")} of the step`}
          </span>
        )}
      </h3>
      <p class="said"><Sentence text={text("finding")} /></p>
      {text("remedy") !== "" && <p><strong>Do:</strong> <Sentence text={text("remedy")} /></p>}
      {text("against") !== "" && <p class="muted">Against it: <Sentence text={text("against")} /></p>}
      <p class="muted facts">
        {facts.filter(([, value]) => value !== "").map(([name, value]) => <span key={name}>{name} {printable(value)}</span>)}
      </p>
      <Links table={table} row={row} />
      <p class="command"><code tabIndex={0}>{text("evidence")}</code> <button type="button" onClick={() => copy(table.text("evidence", row))}>Copy</button></p>
    </article>
  );
}

function Links({ table, row }: { table: Table; row: number }) {
  const job = useJob(), steps = useTable("steps", { all: true });
  const evidence = evidenceOf(table.text("evidence", row));
  const ranks = table.text("ranks", row) || evidence.ranks;
  const rank = firstNumber(ranks);
  const filter: Record<string, string> = rank !== "" && /^\d+$/.test(ranks) ? { rank } : {};
  // A rank whose kernels take longer than its peers' is seen beside them.
  const params: Record<string, string> = evidence.view === "kernels" && table.text("kind", row) === "fault" ? {} : { ...filter };
  if (evidence.view === "operators") params.op = table.text("subject", row);
  if (evidence.view === "tables") params.table = evidence.table;
  if (evidence.view === "tables" && ranks !== "") params.filter = rank === ranks ? `rank:${rank}` : "";
  const at = steps.state === "here" && job.state === "here"
    ? stepWindow(steps.value, rank, firstNumber(table.text("steps", row)), job.value.startNs) : null;
  // What cannot be told is of the whole recording.
  const hasPlace = table.text("kind", row) !== "caveat" || ranks !== "";
  return (
    <p class="links">
      {evidence.view !== "timeline" && evidence.table !== "" && <a href={linkTo(evidence.view, params)}>Show in {titleOf(evidence.view)}</a>}
      {viewsOf(table, row).slice(1).map((view) => <a key={view} href={linkTo(view)}>{titleOf(view)}</a>)}
      {hasPlace && <a href={linkTo("timeline", { ...(ranks === "" ? {} : { ranks }), ...at?.params })}>
        Timeline{rank === "" ? "" : ` of rank ${ranks}`}{at === null ? "" : `, step ${at.step}`}
      </a>}
      {hasPlace && evidence.view !== "steps" && at !== null && <a href={linkTo("steps", filter)}>Steps</a>}
    </p>
  );
}
