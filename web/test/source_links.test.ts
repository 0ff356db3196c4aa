// Frames of stacks, rules of paths and links, from usual and from hostile paths.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanPath, parseFrame, shortPlace } from "../src/frames.ts";
import { printable } from "../src/format.ts";
import { matchRule, placeOf, ruleFrom, wrongIn } from "../src/path_rules.ts";
import { DEFAULTS, describe, EDITORS, resolveSource, settingsOf, sourceUrlRules, torchRevision, wrongWith, type SourceSettings } from "../src/source_links.ts";

const frame = (text: string) => {
  const found = parseFrame(text);
  return found === null ? null : [found.path, found.line, found.name];
};
const NO_FACTS = new Map<string, string>();
const link = (text: string, settings: Partial<SourceSettings> = {}, facts: [string, string][] = []) => {
  const parsed = parseFrame(text);
  const resolved = parsed === null ? null : resolveSource(parsed, { ...DEFAULTS, ...settings }, new Map(facts));
  return resolved !== null && "link" in resolved ? resolved.link.href : null;
};
const why = (text: string, settings: Partial<SourceSettings> = {}) => {
  const resolved = resolveSource(parseFrame(text)!, { ...DEFAULTS, ...settings }, NO_FACTS);
  return "why" in resolved ? resolved.why : "a link";
};

test("frames are read as PyTorch, Python, py-spy and snapshots of memory write them", () => {
  assert.deepEqual(frame("train.py(118): train_step"), ["train.py", 118, "train_step"]);
  assert.deepEqual(frame("/opt/lib/python3.12/site-packages/torch/_utils.py(771): <lambda>"), ["/opt/lib/python3.12/site-packages/torch/_utils.py", 771, "<lambda>"]);
  assert.deepEqual(frame("/data/a (1)/train.py(7): <module>"), ["/data/a (1)/train.py", 7, "<module>"]);
  assert.deepEqual(frame("C:\\src\\train.py(12): main"), ["C:\\src\\train.py", 12, "main"]);
  assert.deepEqual(frame("<frozen os>(808): getenv"), ["<frozen os>", 808, "getenv"]);
  assert.deepEqual(frame("model.cc(9): f(int)::g(3)"), ["model.cc", 9, "f(int)::g(3)"]);
  assert.deepEqual(frame("train.py(0)"), ["train.py", 1, ""]);
  assert.deepEqual(frame("  train.py:118 "), ["train.py", 118, ""]);
  assert.deepEqual(frame("/a/b.cu:12:4"), ["/a/b.cu", 12, ""]);
  assert.equal(parseFrame("/a/b.cu:12:4")?.column, 4);
  assert.deepEqual(frame("model.py:50:forward"), ["model.py", 50, "forward"]);
  assert.deepEqual(frame("train_step (train.py:118)"), ["train.py", 118, "train_step"]);
  assert.deepEqual(frame('File "/w/train.py", line 118, in train_step'), ["/w/train.py", 118, "train_step"]);
});

test("what names no line of a file is no frame", () => {
  for (const text of ["", "nn.Module: Linear_3", "aten::mm", "node1.cluster:8080", "<built-in method f of dict object at 0x7d>", "ProfilerStep#3",
    "Iteration(3)", "void f<(bool)1>(int)", "12:30:01", "a(1", "(12): f", "train.py(1234567890): f", `${"a/".repeat(3000)}b.py(1): f`])
    assert.equal(parseFrame(text), null, text);
});

test("the short form has the file's name and line, and a folder where the name tells nothing", () => {
  assert.equal(shortPlace(parseFrame("/w/src/train.py(7): f")!), "train.py:7");
  assert.equal(shortPlace(parseFrame("triton/__init__.py(69): f")!), "triton/__init__.py:69");
});

test("paths are brought into one form, or refused", () => {
  assert.equal(cleanPath("/a/./b//../c.py"), "/a/c.py");
  assert.equal(cleanPath("C:\\a\\b.py"), "C:/a/b.py");
  assert.equal(cleanPath("a\\b.py"), "a/b.py");
  for (const path of ["", "<string>", "../x.py", "/../x.py", "a/../../x.py", "C:/../x.py", "\\\\evil\\share\\x.py", "\\\\?\\C:\\x.py", "a\nb.py", "a\u0000.py", "a/", "/", "..", "."])
    assert.equal(cleanPath(path), null, JSON.stringify(path));
  // Two slashes would name another host's share to an editor on Windows.
  assert.equal(cleanPath("//evil/share/x.py"), "/evil/share/x.py");
});

