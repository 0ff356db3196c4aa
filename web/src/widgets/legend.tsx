// What colours mean.

export function Legend({ kinds }: { kinds: Iterable<readonly [kind: string, label: string]> }) {
  return (
    <ul class="legend">
      {[...kinds].map(([kind, label]) => <li key={kind}><span class={`swatch ${kind}`} aria-hidden="true" />{label}</li>)}
    </ul>
  );
}
