"""Names in traces are hostile: they are shown as text, whatever they say."""

import base64
import gzip
import json
import re

import harness
import pytest

import views
import watched

LETTERS = "\u202egnp.exe\u202c \u2066hidden\u2069 zero\u200bwidth\ufeff"
NAMES = [
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    "\"><svg onload=window.pwned=1>",
    "' onmouseover='window.pwned=1",
    "javascript:window.pwned=1",
    "${window.pwned=1}{{window.pwned=1}}",
    "<!--spotter:data--><!--",
    "--></title></style></textarea><b>bold</b>",
    "]]><math><mi//xlink:href=\"data:x,<script>window.pwned=1</script>\">",
    "=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(1)",
    LETTERS,
    "\x00\x01\x1b[31mred\x7f",
    "aten::\ud800lone",
    "\N{PILE OF POO}" * 3,
    "long<img src=x onerror=window.pwned=1>" * 25_000,  # 1 MB
]
BAD_UTF8 = b"caf\xe9 \xff\xfe \xc0\xaf <b>x</b>"
HOST = "node<img src=x onerror=window.pwned=1>\u202e0"
FOLDER = "hostile/a <img src=x onerror=window.pwned=1> 'x' & \u202egnp"
OTHER = "hostile/b \"><svg onload=window.pwned=1> {{1}}"


def trace(rank, names=NAMES):
    events, at = [], 1000
    for step in range(2):
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 9, "tid": 1, "ts": at, "dur": 100 * len(names)})
        for number, name in enumerate(names):
            correlation = 1000 * step + number + 1
            events += [
                {"ph": "X", "cat": "python_function", "name": f"{name}.py(1): {name}", "pid": 9, "tid": 1, "ts": at + 1, "dur": 90, "args": {"Python id": correlation, "Python parent id": None}},
                {"ph": "X", "cat": "cpu_op", "name": name, "pid": 9, "tid": 1, "ts": at + 2, "dur": 60, "args": {"External id": correlation, "Input Dims": name[:2000], "Concrete Inputs": [name[:2000]]}},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 1, "ts": at + 4, "dur": 5, "args": {"correlation": correlation, "External id": correlation}},
                {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": at + 20, "dur": 40 + number, "args": {"device": 0, "stream": 7, "correlation": correlation, "External id": correlation}},
            ]
            at += 100
    text = json.dumps({"distributedInfo": {"rank": rank, "world_size": 2, "pg_config": NAMES[1]}, "deviceProperties": [{"id": 0, "name": NAMES[0]}],
                       "trace_id": NAMES[2], "host_name": HOST, "traceEvents": [*events, {"ph": "M", "name": "process_name", "pid": 9, "args": {"name": NAMES[0]}},
                                                             {"ph": "M", "name": "thread_name", "pid": 9, "tid": 1, "args": {"name": NAMES[1]}}]})
    # A byte that is no UTF-8, in a name of its own.
    return text.encode().replace(b"+1+1", BAD_UTF8)


def put(jobs, folder, names=NAMES):
    jobs.put(folder, {f"rank{rank}<img src=x onerror=window.pwned=1>.pt.trace.json": trace(rank, names) for rank in range(2)})
    return folder


@pytest.fixture
def job(jobs):
    return put(jobs, FOLDER)


@pytest.fixture(params=["report", "server"])
def place(request, jobs, job):
    return jobs.report(job) if request.param == "report" else jobs.server(job)


OWN_ELEMENTS = "() => [window.pwned, document.querySelectorAll('img, math, iframe, object, embed, [onerror], [onload], [onmouseover]').length]"


def test_nothing_of_them_runs(open_page, place):
    page = open_page(place)
    for view in views.of(place.kind):
        watched.show(page, place, f"#/{view}?v=1")
        assert page.evaluate(OWN_ELEMENTS) == [None, 0], view
        assert "\u202e" not in page.title()
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), view
        assert page.locator("#view [role=alert]").count() == 0, page.locator("#view [role=alert]").first.inner_text()


