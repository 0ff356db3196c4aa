// The largest of something with its share of the whole as a bar, and the rest.
import type { Unit } from "../data/table.ts";
import { human, printable, shortNames } from "../format.ts";

export interface ListedShare { name: string; value: number; link?: string; kind?: string }

export function ShareList({ title, shares, sum, unit, kind, overlap = false }: {
  title: string;
  shares: ListedShare[];
  sum: number;
  unit: Unit;
  kind: string; // names the bars' colour
  overlap?: boolean; // they do not add up: times, not shares
}) {
  const names = shortNames(shares.map((share) => share.name), 48);
  const most = Math.max(1e-12, ...shares.map((share) => share.value));
  return (
    <section class="shares">
      <h2>{title} {!overlap && <span class="muted" title={`${sum} ${unit}`}>{human(sum, unit)}</span>}</h2>
      {shares.length === 0 ? <p class="empty">None.</p> : (
        <ol>
          {shares.map((share) => (
            <li key={share.name}>
              <span class="name" title={printable(share.name)}>{share.link ? <a href={share.link}>{names.get(share.name)}</a> : names.get(share.name)}</span>
              <span class="track"><span class={share.kind ?? kind} style={{ width: `${(share.value / most) * 100}%` }} /></span>
              <span class="part" title={overlap ? `${share.value} ${unit}` : `${share.value} of ${sum} ${unit}`}>{overlap ? human(share.value, unit) : human(share.value / sum, "ratio")}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