test("each editor's link", () => {
  const at = "/w/my model/train.py(118): f";
  const expected: Record<string, string> = {
    vscode: "vscode://file/w/my%20model/train.py:118:1",
    "vscode-ssh": "vscode://vscode-remote/ssh-remote+me%40gpu%2F1/w/my%20model/train.py:118:1",
    "vscode-wsl": "vscode://vscode-remote/wsl+me%40gpu%2F1/w/my%20model/train.py:118:1",
    "vscode-insiders": "vscode-insiders://file/w/my%20model/train.py:118:1",
    cursor: "cursor://file/w/my%20model/train.py:118:1",
    vscodium: "vscodium://file/w/my%20model/train.py:118:1",
    windsurf: "windsurf://file/w/my%20model/train.py:118:1",
    pycharm: "pycharm://open?file=/w/my%20model/train.py&line=118",
    idea: "idea://open?file=/w/my%20model/train.py&line=118",
    zed: "zed://file/w/my%20model/train.py:118",
    sublime: "subl://open?url=file:///w/my%20model/train.py&line=118",
    textmate: "txmt://open?url=file:///w/my%20model/train.py&line=118",
  };
  for (const [editor, href] of Object.entries(expected)) assert.equal(link(at, { editor, host: "me@gpu/1" }), href);
  assert.equal(link(at, { editor: "vscode-container", host: "trainer" }), `vscode://vscode-remote/attached-container+${Buffer.from('{"containerName":"/trainer"}').toString("hex")}/w/my%20model/train.py:118:1`);
  const jetbrains = { editor: "jetbrains", project: "a&b", rules: [{ from: "/w", to: "" }] };
  assert.equal(link(at, jetbrains), "jetbrains://pycharm/navigate/reference?project=a%26b&path=my%20model/train.py:118");
  for (const editor of EDITORS) assert.equal(wrongWith(editor.template), "", editor.key);
  assert.equal(link("C:\\src\\train.py(12): main", { editor: "vscode" }), "vscode://file/C:/src/train.py:12:1");
  assert.equal(link("C:\\src\\train.py(12): main", { editor: "pycharm" }), "pycharm://open?file=C:/src/train.py&line=12");
});

test("there is no link, and a reason, where something is not known", () => {
  assert.equal(link("train.py(1): f"), null);
  assert.match(why("train.py(1): f"), /no editor is chosen/);
  assert.match(why("train.py(1): f", { editor: "vscode" }), /without its folder/);
  assert.match(why("/w/train.py(1): f", { editor: "vscode-ssh" }), /the host/);
  assert.match(why("/w/train.py(1): f", { editor: "jetbrains", project: "p" }), /where the project begins/);
  assert.match(why("/w/train.py(1): f", { sourceUrl: "https://github.com/o/r/blob/{commit}/{relative}", rules: [{ from: "/w", to: "" }] }), /commit/);
  assert.equal(why("<string>(2): f", { editor: "vscode" }), "");
  assert.equal(why("<string>(2): f", { editor: "vscode", rules: [{ from: "", to: "/w" }] }), "");
});

test("a page of the source on the web", () => {
  const github = "https://github.com/o/r/blob/abc123/{relative}#L{line}";
  assert.equal(link("train.py(118): f", { sourceUrl: github }), "https://github.com/o/r/blob/abc123/train.py#L118");
  assert.equal(link("train.py(118): f", {}, [["source_url", "https://gitlab.com/o/r/-/blob/abc123/"]]), "https://gitlab.com/o/r/-/blob/abc123/train.py#L118");
  assert.equal(link("train.py(118): f", { sourceUrl: github }, [["source_url", "https://elsewhere.example/"]]), "https://github.com/o/r/blob/abc123/train.py#L118");
  assert.equal(link("/w/train.py(118): f", { sourceUrl: github }), null);
  assert.equal(link("/w/train.py(118): f", { sourceUrl: `/w=${github}` }), "https://github.com/o/r/blob/abc123/train.py#L118");
  assert.equal(link("/w/a/b.py(1): f", { sourceUrl: `/w=${github} /w/a=https://h/{relative}?l={line}` }), "https://h/b.py?l=1");
  assert.equal(link("t.py(1): f", { sourceUrl: "https://h/{commit}/{relative}" }, [["commit", "abc"]]), "https://h/abc/t.py");
  assert.deepEqual(sourceUrlRules(" https://h/x?a=b/{relative} "), [{ from: "", to: "https://h/x?a=b/{relative}" }]);
  assert.equal(link("/w/t.py(3): f", { sourceUrl: "https://h/?f={path}&l={line}" }), "https://h/?f=/w/t.py&l=3");
});