def test_a_selected_one_is_text(jobs, job, open_page):
    """With its arguments, its stack and the event as the file has it; and what it is asked about as a line of source."""
    page = open_page(jobs.server(job), "#/timeline?v=1")
    spans = jobs.json(job, "spans", "--ranks", "0")
    for name in (NAMES[0], NAMES[1], LETTERS):
        event = next(row["event"] for row in spans if row["name"] == name and row["side"] == "device")
        watched.show(page, jobs.server(job), f"#/timeline?v=1&open=0&sel=0:{event}&marks=1000-2000:x")
        panel = page.locator(".timeline-panel")
        panel.get_by_text("As the file has it").click()
        assert panel.locator("ol > li").count() > 0
        assert page.evaluate(OWN_ELEMENTS) == [None, 0], name
        assert "\u202e" not in page.evaluate("() => document.body.innerText") + panel.evaluate("(one) => one.outerHTML"), name


def test_they_are_shown_as_text(jobs, job, open_page, place):
    page = open_page(place, "#/tables?v=1&table=operators")
    rows, _ = watched.shown_rows(page, "operators")
    assert sorted(row["name"] for row in rows.values()) == sorted(row["name"] for row in jobs.json(job, "operators"))
    text = page.locator('table[data-table="operators"]').inner_text()
    assert "<img src=x onerror=window.pwned=1>" in text and "</script>" in text
    # What would turn the text around it, or cannot be seen, is seen.
    assert not any(letter in text for letter in "\u202e\u2066\u200b\ufeff\x1b\x00")


@pytest.mark.parametrize("view", ["overview", "timeline"])
def test_a_host_is_text(open_page, place, view):
    page = open_page(place, f"#/{view}?v=1")
    text = page.locator("#view").inner_text()
    assert "node<img src=x onerror=window.pwned=1>" in text and "\u202e" not in text
    assert page.evaluate(OWN_ELEMENTS) == [None, 0]


def test_two_such_jobs_are_compared_as_text(jobs, job, open_page):
    page = open_page(jobs.server(job, put(jobs, OTHER, NAMES[1:])), "#/diff?v=1")
    assert page.locator("#view [role=alert]").count() == 0, page.locator("#view [role=alert]").first.inner_text()
    rows, _ = watched.shown_rows(page, "trace_diff")
    assert set(NAMES[:3]) <= {row["name"] for row in rows.values()}
    assert {row["change"] for row in rows.values() if row["name"] == NAMES[0]} == {"removed"}
    assert "<svg onload=window.pwned=1> {{1}}" in "".join(page.locator("#view select").all_inner_texts())
    assert not any(letter in page.locator("#view").inner_text() for letter in "\u202e\u2066\u200b\ufeff\x1b\x00")
    assert page.evaluate(OWN_ELEMENTS) == [None, 0]


def test_csv_is_no_spreadsheet_formula(open_page, place):
    page = open_page(place, "#/tables?v=1&table=operators", accept_downloads=True)
    with page.expect_download() as download:
        save(page, "CSV")
    lines = download.value.path().read_text()
    assert "'=cmd|" in lines and "'-1+1" in lines and "'@SUM" in lines
    assert not [line for line in lines.splitlines() for cell in line.split(",") if cell.lstrip('"')[:1] in ("=", "@")]


def save(page, kind):
    button = page.get_by_role("button", name=kind)
    if not button.first.is_visible():
        page.locator("#view details summary").filter(has_text="Save").or_(page.get_by_role("button", name="Save")).first.click()
    button.first.click()


def test_without_script(jobs, job, open_page):
    page = open_page(jobs.report(job), None, script=False)
    page.goto(jobs.report(job).at())
    assert page.locator("img, math, iframe, object, embed, [onerror], [onload], [onmouseover]").count() == 0
    text = page.inner_text("body")
    assert "<img src=x onerror=window.pwned=1>" in text
    assert not any(letter in text for letter in "\u202e\u2066\x1b")
    assert "<img src=x" in page.title() or "<img" in text


def bytes_of(place):
    """A report, and each of its blocks."""
    whole = place.path.read_bytes()
    blocks = re.findall(rb'<script type="application/octet-stream" id="(?!page-script)[^"]*">([^<]*)<', whole)
    return [whole, *(gzip.decompress(base64.b64decode(block)) for block in blocks)]


def test_a_redacted_report_has_no_names_of_places(jobs):
    texts = bytes_of(jobs.report("eight_ranks", "--redact"))
    for text in texts:
        for name in (b"node000", b"rank_000", b"eight_ranks"):
            assert name not in text
    assert b"nccl" in texts[0], "kernels keep their names"


