// Menus (<details class="menu">) close when somebody presses Escape, points beside them, or goes to another view.
import { effect } from "@preact/signals";
import { view } from "./state.ts";

const openMenus = () => document.querySelectorAll<HTMLDetailsElement>("details.menu[open]");

function closeMenus(except: EventTarget | null = null): void {
  for (const menu of openMenus()) if (!(except instanceof Node && menu.contains(except))) menu.open = false;
}

export function closeMenusWhenLeft(): void {
  addEventListener("pointerdown", (event) => closeMenus(event.target));
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || openMenus().length === 0) return;
    event.preventDefault(); // what a view does with the key is not meant
    for (const menu of openMenus()) menu.querySelector("summary")?.focus();
    closeMenus();
  });
  effect(() => {
    void view.value;
    closeMenus();
  });
}
