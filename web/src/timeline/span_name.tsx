// A span's name, shortened, with the whole one on hover; a button if it leads somewhere.
import { printable, shortName } from "../format.ts";

export function SpanName({ name, most = 60, onClick }: { name: string; most?: number; onClick?: (name: string) => void }) {
  const text = shortName(name, most);
  if (!onClick) return <span title={printable(name)}>{text}</span>;
  return <button type="button" class="as-link" title={printable(name)} onClick={() => onClick(name)}>{text}</button>;
}
