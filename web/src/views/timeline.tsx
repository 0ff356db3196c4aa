// What ran when, on every rank, device and thread.
import { effect, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Job } from "../data/source.ts";
import { forgetFailures, retries, source, useJob, useTable } from "../data/use.ts";
import { Failure } from "../failures.tsx";
import { tellNotes } from "../notes.tsx";
import { KIND_NAMES } from "../timeline/kinds.ts";
import { Contents } from "../timeline/contents.ts";
import { LanesView } from "../timeline/lanes_view.tsx";
import { Panel } from "../timeline/panel.tsx";
import { rankTitle } from "../timeline/sentences.ts";
import { stepsByRank } from "../timeline/steps.ts";
import { stripsOf } from "../timeline/strips.ts";
import { Timeline } from "../timeline/timeline.ts";
import { Toolbar } from "../timeline/toolbar.tsx";
import { Ready } from "../widgets/loaded.tsx";

export function TimelineView() {
  return <Ready of={useJob()}>{(job) => <OfJob key={job.id} job={job} />}</Ready>;
}

function OfJob({ job }: { job: Job }) {
  const timeline = useMemo(() => new Timeline(new Contents(source.value!, job)), [job]);
  const strips = useTable("rank_strip", { all: true });
  const steps = useTable("steps", { all: true });
  const findings = useTable("findings", { all: true });
  const hover = useSignal("");

  useEffect(() => {
    if (strips.state !== "here") return;
    timeline.strips.value = stripsOf(strips.value, job.startNs);
    tellNotes(strips.value);
  }, [timeline, strips]);
  useEffect(() => {
    if (steps.state === "here") timeline.stepsOf.value = stepsByRank(steps.value, job.startNs);
  }, [timeline, steps]);
  useEffect(() => {
    if (findings.state !== "loading") timeline.setFindings(findings.state === "here" ? findings.value : null);
  }, [timeline, findings]);
  useEffect(() => {
    timeline.missing.value = [strips, steps, findings].flatMap((loaded) => (loaded.state === "failed" ? loaded.error : []));
  }, [timeline, strips, steps, findings]);
  useEffect(() => timeline.contents.again(), [timeline, retries.value]);
  useEffect(() => {
    const stops = [
      effect(() => timeline.choices.follow()),
      effect(() => timeline.openRanks.value.forEach((rank) => timeline.contents.need(rank))),
    ];
    return () => {
      for (const stop of stops) stop();
      timeline.choices.dispose();
    };
  }, [timeline]);

  if (job.ranks.length === 0) return <p class="empty">This job has no traces.</p>;
  return (
    <div class="timeline">
      <Toolbar timeline={timeline} hover={hover} />
      <Failures timeline={timeline} />
      <div class="timeline-body">
        <LanesView timeline={timeline} onHover={(text) => (hover.value = text)} />
        <Panel timeline={timeline} />
      </div>
      <Legend />
    </div>
  );
}

function Failures({ timeline }: { timeline: Timeline }) {
  const shown = [...timeline.contents.failures.value].filter(([rank]) => timeline.open.value.has(rank));
  return <>{shown.map(([rank, sentence]) => <Failure key={rank} error={`The spans of ${rankTitle(rank)} are not shown: ${sentence}`} retry={forgetFailures} />)}</>;
}

function Legend() {
  return (
    <ul class="legend" aria-label="Colours of kinds">
      {KIND_NAMES.slice(0, 8).map((kind) => <li key={kind}><span class={`swatch ${kind}`} />{kind}{kind === "communication" ? " (hatched)" : ""}</li>)}
      <li><span class="swatch idle" />idle</li>
      <li><span class="swatch on-path" />edge: on the critical path</li>
      <li class="muted">what is narrower than a pixel is as high as it covers time</li>
    </ul>
  );
}
