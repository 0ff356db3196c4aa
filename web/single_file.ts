// What the build does beyond Vite: style and script go into the page, which becomes dist/page.html with a policy that
// allows just these bytes and no network, and what is bundled has its licences in dist/LICENSES.txt.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

const hashed = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// Nothing is fetched, no text becomes markup or script. `spotter serve` adds what its page may ask.
function policyOf(page: string): string {
  const all = (pattern: RegExp) => [...page.matchAll(pattern)].map((match) => hashed(match[1]!)).join(" ");
  return [
    "default-src 'none'",
    `script-src ${all(/<script(?: type="module")?>([\s\S]*?)<\/script>/g)}`,
    `style-src ${all(/<style>([\s\S]*?)<\/style>/g)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
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
      // Neither may end its element early.
      script = script.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--").trim();
      style = style.trim();
      page = page
        .replace(/\s*<script[^>]* src=[^>]*><\/script>/, "")
        .replace(/\s*<link[^>]* rel="stylesheet"[^>]*>/, "")
        .replace("</head>", () => `  <style>${style}</style>\n</head>`)
        .replace("</body>", () => `  <script type="module">${script}</script>\n</body>`);
      const policy = `<meta http-equiv="Content-Security-Policy" content="${policyOf(page)}">`;
      page = page.replace("<head>", () => `<head>\n  ${policy}`);
      this.emitFile({ type: "asset", fileName: "page.html", source: page });
    },
  };
}

export function licences(): Plugin {
  return {
    name: "licences",
    enforce: "post",
    generateBundle() {
      const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
        dependencies: Record<string, string>;
      };
      const names = [...Object.keys(dependencies), "@preact/signals-core"].sort();
      const texts = names.map((name) => {
        const folder = join("node_modules", name);
        const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
        if (file === undefined) throw new Error(`${name} has no licence file`);
        const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
        return `${name} ${version}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
      });
      const source = `The page contains these packages.\n\n${texts.join("\n\n")}`;
      this.emitFile({ type: "asset", fileName: "LICENSES.txt", source });
    },
  };
}
