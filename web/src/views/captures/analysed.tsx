// What the traces of a capture say, without being copied anywhere: the agents read them where they are. A server puts
// together what stands out in all of them; an agent that serves the page alone tells how long the steps are.
import { useSignal } from "@preact/signals";
import { mayRead, tellHost, type Host } from "../../data/agents.ts";
import { ask } from "../../data/server_source.ts";
import { Table, tableOf, type Document } from "../../data/table.ts";
import { sentenceOf } from "../../data/use.ts";
import { Failure } from "../../failures.tsx";
import { human, printable } from "../../format.ts";
import { DataTable } from "../../widgets/data_table.tsx";
import { slowestOf, stepsOf, type CaptureId, type FileSteps } from "./data.ts";
import { numbersColumn, textsColumn } from "../../data/made_table.ts";

type Meant = { host: Host; id: string };
type Said = { files: FileSteps[]; findings: Document | null; errors: string[] };

export function Analysed({ ids, hosts, table }: { ids: readonly CaptureId[]; hosts: readonly Host[]; table: Table }) {
  const said = useSignal<Said | "none" | "asked">("none");
  if (table.rowsWhere("state", "written").length === 0) return null;
  const meant = ids.flatMap((id): Meant[] => {
    const host = hosts.find((each) => each.name === id.host);
    return host === undefined || !mayRead(host) ? [] : [{ host, id: id.id }];
  });
  const ask = async () => {
    said.value = "asked";
    const [steps, findings] = await Promise.all([stepsOfAll(meant), findingsOf(meant)]);
    said.value = { files: steps.files, findings: findings.document, errors: [...new Set([...steps.errors, ...findings.errors])] };
  };
  if (said.value === "none" || said.value === "asked") {
    return (
      <button type="button" disabled={meant.length === 0 || said.value === "asked"} title={meant.length === 0 ? "this needs the role trace" : ""} onClick={ask}>
        {said.value === "asked" ? "The agents read the traces …" : "Analyse where the files are"}
      </button>
    );
  }
  const { files, findings, errors } = said.value;
  return (
    <>
      {errors.map((error) => <Failure key={error} error={error} />)}
      {findings !== null && <StandsOut document={findings} />}
      {files.length > 0 && <p class="answer">{slowestOf(files)}</p>}
      {files.length > 0 && <DataTable table={stepTable(files)} label="Steps of each rank" sort="rank" />}
      <p class="muted">All views of these traces: <code>spotter serve {folderOf(table)}</code> where the files are.</p>
    </>
  );
}

// The one that all files are in, or a word for it.
function folderOf(receipts: Table): string {
  const folders = new Set(receipts.rowsWhere("state", "written").map((row) => receipts.text("file", row).replace(/\/[^/]*$/, "")));
  return folders.size === 1 ? [...folders][0]! : "FOLDER";
}

async function stepsOfAll(meant: readonly Meant[]): Promise<{ files: FileSteps[]; errors: string[] }> {
  const results = await Promise.allSettled(meant.map(async ({ host, id }) => {
    const answer = await tellHost(host, `captures/${encodeURIComponent(id)}/analyze`, { analyses: ["summary", "steps"] });
    return stepsOf(await answer.text());
  }));
  return {
    files: results.flatMap((result) => (result.status === "fulfilled" ? result.value : [])),
    errors: results.flatMap((result, i) => (result.status === "rejected" ? [`${meant[i]!.host.name}: ${sentenceOf(result.reason)}`] : [])),
  };
}

async function findingsOf(meant: readonly Meant[]): Promise<{ document: Document | null; errors: string[] }> {
  if (meant.some(({ host }) => host.prefix === "")) return { document: null, errors: [] };
  try {
    const captures = Object.fromEntries(meant.map(({ host, id }) => [host.name, id]));
    const init = { method: "POST", body: JSON.stringify({ captures }), headers: { "Content-Type": "application/json" } };
    return { document: await ask("v1/hosts/findings", init), errors: [] };
  } catch (error) {
    return { document: null, errors: [sentenceOf(error)] };
  }
}

function StandsOut({ document }: { document: Document }) {
  const table = tableOf(document, "findings");
  const text = (name: string, row: number) => printable(table.text(name, row));
  return (
    <>
      <h3>What stands out</h3>
      {table.rows === 0 && <p>Nothing stands out: no fault, and nothing that costs 1 % of the step or more.</p>}
      <div class="cards">
        {Array.from({ length: table.rows }, (_, row) => (
          <article key={row} class={`card ${table.text("kind", row)}`} data-mechanism={table.text("mechanism", row)}>
            <h3>
              {text("kind", row)}: {text("mechanism", row).replaceAll("_", " ")}
              {!table.isNull("time_ns", row) && <span class="stake" title={`${table.exact("time_ns", row)} ns`}>{human(table.absolute("time_ns", row), "ns")}</span>}
            </h3>
            <p class="said">{text("finding", row)}</p>
            {text("remedy", row) !== "" && <p><strong>Do:</strong> {text("remedy", row)}</p>}
          </article>
        ))}
      </div>
      {[...document.notes, ...table.notes].map((note, i) => <p key={i} class="muted">{printable(note.sentence)}</p>)}
    </>
  );
}

function stepTable(files: readonly FileSteps[]): Table {
  return new Table("capture_steps", files.length, [
    numbersColumn("rank", files.map((file) => (file.rank === "" ? Number.NaN : Number(file.rank))), { help: "Rank.", role: "key" }),
    numbersColumn("steps", files.map((file) => file.steps), { help: "Steps that are in the trace.", unit: "count" }),
    numbersColumn("mean_step_ns", files.map((file) => file.meanStepNs), { help: "Mean length of a step.", unit: "ns", type: "real" }),
    numbersColumn("longest_step_ns", files.map((file) => file.longestStepNs), { help: "The longest of them.", unit: "ns" }),
    numbersColumn("device_busy", files.map((file) => file.busy), { help: "Part of the steps in which the device is busy.", unit: "ratio", type: "real" }),
    numbersColumn("events", files.map((file) => file.events), { help: "Events of the trace.", unit: "count" }),
    textsColumn("file", files.map((file) => file.path), { help: "The file.", role: "detail" }),
  ]);
}
