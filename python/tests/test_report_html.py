"""A report in a notebook: one element with its own style, small, and without what viewers strip."""

import html.parser
import json
import re

import pytest
import spotter

ROOT = ":is(#spotter-report,.spotter-report)"
HOSTILE = "</style><script>alert(1)</script><img src=x onerror=alert(2)>"


class Reader(html.parser.HTMLParser):
    """The elements with their attributes, the texts by element, and how deep it ends."""

    VOID = ("img", "br", "meta", "link", "input")

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.tops, self.texts = [], [], [], {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if not self.open:
            self.tops.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


def html_of(path, **parts):
    return spotter.report(path, progress=False, **parts)._repr_html_()


@pytest.fixture(scope="module")
def shown(job):
    return html_of(job)


def test_it_is_the_static_part_of_the_page(job, shown, tmp_path):
    report = spotter.report(job, progress=False)
    report.save(tmp_path / "r.html")
    page, inline = Reader((tmp_path / "r.html").read_text()), Reader(shown)
    assert inline.tops == [("div", {"class": "spotter-report"})] and inline.open == []
    finding = report.findings["finding"][0]
    assert any(finding in text for text in inline.texts["p"]) and finding.startswith("Rank 3 ")
    assert inline.texts["figcaption"] == ["Device time of each rank"]
    titles = [text.strip() for text in inline.texts["h3"]]
    assert titles[0] == "What stands out" and {*titles} <= {*page.texts["h2"]}
    assert shown[shown.index("<svg") : shown.index("</svg>")].count("<rect") > 6 * 3
    assert ".save(" in " ".join(inline.texts["code"])


def test_it_has_nothing_that_acts_or_asks(shown):
    elements = Reader(shown).elements
    assert not {tag for tag, _ in elements} & {"script", "link", "iframe", "img", "a", "object", "noscript", "template"}
    for _, attributes in elements:
        assert not [name for name in attributes if name.startswith("on") or name in ("href", "src", "style")]
    assert re.findall(r"url\(([^)]*)\)|(@import)", shown) and all(one.startswith("#") for one in re.findall(r"url\(([^)]*)\)", shown))
    assert "@import" not in shown


def selectors(style):
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
    style = style.replace("@media print {", "")
    for rule in re.findall(r"([^{}]+)\{[^{}]*\}", style):
        # Commas between selectors, not those within :is().
        yield from (one.strip() for one in re.split(r",(?![^(]*\))", rule))


def test_every_rule_is_for_it_alone(shown):
    (style,) = [text for text in Reader(shown).texts["style"] if text.strip()]
    found = list(selectors(style))
    assert len(found) > 40
    for selector in found:
        assert selector.startswith(ROOT) and not re.search(r"[+~]", selector[len(ROOT) :].split(" ")[0]), selector
    assert style.count("@") == style.count("@media print {")


def trace(path, start=1_700_000_000_000_000_000):
    events = [
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 1000},
        {"ph": "X", "cat": "cpu_op", "name": HOSTILE, "pid": 1, "tid": 1, "ts": 10, "dur": 500},
        {"ph": "X", "cat": "kernel", "name": HOSTILE, "pid": 0, "tid": 7, "ts": 100, "dur": 400, "args": {"device": 0, "stream": 7}},
    ]
    path.write_text(json.dumps({"schemaVersion": 1, "baseTimeNanoseconds": start, "traceEvents": events}))
    return path


def test_names_are_text(tmp_path):
    shown = html_of(trace(tmp_path / "<b onclick=x>.json"))
    elements = Reader(shown).elements
    assert not {tag for tag, _ in elements} & {"script", "img"} and "<b onclick" not in shown
    assert shown.count("</style>") == 1
    assert "&lt;script&gt;" in shown


def test_a_large_job_stays_small(tmp_path):
    many = spotter.simulate(tmp_path, ranks=200, steps=2, layers=1, seed=1)
    shown = html_of(many, top=0)
    assert len(shown) < 100_000
    assert "Ranks (of 200: the most and the least idle)" in shown


def test_reports_of_other_jobs_have_other_ids(tmp_path):
    def ids(start):
        shown = html_of(trace(tmp_path / "rank0.json", start))
        found = {attributes["id"] for _, attributes in Reader(shown).elements if "id" in attributes}
        for name in re.findall(r'url\(#(.*?)\)|aria-labelledby="(.*?)"', shown):
            assert {*name} & found
        return found

    one, other = ids(1_700_000_000_000_000_000), ids(1_700_000_001_000_000_000)
    assert one and other and not one & other
