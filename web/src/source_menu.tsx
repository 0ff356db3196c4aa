// The menu in the bar that says where lines of source code are opened, and what is asked when one is followed.
import { useEffect, useRef, useState } from "preact/hooks";
import { useJob } from "./data/use.ts";
import { printable } from "./format.ts";
import { parseFrame, type Frame } from "./frames.ts";
import { ruleFrom, wrongIn, type Rule } from "./path_rules.ts";
import { describe, EDITORS, resolveSource, sourceUrlRules, wrongWith, type SourceLink } from "./source_links.ts";
import { change, question, settings, trust } from "./source_settings.ts";

export function SourceMenu() {
  const details = useRef<HTMLDetailsElement>(null);
  return (
    <>
      <details class="menu" ref={details}>
        <summary title="Where lines of source code are opened">Source</summary>
        <form class="settings" onSubmit={(event) => event.preventDefault()}>
          <Target />
          <Rules />
          <Torch />
          <Example />
        </form>
      </details>
      <SourceQuestion />
    </>
  );
}

interface FieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
  wrong?: string;
  placeholder?: string;
}

function Field({ label, value, onChange, hint, wrong = "", placeholder = "" }: FieldProps) {
  return (
    <label class="field">{label}
      <input type="text" spellcheck={false} autocomplete="off" value={value} placeholder={placeholder} aria-invalid={wrong !== ""} onInput={(event) => onChange(event.currentTarget.value)} />
      {(wrong || hint) && <small class={wrong ? "wrong" : "muted"}>{wrong || hint}</small>}
    </label>
  );
}

const fact = (name: string): string => {
  const job = useJob();
  return job.state === "here" ? (job.value.facts.get(name) ?? "") : "";
};

function Target() {
  const { editor, host, project, template, sourceUrl } = settings.value;
  const chosen = EDITORS.find((each) => each.key === editor);
  const ofJob = fact("source_url");
  return (
    <>
      <label class="field">Open lines of source code in
        <select value={editor} onChange={(event) => change({ editor: event.currentTarget.value })}>
          <option value="">the web page of the source</option>
          {EDITORS.map((each) => <option key={each.key} value={each.key}>{each.title}</option>)}
          <option value="custom">another program</option>
        </select>
      </label>
      {chosen?.asks === "host" && <Field label="Host" value={host} hint={chosen.help} onChange={(host) => change({ host })} />}
      {chosen?.asks === "project" && <Field label="Project" value={project} hint={chosen.help} onChange={(project) => change({ project })} />}
      {editor === "custom" && (
        <Field label="Template" value={template} placeholder="myeditor://open?file={path}&line={line}" hint="{path}, {relative}, {line}, {column} stand for the place" wrong={template && wrongWith(template.trim())} onChange={(template) => change({ template })} />
      )}
      {editor === "" && (
        <Field
          label="Web page" value={sourceUrl} placeholder={ofJob || "https://github.com/OWNER/REPO/blob/COMMIT/{relative}#L{line}"}
          hint={ofJob ? "Empty: as the job says, above" : "GitHub, GitLab or another; FOLDER=https://… for files below that folder"}
          wrong={sourceUrlRules(sourceUrl).map((each) => wrongWith(each.to)).find((wrong) => wrong !== "")} onChange={(sourceUrl) => change({ sourceUrl })}
        />
      )}
    </>
  );
}

function Rules() {
  const { rules } = settings.value;
  const put = (at: number, rule: Rule | null) => change({ rules: rules.flatMap((each, i) => (i !== at ? [each] : rule === null ? [] : [rule])) });
  return (
    <fieldset>
      <legend>Where the traced folders are here</legend>
      {rules.map((rule, at) => (
        <div class="rule" key={at}>
          <input type="text" spellcheck={false} aria-label={`Folder in the trace, rule ${at + 1}`} value={rule.from} placeholder="paths without a beginning" onInput={(event) => put(at, { ...rule, from: event.currentTarget.value })} />
          <span aria-hidden="true">→</span>
          <input type="text" spellcheck={false} aria-label={`Folder here, rule ${at + 1}`} value={rule.to} placeholder="the project's root" aria-invalid={wrongIn(rule) !== ""} onInput={(event) => put(at, { ...rule, to: event.currentTarget.value })} />
          <button type="button" aria-label={`Remove rule ${at + 1}`} onClick={() => put(at, null)}>×</button>
          {wrongIn(rule) && <small class="wrong">{wrongIn(rule)}</small>}
        </div>
      ))}
      <button type="button" onClick={() => change({ rules: [...rules, { from: "", to: "" }] })}>Add a rule</button>
    </fieldset>
  );
}

