// The tables of a report, from the data blocks of its own page.
import { readColumns } from "./columns.ts";
import { readBlock } from "./inflate.ts";
import { SourceError, analysesOf, jobOf, type Analysis, type Job, type Source, type TableOptions } from "./source.ts";
import { tableOf, type Document, type Table } from "./table.ts";

export const hasBlocks = () => document.getElementById("job") !== null;

export class ReportSource implements Source {
  readonly kind = "report";
  private readonly documents = new Map<string, Promise<Document | null>>();

  private read(id: string): Promise<Document | null> {
    let found = this.documents.get(id);
    if (found === undefined) {
      found = readBlock(id).then((bytes) => (bytes === null ? null : readColumns(bytes)));
      this.documents.set(id, found);
    }
    return found;
  }

  private async document(id: string): Promise<Document> {
    const found = await this.read(id);
    if (found === null) throw new SourceError(`this report has no block "${id}"; it is not whole`);
    return found;
  }

  async jobs(): Promise<Table> {
    return tableOf(await this.document("job"), "jobs");
  }

  async job(): Promise<Job> {
    const found = await this.document("job");
    return jobOf(tableOf(found, "jobs"), tableOf(found, "facts"), tableOf(found, "ranks"));
  }

  async analyses(): Promise<Analysis[]> {
    return analysesOf(tableOf(await this.document("job"), "analyses"));
  }

  async table(_job: string, name: string, options: TableOptions = {}): Promise<Table> {
    const own = (await this.read(`tables/${name}`)) ?? (await this.document("tables"));
    if (!own.tables.some((each) => each.name === name))
      throw new SourceError(`this report does not hold the table ${name}; \`${await this.command(name)}\` shows it`);
    if (Object.keys(options.params ?? {}).length > 0)
      throw new SourceError(`a report holds each table with its usual parameters; \`${await this.command(name)}\` takes others`);
    return tableOf(own, name);
  }

  async spans(_job: string, rank: string): Promise<Table> {
    const found = await readBlock(`spans/${rank}`); // not kept: they are many, and who asks makes something else of them
    if (found === null) {
      const leftOut = (await this.job()).facts.get("left_out");
      throw new SourceError(leftOut ?? `this report does not hold the spans of rank ${rank}`);
    }
    return tableOf(readColumns(found), "spans");
  }

  hasSpans(rank: string): boolean {
    return document.getElementById(`spans/${rank}`) !== null;
  }

  async event(): Promise<Table> {
    throw new SourceError("a report does not hold the arguments of events; `spotter serve` shows them");
  }

  async diff(): Promise<Table> {
    throw new SourceError("a report holds one job; `spotter diff BEFORE AFTER` compares two, and `spotter serve` shows it");
  }

  private async command(name: string): Promise<string> {
    const paths = (await this.job()).facts.get("paths") ?? "PATH";
    return `spotter analyze ${paths} --table ${name}`;
  }
}
