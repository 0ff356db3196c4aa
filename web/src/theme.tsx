// Light or dark: as the system has it, or as the user wants it here.
import { signal } from "@preact/signals";

const KEY = "spotter.theme";
const root = typeof document === "undefined" ? null : document.documentElement;

// What is in force now; a canvas has to be painted again when it changes.
export const theme = signal<"light" | "dark">(current());

function current(): "light" | "dark" {
  if (root === null) return "light";
  if (root.dataset.theme === "dark" || root.dataset.theme === "light") return root.dataset.theme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

const follow = () => (theme.value = current());
if (root !== null) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", follow);
  addEventListener("beforeprint", () => (theme.value = "light")); // paper is white
  addEventListener("afterprint", follow);
}

export function ThemeButton() {
  const other = theme.value === "dark" ? "light" : "dark";
  const change = () => {
    root!.dataset.theme = other;
    try {
      localStorage.setItem(KEY, other);
    } catch {
      // then it is so until the page is closed
    }
    theme.value = current();
  };
  return <button type="button" onClick={change} title={`Change to the ${other} theme`}>{other === "dark" ? "Dark" : "Light"}</button>;
}
