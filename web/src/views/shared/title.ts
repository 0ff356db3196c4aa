// What a view is called: its name in the address, as words.
export function titleOf(view: string): string {
  const words = view === "tables" ? "all tables" : view.replaceAll("-", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
