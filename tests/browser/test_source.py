"""From a line of a stack to where its reader has the file: the links, the menu that says where, and what is asked first."""

import re

import pytest

import jobs as jobs_module
import watched

OPEN = "vscode://file/home/me/train/train.py:118:1"
# Of links that are clicked, those that the browser is left to go to; it does not go, as a program that is not there takes its input.
FOLLOWED = """
  window.followed = [];
  addEventListener("click", (event) => {
    const link = event.target.closest("a");
    const href = link?.getAttribute("href") ?? "";
    if (!href.startsWith("vscode:")) return;
    link.removeAttribute("href");
    setTimeout(() => { link.setAttribute("href", href); if (!event.defaultPrevented) followed.push(href); });
  }, true);
"""


@pytest.fixture(scope="module")
def fragment(jobs):
    """A span whose stack has a line of the job's own file and one of PyTorch's."""
    spans = jobs.json("training", "spans", "--ranks", "0")
    outer = next(row for row in spans if row["name"].startswith("torch/_tensor.py("))
    end = outer["start_ns"] + outer["dur_ns"]
    inner = next(row for row in spans
                 if row["thread"] == outer["thread"] and row["depth"] > outer["depth"] and outer["start_ns"] <= row["start_ns"] < end)
    return f"#/timeline?v=1&open=0&sel=0:{inner['event']}"


def place_of(page, file):
    """What leads to that file, in the stack."""
    return page.locator(f'.timeline-panel ol > li .source > [title^="{file}:"]')


def attributes(link):
    return [link.get_attribute(name) for name in ("href", "target", "rel")]


def test_links_to_the_web(jobs, open_page, fragment):
    elsewhere = ["_blank", "noopener noreferrer"]
    page = open_page(jobs.report("training", "--source-url", "https://github.com/o/r/blob/abc"), fragment)
    assert attributes(place_of(page, "train.py")) == ["https://github.com/o/r/blob/abc/train.py#L118", *elsewhere]
    href, *rest = attributes(place_of(page, "torch/_tensor.py"))
    assert re.fullmatch(r"https://github\.com/pytorch/pytorch/blob/[\w.]+/torch/_tensor\.py#L648", href) and rest == elsewhere
    # Without an address, it is text.
    page = open_page(jobs.report("training"), fragment)
    assert place_of(page, "train.py").evaluate("(one) => one.tagName") == "SPAN"


def choose(page, editor):
    page.locator("details.menu summary", has_text="Source").click()
    page.get_by_label("Open lines of source code in").select_option(editor)


def test_lines_open_in_an_editor(jobs, open_page, fragment):
    """Its file is looked for once, the whole link is shown once; then it is followed, also after the page was opened anew."""
    place = jobs.server("training")
    page = open_page(place, None)
    page.add_init_script(FOLLOWED)
    watched.show(page, place, fragment)
    choose(page, "vscode")
    page.keyboard.press("Escape")
    place_of(page, "train.py").click()
    dialog = page.get_by_role("dialog")
    assert "without its folder" in dialog.inner_text()
    field = dialog.get_by_label("The whole path of this file")
    field.fill("/home/me/other.py")
    assert "has to end as the trace's does" in dialog.inner_text() and dialog.get_by_role("button", name="Add this rule").is_disabled()
    field.fill("/home/me/train/train.py")
    assert "paths without a beginning → /home/me/train" in dialog.inner_text()
    dialog.get_by_role("button", name="Add this rule").click()
    line = place_of(page, "train.py")
    assert attributes(line) == [OPEN, None, None]
    line.click()
    assert dialog.locator(".href").inner_text() == OPEN
    dialog.get_by_role("button", name="Cancel").click()
    dialog.wait_for(state="hidden")
    assert page.evaluate("() => followed") == []
    line.click()
    dialog.get_by_role("link", name="Open").click()
    dialog.wait_for(state="hidden")
    page.wait_for_function("() => followed.length > 0")
    assert page.evaluate("() => followed") == [OPEN]
    page.reload()
    watched.until_ready(page, "timeline")
    line.click()
    page.wait_for_function("() => followed.length === 1")
    assert page.evaluate("() => followed") == [OPEN] and dialog.count() == 0
    choose(page, "vscode-ssh")
    page.get_by_label("Host").fill("gpu 01")
    assert attributes(line)[0] == "vscode://vscode-remote/ssh-remote+gpu%2001/home/me/train/train.py:118:1"


def test_an_editor_around_the_page_is_told(jobs, open_page, fragment, tmp_path):
    outer = tmp_path / "editor.html"
    outer.write_text(f"""<!doctype html><title>Editor</title>
      <script>window.heard = []; addEventListener("message", (event) => heard.push(event.data));</script>
      <iframe width="1200" height="800" src="{jobs.report("training").at(fragment)}"></iframe>""")
    page = open_page(jobs_module.Place(outer.as_uri()), None, allow=["asked file:"])
    page.goto(outer.as_uri())
    page.frame_locator("iframe").locator('.timeline-panel ol > li .source > [title^="train.py:118"]').click()
    page.wait_for_function("() => heard.length > 0")
    assert page.evaluate("() => heard[0]") == {"filename": "train.py", "line": 117}
