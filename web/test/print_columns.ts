// Prints the tables of a report's data blocks as JSON, read by the page's own reader: a line for each. `node
// web/test/print_columns.ts REPORT.html...`; tests/browser/test_columns.py compares them with the program's own JSON.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { readColumns } from "../src/data/columns.ts";

const BLOCK = /<script type="application\/octet-stream" id="((?!page-script)[^"]*)">([^<]*)<\/script>/g;

for (const file of process.argv.slice(2)) {
  for (const [, block, text] of readFileSync(file, "utf8").matchAll(BLOCK)) {
    const { tables, notes } = readColumns(gunzipSync(Buffer.from(text!, "base64")));
    for (const table of tables) {
      const rows = Array.from({ length: table.rows }, (_, row) =>
        table.columns.map((column) => (table.isNull(column, row) ? null : table.exact(column, row))),
      );
      const columns = table.columns.map(({ name, type, unit, role, help }) => ({ name, type, unit, role, help }));
      console.log(JSON.stringify({ file, block, name: table.name, columns, rows, notes: notes.length + table.notes.length }));
    }
  }
}
