// What a person does about an incident, with his own rights: it is heard, nobody is told for a while, it is mended.
import { useSignal } from "@preact/signals";
import { mayTrace, tellHost, type Host } from "../../data/agents.ts";
import { sentenceOf } from "../../data/use.ts";
import { Failure } from "../../failures.tsx";
import { isOpen, silenceOf, type Incident } from "./data.ts";

const HOURS = [0.5, 2, 8, 24];
const hoursText = (hours: number): string => (hours < 1 ? `${hours * 60} minutes` : hours === 1 ? "1 hour" : `${hours} hours`);

export function Actions({ incident, host, all }: { incident: Incident; host: Host; all: readonly Host[] }) {
  const said = useSignal("");
  const errors = useSignal<string[]>([]);
  const isAsked = useSignal(false);
  const hours = useSignal(2);
  const reason = useSignal("");
  const may = mayTrace(host) && !isAsked.value;
  const act = async (work: () => Promise<string>) => {
    if (isAsked.value) return;
    isAsked.value = true;
    said.value = "";
    errors.value = [];
    try {
      said.value = await work();
    } catch (error) {
      errors.value = [sentenceOf(error)];
    }
    isAsked.value = false;
  };
  const tell = (what: string, done: string) => act(async () => {
    await tellHost(host, `incidents/${encodeURIComponent(incident.id)}/${what}`, {});
    return done;
  });
  // On all hosts that it may be told from.
  const silence = () => act(async () => {
    const asked = all.filter(mayTrace);
    const results = await Promise.allSettled(asked.map((each) => tellHost(each, "silences", silenceOf(incident, hours.value * 3_600_000, reason.value.trim()))));
    const failed = results.flatMap((result, i) => (result.status === "rejected" ? [`${asked[i]!.name}: ${sentenceOf(result.reason)}`] : []));
    errors.value = failed;
    return failed.length === asked.length ? "" : `Nobody is told of it for ${hoursText(hours.value)}.`;
  });
  return (
    <div class="actions">
      {!mayTrace(host) && <p>You may look here and not act: that needs the role trace.</p>}
      <button type="button" disabled={!may || incident.acknowledgedBy !== "" || !isOpen(incident.state)} title="it is told no more every four hours"
        onClick={() => tell("acknowledge", "Acknowledged.")}>Acknowledge</button>
      <button type="button" disabled={!may || !isOpen(incident.state)} title="somebody has mended it: for what nothing else ends"
        onClick={() => tell("resolve", "Resolved.")}>Resolve</button>
      <form class="silence" onSubmit={(event) => {
        event.preventDefault();
        if (may && reason.value.trim() !== "") void silence();
      }}>
        <label>Silence for{" "}
          <select value={String(hours.value)} onChange={(event) => (hours.value = Number(event.currentTarget.value))}>
            {HOURS.map((each) => <option key={each} value={String(each)}>{hoursText(each)}</option>)}
          </select>
        </label>
        <label>because{" "}<input required maxLength={200} placeholder="reason" value={reason.value} onInput={(event) => (reason.value = event.currentTarget.value)} /></label>
        <button type="submit" disabled={!may || reason.value.trim() === ""}>Silence {hours.value < 1 ? "30 min" : `${hours.value} h`}</button>
      </form>
      {said.value !== "" && <p role="status">{said.value}</p>}
      {errors.value.map((error) => <Failure key={error} error={error} />)}
    </div>
  );
}
