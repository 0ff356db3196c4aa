import { defineConfig } from "vite";
import { licences, singleFile } from "./single_file.ts";

// One file, and the same bytes for the same sources.
export default defineConfig({
  plugins: [singleFile(), licences()],
  base: "./",
  build: {
    target: "es2022",
    outDir: "dist",
    emptyOutDir: true,
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: { input: "index.html", output: { codeSplitting: false } },
  },
});
