// Uses a server by the SDK's client in JavaScript, and prints as JSON what became of it, as old_client.py does. The client is
// the one that the conformance suite brings along.
// usage: node client.mjs FOLDER (of tools/mcp_suite) PLANS stdio COMMAND... | FOLDER PLANS http URL TOKEN
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, plans, how, ...words] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const load = (file) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/client/${file}`)).href);
const { Client } = await load("index.js");

async function transport() {
  if (how === "stdio") {
    const { StdioClientTransport } = await load("stdio.js");
    return new StdioClientTransport({ command: words[0], args: words.slice(1), stderr: "ignore" });
  }
  const { StreamableHTTPClientTransport } = await load("streamableHttp.js");
  return new StreamableHTTPClientTransport(new URL(words[0]), { requestInit: { headers: { Authorization: `Bearer ${words[1]}` } } });
}

// Numbers that this language may have rounded.
function unsafe(value) {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value) ? [value] : [];
  return value && typeof value === "object" ? Object.values(value).flatMap(unsafe) : [];
}

async function codeOf(asked) {
  try {
    await asked;
    return "no error";
  } catch (error) {
    return String(error.code);
  }
}

const client = new Client({ name: "javascript", version: "1" });
const way = await transport();
const tell = way.setProtocolVersion?.bind(way);
let version = null; // as the client tells its transport what was agreed on
way.setProtocolVersion = (agreed) => {
  version = agreed;
  tell?.(agreed);
};
await client.connect(way);
await client.ping();
const { tools } = await client.listTools();
const properties = Object.fromEntries(tools.map((tool) => [tool.name, tool.inputSchema.properties ?? {}]));
const said = { server: client.getServerVersion().name, version, tools: tools.map((tool) => tool.name), answered: 0, errors: 0, unsafe: [] };
const { columns, rows } = (await client.callTool({ name: "overview" })).structuredContent;
const place = (name) => columns.findIndex((column) => column.name === name);
const captures = Object.fromEntries(rows.map((row) => [row[place("job")], row[place("capture")]]));
const actual = { CAPTURE: captures.slow, OTHER: captures.well };
for (const plan of JSON.parse(plans)) {
  for (const [name, given] of Object.entries(plan)) {
    const args = Object.fromEntries(Object.entries(given).filter(([key]) => key in properties[name]).map(([key, value]) => [key, actual[value] ?? value]));
    const result = await client.callTool({ name, arguments: args }); // it holds the content to the tool's schema
    said[result.isError ? "errors" : "answered"]++;
    said.unsafe.push(...unsafe(result.structuredContent));
    await new Promise((done) => setTimeout(done, 250)); // five calls a second are answered
  }
}
said["unknown tool"] = await codeOf(client.callTool({ name: "no_such" }));
said["unknown resource"] = await codeOf(client.readResource({ uri: "spotter://captures/no-such" }));
const { resources } = await client.listResources();
const { prompts } = await client.listPrompts();
const { messages } = await client.getPrompt({ name: "investigate_job", arguments: { job: "slow" } });
if (!resources.length || prompts.length !== 2 || !messages.length) throw new Error("no resources, prompts or messages");
console.log(JSON.stringify(said));
await client.close();