test("a report's own address leads to the web or to a known editor only", () => {
  const of = (url: string) => link("/w/t.py(3): f", {}, [["source_url", url]]);
  for (const url of ["javascript:alert(1)//{path}", "data:text/html,{path}", "file://{path}", "ms-word:ofe|u|{path}", "vscode://evil.extension/run?{path}", "vscode://file-evil.extension/{path}", "vscode://file@evil.extension/{path}", "zed://ssh/evil{path}", "JaVaScRiPt://h/%0aalert(1)//{path}"])
    assert.equal(of(url), null, url);
  assert.equal(of("vscode://file{path}:{line}:{column}"), "vscode://file/w/t.py:3:1");
  assert.equal(of("/w=vscode://file/home/me/src/{relative}:{line}"), "vscode://file/home/me/src/t.py:3");
});

test("templates that are typed are free, but for schemes that run or read", () => {
  assert.equal(link("/w/t.py(3): f", { editor: "custom", template: "nvim://open?f={path}&l={line}" }), "nvim://open?f=/w/t.py&l=3");
  for (const template of ["javascript:f({path})", "JAVASCRIPT:{path}", "java\nscript:{path}", " javascript:{path}", "data:text/html,{path}", "file://{path}", "vbscript:{path}", "blob:{path}", "{path}", "",
    "https://{relative}", "https:///{relative}", "https://h{relative}/", "x://{path} {line}", "x://{path}{evil}", "x://no-place", "https:\\\\h\\{path}", "x://{path}{line"]) {
    assert.notEqual(wrongWith(template), "", template);
    assert.equal(link("/w/t.py(3): f", { editor: "custom", template }), null, template);
  }
});

