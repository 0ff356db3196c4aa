// Choices that are in the address: which rank, and one of a few words.
import { setParam, chosenRank } from "../state.ts";

export function Choice({ name, label, value, options }: {
  name: string; // in the address
  label: string;
  value: string;
  options: [value: string, text: string][];
}) {
  return (
    <label>{label}{" "}
      <select value={value} onChange={(event) => setParam(name, event.currentTarget.value, { push: true })}>
        {options.map(([each, text]) => <option key={each} value={each}>{text}</option>)}
      </select>
    </label>
  );
}

export const rankName = (rank: string): string => (rank === "" || rank === "none" ? "no rank" : `rank ${rank}`);

export function RankChoice({ ranks, all = true, value = chosenRank() }: { ranks: string[]; all?: boolean; value?: string }) {
  if (ranks.length < 2) return null;
  const options: [string, string][] = ranks.map((rank) => [rank, rankName(rank)]);
  return <Choice name="rank" label="Rank" value={value} options={all ? [["", `all ${ranks.length}`], ...options] : options} />;
}

export function Search({ name, label, value }: { name: string; label: string; value: string }) {
  return <input type="search" placeholder={label} aria-label={label} value={value} onInput={(event) => setParam(name, event.currentTarget.value)} />;
}
