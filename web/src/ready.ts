// <html data-view data-ready>: which view is shown, and whether it is whole. For tests, and for who makes pictures.
import { effect } from "@preact/signals";
import { pending } from "./data/use.ts";
import { place } from "./state.ts";

export function followReadiness(): void {
  const page = document.documentElement;
  let turn = 0;
  effect(() => {
    page.dataset.view = place.value.view;
    delete page.dataset.ready; // also where the same view is to show something else
    const mine = ++turn;
    if (pending.value > 0) return;
    // What was loaded is drawn in the next frame, and may then ask for more.
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        setTimeout(() => {
          if (mine === turn) page.dataset.ready = "";
        }),
      ),
    );
  });
}