function Torch() {
  const { torchOnWeb, torchVersion } = settings.value;
  return (
    <>
      <label class="check"><input type="checkbox" checked={torchOnWeb} onChange={(event) => change({ torchOnWeb: event.currentTarget.checked })} /> PyTorch's own files on GitHub</label>
      {torchOnWeb && <Field label="PyTorch version" value={torchVersion} placeholder={fact("torch_version") || "main, as the job does not tell"} onChange={(torchVersion) => change({ torchVersion })} />}
    </>
  );
}

// What the settings make of a line.
const EXAMPLE = "/workspace/train/train.py(118): train_step";

function Example() {
  const [text, setText] = useState(EXAMPLE);
  const job = useJob();
  const frame = parseFrame(text);
  const resolved = frame && resolveSource(frame, settings.value, job.state === "here" ? job.value.facts : new Map());
  const result = resolved === null ? "This names no line of a file." : "link" in resolved ? resolved.link.href : resolved.why || "This is no file.";
  return (
    <>
      <Field label="Try a line" value={text} onChange={setText} />
      <output class="href">{printable(result)}</output>
    </>
  );
}

function SourceQuestion() {
  const dialog = useRef<HTMLDialogElement>(null);
  const asked = question.value;
  useEffect(() => {
    if (asked !== null && !dialog.current!.open) dialog.current!.showModal();
    if (asked === null && dialog.current!.open) dialog.current!.close();
  }, [asked]);
  const close = () => (question.value = null);
  return (
    <dialog ref={dialog} aria-labelledby="source-question" onClose={close}>
      {asked === null ? null : "follow" in asked ? <Follow link={asked.follow} close={close} /> : <Where key={asked.where.path} frame={asked.where} why={asked.why} close={close} />}
    </dialog>
  );
}

function Follow({ link, close }: { link: SourceLink; close: () => void }) {
  const go = () => {
    trust(link);
    close();
  };
  return (
    <>
      <h2 id="source-question">Open this in another program?</h2>
      <p>The path is the trace's: look whether it is one of yours. You are asked once for each kind of link.</p>
      <p class="href">{link.href}</p>
      <p class="buttons"><a class="button" href={link.href} onClick={go}>Open</a> <button type="button" onClick={close}>Cancel</button></p>
    </>
  );
}

function Where({ frame, why, close }: { frame: Frame; why: string; close: () => void }) {
  const [here, setHere] = useState("");
  const rule = ruleFrom(frame.path, here);
  const wrong = rule === null ? "The path has to end as the trace's does." : wrongIn(rule);
  const add = (event: Event) => {
    event.preventDefault();
    if (rule === null || wrong !== "") return;
    change({ rules: [rule, ...settings.value.rules.filter((each) => each.from !== rule.from)] });
    close();
  };
  return (
    <form onSubmit={add}>
      <h2 id="source-question">Where is it here?</h2>
      <p class="href">{describe(frame)}</p>
      <p>{why}</p>
      <Field label="The whole path of this file, or from the project's root" value={here} wrong={here && wrong} hint="What both paths end in tells where the files beside it are." onChange={setHere} />
      {rule !== null && wrong === "" && <p class="href">{printable(rule.from || "paths without a beginning")} → {printable(rule.to || "the project's root")}</p>}
      <p class="buttons"><button type="submit" disabled={rule === null || wrong !== ""}>Add this rule</button> <button type="button" onClick={close}>Cancel</button></p>
    </form>
  );
}