def private_trace(rank):
    """Of a program in a user's own folders: its stacks, shapes, memory and places."""
    events, home = [], "/home/ourusername/ourproject"
    frames = [f"{home}/train.py(12): main", f"{home}/layers/ourlayers.py(34): forward", "ourproject/data.py(5): __next__"]
    for step in range(2):
        at = 1000 + 2000 * step
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 9, "tid": 1, "ts": at, "dur": 1900})
        for depth, frame in enumerate(frames):
            events.append({"ph": "X", "cat": "python_function", "name": frame, "pid": 9, "tid": 1, "ts": at + 1 + depth, "dur": 1800 - 10 * depth,
                           "args": {"Python id": 10 * step + depth, "Python parent id": 10 * step + depth - 1 if depth else None}})
        for call in range(4):
            begin, number = at + 100 + 300 * call, 10 * step + call + 1
            args = {"External id": number, "Input Dims": [[4096, 31337]], "Input type": ["float"], "Concrete Inputs": [f"{home}/weights.pt"], "Call stack": ";".join(frames)}
            events += [
                {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 1, "ts": begin, "dur": 200, "args": args},
                {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 9, "tid": 1, "ts": begin + 5,
                 "args": {"Device Type": 1, "Device Id": 0, "Addr": 4096 * number, "Bytes": 1 << 20, "Total Allocated": number << 20, "Total Reserved": 64 << 20}},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 1, "ts": begin + 10, "dur": 5, "args": {"correlation": number, "External id": number}},
                {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32" if call == 3 else "gemm_kernel", "pid": 0, "tid": 7, "ts": begin + 40, "dur": 150 * (1 + rank), "args": {
                    "device": 0, "stream": 7, "correlation": number, "External id": number,
                    **({"Process Group Name": "0", "Process Group Description": "ourgroupname", "Collective name": "allreduce", "In msg nelems": 99, "Group size": 2} if call == 3 else {})}},
            ]
    host = ["ourhostname", "OURHOSTNAME.ourdomain.example"][rank]
    return json.dumps({"distributedInfo": {"rank": rank, "world_size": 2}, "host_name": host, "traceName": f"{home}/{host}.json",
                       "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_000_000_000}], "traceEvents": events}).encode()


PRIVATE = [b"ourusername", b"ourproject", b"ourhostname", b"ourdomain", b"ourjobname", b"ourgroupname", b"ourowner", b"ourlayers", b"weights.pt", b"31337"]


@pytest.fixture
def private_job(jobs):
    """With stacks, shapes, memory, hosts in two spellings and receipts that tell the source."""
    files = ["ourhostname_1.pt.trace.json", "OURHOSTNAME_2.pt.trace.json"]
    row = {"state": "written", "source_root": "/home/ourusername/ourproject", "source": f"https://github.com/ourowner/ourproject@{'0123456789' * 4}"}
    receipts = {"tables": [{"name": "receipts", "columns": [{"name": name} for name in ("host", "rank", "file", *row)],
                            "rows": [["ourhostname", str(rank), file, *row.values()] for rank, file in enumerate(files)]}], "notes": []}
    jobs.put("ourjobname", {**{file: private_trace(rank) for rank, file in enumerate(files)}, "capture.json": json.dumps(receipts).encode()})
    return "ourjobname"


def test_a_redacted_report_has_no_names_of_a_users_program(jobs, private_job):
    told = b"".join(bytes_of(jobs.report(private_job))).lower()
    assert [name for name in PRIVATE if name not in told] == [b"weights.pt"], "what is not redacted tells them"
    for text in bytes_of(jobs.report(private_job, "--redact")):
        assert not [name for name in PRIVATE if name in text.lower()]


@pytest.mark.whole
def test_a_redacted_reports_page_shows_no_names_of_a_users_program(jobs, private_job, open_page):
    place = jobs.report(private_job, "--redact")
    page = open_page(place)
    for view in views.of("report"):
        watched.show(page, place, f"#/{view}?v=1")
        assert page.locator("#view [role=alert]").count() == 0
        # The footer has the page's own address.
        shown = (page.title() + "".join(page.locator("header, main").evaluate_all("(all) => all.map((each) => each.innerHTML)"))).lower()
        assert not [name for name in PRIVATE if name.decode() in shown], view
