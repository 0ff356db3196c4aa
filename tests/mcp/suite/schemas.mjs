// Prints the specification's JSON schemas that the conformance suite has in it, by revision: they are written into its
// program as constants, one after the other. usage: node schemas.mjs FOLDER (of tools/mcp_suite)
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";

const REVISIONS = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
const text = readFileSync(`${process.argv[2]}/node_modules/@modelcontextprotocol/conformance/dist/index.js`, "utf8");

function endOfObject(begin) {
  let depth = 0;
  for (let at = begin; at < text.length; ++at) {
    const sign = text[at];
    if (sign === "`" || sign === '"' || sign === "'") {
      do if (text[++at] === "\\") at += 2; while (text[at] !== sign);
    } else if (sign === "{") ++depth;
    else if (sign === "}" && --depth === 0) return at + 1;
  }
  throw new Error("an object that does not end");
}

const found = [];
for (const { index } of text.matchAll(/=\{\$schema:`http/g)) {
  const literal = text.slice(index + 1, endOfObject(index + 1));
  if (literal.includes("JSONRPCRequest:{")) found.push(runInNewContext(`(${literal})`));
}
if (found.length !== REVISIONS.length || !("DiscoverRequest" in found.at(-1).$defs)) throw new Error(`${found.length} schemas, not those of ${REVISIONS}`);
process.stdout.write(JSON.stringify(Object.fromEntries(REVISIONS.map((revision, place) => [revision, found[place]]))));