test("hostile paths stay paths", () => {
  const hostile = ["/w/#frag?x=1&y=2/a+b.py", "/w/%2e%2e/x.py", "/w/a:99:1.py", "/w/\u202egnp.py", "/w/d/<img src=x onerror=alert(1)>.py", '/w/"onclick="x.py', "/w/@evil.example/x.py",
    "/javascript:alert(1)/x.py", "/w/a;b,c.py", "/w/é漢🙂.py", "/w/{line}{host}.py", "/w/(x)'*!.py", "/w/a|b`c$(d).py", "/w/d/\\\\evil\\x.py"];
  for (const path of hostile) {
    for (const editor of EDITORS) {
      const href = link(`${path}(7): f`, { editor: editor.key, host: "h", project: "p", rules: editor.template.includes("{relative}") ? [{ from: "/w", to: "" }, { from: "/", to: "" }] : [] })!;
      assert.ok(href, `${path} ${editor.key}`);
      assert.ok(href.startsWith(editor.template.slice(0, editor.template.indexOf("{"))), href);
      assert.doesNotMatch(href, /[\s<>"'`\\(){}|;\u0080-\uffff]/, href);
      const url = new URL(href);
      assert.equal(url.protocol, editor.template.slice(0, editor.template.indexOf(":") + 1));
      assert.equal(url.hash, "", href);
    }
    const url = new URL(link(`${path}(7): f`, { sourceUrl: "/=https://github.com/o/r/blob/c/{relative}#L{line}" })!);
    assert.equal(url.origin, "https://github.com");
    assert.ok(url.pathname.startsWith("/o/r/blob/c/"), url.href);
    assert.equal(url.hash, "#L7");
    assert.equal(url.search, "");
    assert.equal(`/${decodeURIComponent(url.pathname.slice("/o/r/blob/c/".length))}`, path);
  }
  assert.equal(link("/w/../../../evil/x.py(1): f", { editor: "vscode" }), null);
  assert.equal(link("\\\\evil\\share\\x.py(1): f", { editor: "vscode" }), null);
  assert.equal(link("/w/\ud800.py(1): f", { editor: "vscode" }), null);
  // Where a place is mapped to must not lead out of it either.
  assert.equal(link("/w/x/../../y.py(1): f", { editor: "vscode", rules: [{ from: "/w", to: "/home" }] }), "vscode://file/y.py:1:1");
});

test("what is shown of a hostile path is readable", () => {
  const hostile = parseFrame("/w/\u202egnp.py(7): f\u2066")!;
  assert.equal(printable(shortPlace(hostile)), "\\u202egnp.py:7");
  assert.equal(describe(hostile), "/w/\\u202egnp.py:7 in f\\u2066");
});

test("rules: the longest beginning counts, at the border of folders", () => {
  const rules = [{ from: "/workspace/", to: "/home/me/" }, { from: "/workspace/train", to: "/src/train" }, { from: "", to: "/here" }, { from: "*/site-packages/vllm", to: "/vllm" }];
  const place = (path: string, of = rules) => {
    const match = matchRule(path, of);
    return match && placeOf(match);
  };
  assert.equal(place("/workspace/train/a.py"), "/src/train/a.py");
  assert.equal(place("/workspace/trainer/a.py"), "/home/me/trainer/a.py");
  assert.equal(place("lib/a.py"), "/here/lib/a.py");
  assert.equal(place("/other/a.py"), null);
  assert.equal(place("/py/lib/site-packages/vllm/v1/a.py"), "/vllm/v1/a.py");
  assert.equal(place("/py/my-site-packages/vllm/v1/a.py"), null);
  assert.equal(place("/a/b.py", [{ from: "/", to: "" }]), "a/b.py");
  assert.equal(place("/a/b.py", [{ from: "/a", to: "/" }]), "/b.py");
  assert.equal(place("/a/b.py", [{ from: "/a/b.py", to: "/c/d.py" }]), "/c/d.py");
  assert.equal(place("C:/src/b.py", [{ from: "C:\\src\\", to: "/mnt/c/src" }]), "/mnt/c/src/b.py");
  assert.equal(place("/a/b.py", [{ from: "/a", to: "/first" }, { from: "/a/", to: "/second" }]), "/first/b.py");
  assert.notEqual(wrongIn({ from: "/a", to: "~/src" }), "");
  assert.equal(wrongIn({ from: "/a", to: "/src" }), "");
});

test("where one file is says where those beside it are", () => {
  const there = "/workspace/train/model/layers.py";
  assert.deepEqual(ruleFrom(there, "/home/me/src/model/layers.py"), { from: "/workspace/train", to: "/home/me/src" });
  assert.deepEqual(ruleFrom("train.py", "/home/me/src/train.py"), { from: "", to: "/home/me/src" });
  assert.deepEqual(ruleFrom(there, "model/layers.py"), { from: "/workspace/train", to: "" });
  assert.deepEqual(ruleFrom(there, "C:\\src\\layers.py"), { from: "/workspace/train/model", to: "C:/src" });
  assert.deepEqual(ruleFrom("/layers.py", "/a/layers.py"), { from: "/", to: "/a" });
  assert.equal(ruleFrom(there, "/home/me/other.py"), null);
  assert.equal(ruleFrom(there, there), null);
  for (const [path, here] of [[there, "/home/me/src/model/layers.py"], ["train.py", "/s/train.py"], ["/layers.py", "/a/layers.py"], ["/a/layers.py", "/layers.py"], [there, "C:\\src\\layers.py"]] as const) {
    const match = matchRule(path, [ruleFrom(path, here)!])!;
    assert.equal(placeOf(match), cleanPath(here));
  }
});

test("PyTorch's own files are on the web at its version, unless a rule reaches farther", () => {
  const installed = "/opt/py/lib/python3.12/site-packages/torch/nn/modules/linear.py(134): forward";
  const version: [string, string][] = [["torch_version", "2.13.0+cu130"]];
  const there = "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/linear.py#L134";
  assert.equal(link(installed, {}, version), there);
  assert.equal(link("torch/nn/modules/linear.py(134): forward", { editor: "vscode", rules: [{ from: "", to: "/src" }] }, version), there);
  assert.equal(link(installed, { editor: "vscode", torchOnWeb: false }, version), "vscode://file/opt/py/lib/python3.12/site-packages/torch/nn/modules/linear.py:134:1");
  assert.equal(link(installed, { editor: "vscode", rules: [{ from: "*/site-packages/torch", to: "/src/torch" }] }, version), "vscode://file/src/torch/nn/modules/linear.py:134:1");
  assert.equal(link(installed, { editor: "vscode", rules: [{ from: "/opt/py", to: "/py" }] }, version), there);
  assert.equal(link(installed, { torchVersion: "2.9.1" }, version), there.replace("2.13.0", "2.9.1"));
  assert.equal(link("/w/torch/x.py(1): f", { editor: "zed" }, version), "zed://file/w/torch/x.py:1");
  assert.equal(link("/opt/site-packages/vllm/a.py(1): f", { rules: [{ from: "*/site-packages/vllm", to: "https://github.com/vllm-project/vllm/blob/v0.11.0/vllm" }] }), "https://github.com/vllm-project/vllm/blob/v0.11.0/vllm/a.py#L1");
  assert.equal(torchRevision("2.1.0a0+gitabc1234"), "abc1234");
  assert.equal(torchRevision("2.6.0a0+ecf3bae40a.nv25.01"), "ecf3bae40a");
  assert.equal(torchRevision("2.9.0.dev20260801+cu130"), "main");
  assert.equal(torchRevision("2.8.0.post1"), "v2.8.0");
  assert.equal(torchRevision("/../../evil"), "main");
});

test("what was kept is read as far as it is usable", () => {
  for (const kept of [null, 7, "x", [], { rules: 3, editor: 4 }, { rules: [null, 1, { from: "a" }] }]) assert.deepEqual(settingsOf(kept), DEFAULTS);
  const all: SourceSettings = { editor: "zed", host: "h", project: "p", template: "t", sourceUrl: "u", torchOnWeb: false, torchVersion: "2", rules: [{ from: "/a", to: "/b" }] };
  assert.deepEqual(settingsOf(JSON.parse(JSON.stringify(all))), all);
});
