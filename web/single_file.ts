// What the build does beyond Vite: style and script go into the page, which becomes dist/page.html with a policy that
// allows just these bytes and no network, and what is bundled has its licences in dist/LICENSES.txt.
//
// The script, with most of the style, lies in the page compressed, half as large, since every report that is mailed has
// it. A loader unpacks it and puts it into the document, where the browser runs it because the policy has its hash. The one
// Trusted Types policy that there may be is the loader's; when it has run, no text becomes script.
//
// Data, script and loader are the last of the page, so that a report that was cut off has nothing that runs but the early
// script of index.html. That one looks for the page's last element, and says so where it is missing.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, strToU8 } from "fflate";
import type { Plugin } from "vite";

const hashed = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const LOADER = `
const place = document.getElementById("app");
try {
  const bytes = Uint8Array.from(atob(document.getElementById("page-script").textContent), (letter) => letter.charCodeAt(0));
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  const policy = globalThis.trustedTypes?.createPolicy("page", { createScript: (script) => script });
  const script = document.createElement("script");
  script.type = "module";
  script.text = policy ? policy.createScript(text) : text;
  document.head.append(script);
} catch (error) {
  place.textContent = "This browser cannot run the page (" + error + "); a newer one can. What is there without a script is below.";
}
`.replace(/\n */g, "\n").trim();

// Nothing is fetched, no text becomes markup. `spotter serve` adds what its page may ask.
function policyOf(scripts: string[], style: string): string {
  return [
    "default-src 'none'",
    `script-src ${scripts.map(hashed).join(" ")}`,
    `style-src ${hashed(style)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types page",
  ].join("; ");
}

export function singleFile(): Plugin {
  return {
    name: "single-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      let style = "";
      let script = "";
      let page = "";
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === "chunk") script += part.code;
        else if (name.endsWith(".css")) style += part.source;
        else if (name.endsWith(".html")) page = String(part.source);
        else throw new Error(`${name} is not inside the page`);
        delete bundle[name];
      }
      style = style.trim();
      // Not by Node's own zlib, whose bytes depend on the processor.
      const packed = Buffer.from(gzipSync(strToU8(script.trim()), { level: 9, mem: 12, mtime: 0 })).toString("base64");
      const early = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map((match) => match[1]!);
      page = page
        .replace(/\s*<script[^>]* src=[^>]*><\/script>/, "")
        .replace(/\s*<link[^>]* rel="stylesheet"[^>]*>/, "")
        .replace("<head>", `<head>\n  <meta http-equiv="Content-Security-Policy" content="${policyOf([...early, LOADER, script.trim()], style)}">`)
        .replace("</head>", () => `  <style>${style}</style>\n</head>`)
        .replace("</body>", () => `  <script type="text/plain" id="licences">${licenceTexts()}</script>\n  <script type="application/octet-stream" id="page-script">${packed}</script>\n  <script type="module">${LOADER}</script>\n  <i id="end" hidden></i>\n</body>`);
      this.emitFile({ type: "asset", fileName: "page.html", source: page });
    },
  };
}

// Of all packages that are in the page: its copies, reports among them, have to have them.
function licenceTexts(): string {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: Record<string, string> };
  const names = [...Object.keys(dependencies), "@preact/signals-core"].sort();
  const texts = names.map((name) => {
    const folder = join("node_modules", name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no licence file`);
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
    return `${name} ${version}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
  return `The page contains these packages.\n\n${texts.join("\n\n")}`;
}

export function licences(): Plugin {
  return {
    name: "licences",
    enforce: "post",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "LICENSES.txt", source: licenceTexts() });
    },
  };
}
