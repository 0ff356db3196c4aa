"""The numbers on the page are those of `spotter analyze --format json`, cell by cell."""

import json
import re

import harness
import pytest

import watched


def analyses():
    """The names of all, as the program lists them."""
    listed = harness.run("analyses").stdout.decode()
    return [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2:3].strip()]


def shown_and_said(jobs, page, place, job):
    """For each analysis what differs; and of those that the page does not hold what it says."""
    wrong, said = [], {}
    for name in analyses():
        watched.show(page, place, f"#/tables?v=1&table={name}")
        page.wait_for_selector(f'table[data-table="{name}"], #view [role=alert]', state="attached")
        if (alert := page.locator("#view [role=alert] p")).count():
            said[name] = alert.first.inner_text()
        else:
            wrong += watched.differences(page, name, jobs.json(job, name))
    return wrong, said


def test_of_a_report(jobs, open_page):
    place = jobs.report("training")
    wrong, said = shown_and_said(jobs, open_page(place), place, "training")
    assert not wrong
    assert not [name for name, sentence in said.items() if "spotter " not in sentence], "without a command that shows it"
    assert len(said) < len(analyses()) / 2


@pytest.mark.whole
def test_of_a_server(jobs, open_page):
    place = jobs.server("training")
    wrong, said = shown_and_said(jobs, open_page(place), place, "training")
    assert not wrong and not said


@pytest.mark.parametrize("table,fragment,options", [
    ("operators", "ranks=1-2", ["--ranks", "1-2"]),
    ("steps", "steps=4-5", ["--steps", "4-5"]),
    ("kernel_breakdown", "ranks=0,3&steps=4", ["--ranks", "0,3", "--steps", "4"]),
    ("kernel_breakdown", "top=3", ["--top", "3"]),
])
def test_of_a_server_with_filters(jobs, open_page, table, fragment, options):
    page = open_page(jobs.server("training"), f"#/tables?v=1&table={table}&{fragment}")
    assert not watched.differences(page, table, jobs.json("training", table, *options))


def test_what_is_short_says_what_is_exact(jobs, open_page):
    """Every scaled number has its exact value in a title, in the order of the table that is sorted."""
    page = open_page(jobs.report("training"), "#/tables?v=1&table=kernel_breakdown&sort=-sum_ns")
    rows, _ = watched.shown_rows(page, "kernel_breakdown")
    sums = [int(row["sum_ns"]) for _, row in sorted(rows.items())]
    assert sums == sorted((row["sum_ns"] for row in jobs.json("training", "kernel_breakdown")), reverse=True)
    cell = page.locator('table[data-table="kernel_breakdown"] td[data-column="sum_ns"]').first
    assert cell.inner_text().split()[1] in ("ns", "µs", "ms", "s")
    assert page.locator("table[data-table] th[aria-sort=descending]").inner_text().startswith("sum")


def test_delays_that_overlap_are_not_added_up_beside_times(jobs, open_page):
    page = open_page(jobs.report("training"), "#/kernels?v=1")
    heads = page.locator('table[data-table="kernel_launch_stats"] thead button').evaluate_all("(all) => all.map((each) => each.title)")
    names = [head.split(":")[0] for head in heads]
    assert {"host_ns", "device_ns", "mean_launch_delay_ns", "max_launch_delay_ns"} <= set(names) and "launch_delay_ns" not in names


def test_the_devices_of_a_faulty_rank_lead_to_the_finding(jobs, open_page):
    page = open_page(jobs.report("training"))
    marked = page.locator('table[data-table="device_summary"] td[data-column="finding"] a')
    assert marked.all_inner_texts() == ["▲ fault: slow device"]
    marked.click()
    card = page.locator(".card.picked")
    assert card.get_attribute("data-mechanism") == "slow_device" and card.evaluate("(each) => each === document.activeElement")


def test_steps_that_alternate_are_said_to(jobs, open_page):
    events, at = [], 1000
    for number, length in enumerate([2000, 17000, 2000, 18000]):
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 1, "tid": 1, "ts": at, "dur": length})
        events.append({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at + 10, "dur": length - 20})
        at += length
    jobs.put("alternating", {"rank0.json": json.dumps({"distributedInfo": {"rank": 0}, "traceEvents": events}).encode()})
    page = open_page(jobs.report("alternating"), "#/steps?v=1")
    said = page.locator("#view .answer").inner_text()
    assert said.startswith("Steps alternate between about 2.00 ms and about 17.5 ms."), said
    assert "9.5" not in said and "the median of its kind" in said, said


def test_steps_name_the_rank_at_fault_not_the_longest_step(jobs, open_page):
    page = open_page(jobs.report("training"), "#/steps?v=1")
    fault, odd = page.locator("#view .answer").all_inner_texts()
    assert fault.startswith("⚑ Rank 3 (host node000) computes 50 % longer") and "where the median is" in odd, (fault, odd)


def test_the_peak_of_memory_has_its_step_its_line_and_a_mark(jobs, open_page):
    page = open_page(jobs.report("training"), "#/memory?v=1")
    (peak,) = [row for row in jobs.json("training", "memory_timeline") if row["rank"] == 0]
    (step,) = [row["number"] for row in jobs.json("training", "steps")
               if row["rank"] == 0 and row["start_ns"] <= peak["peak_time_ns"] < row["start_ns"] + row["dur_ns"]]
    answer = page.locator("#view .answer")
    assert f" in step {step}." in answer.inner_text() and "allocated at linear.py:134" in answer.inner_text()
    assert page.locator('table[data-table="memory_at_peak"] td[data-column="source_line"]').filter(has_text="linear.py:134").count() > 0
    answer.locator("a").first.click()
    watched.until_ready(page, "timeline")
    assert page.get_by_label("Text of the mark").input_value().startswith("peak of memory, ")


def test_the_curve_of_memory_leads_to_the_table_that_it_is_drawn_from(jobs, open_page):
    page = open_page(jobs.report("training"), "#/memory?v=1&device=2/CUDA/2")
    page.get_by_role("link", name="Show as table").click()
    watched.until_ready(page, "tables")
    shown = watched.shown_rows(page, "memory_timeline_series")[0]
    expected = [row for row in jobs.json("training", "memory_timeline_series") if row["rank"] == 2]
    assert len(shown) == len(expected) > 50
    assert [[shown[place][name] for name in ("device_id", "time_ns", "allocated_bytes")] for place in sorted(shown)] == [
        ["2", str(row["time_ns"]), str(row["allocated_bytes"])] for row in expected]


def test_memory_of_a_chosen_time_adds_up_to_the_most_in_use_in_it(jobs, open_page):
    start = min(row["start_ns"] for row in jobs.json("training", "spans"))
    series = [(row["time_ns"] - start, row["allocated_bytes"]) for row in jobs.json("training", "memory_timeline_series") if row["rank"] == 0]
    begin, end = (series[len(series) * part // 3][0] for part in (1, 2))
    most = max(size for time, size in series if begin <= time <= end)
    page = open_page(jobs.report("training"), f"#/memory?v=1&device=0/CUDA/0&from={begin}&to={end}")
    said = page.locator("section[aria-labelledby=holders] p").first
    assert said.inner_text().startswith("The most in use between ") and f'title="{most}"' in said.inner_html(), said.inner_html()
    held = watched.shown_rows(page, "memory_held")[0].values()
    assert sum(int(row["bytes"]) for row in held) == most
    page.get_by_role("button", name="Whole recording").click()
    page.locator('table[data-table="memory_at_peak"]').wait_for()


def test_the_timeline_names_the_rank_of_its_lanes_and_leaves_short_gaps_out(jobs, open_page):
    page = open_page(jobs.report("training"), "#/timeline?v=1&open=0", size=(1280, 500))
    above = page.locator(".timeline-heading.above")
    page.get_by_text(re.compile(r"^None of \d+ gaps is as long as 1 % of a step\.$")).wait_for()
    assert above.count() == 0, "its own heading is in sight"
    page.locator(".timeline-lanes").evaluate("(box) => (box.scrollTop = 200)")
    above.wait_for()
    assert above.inner_text() == "rank 0 · node000"
    page.locator(".timeline-lanes").evaluate("(box) => (box.scrollTop = 0)")
    above.wait_for(state="detached")


def test_a_step_that_begins_before_the_first_span_says_why(jobs, open_page):
    events = [{"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 1000, "dur": 9000}]
    for at in (3000, 6000):
        events.append({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at, "dur": 900})
        events.append({"ph": "X", "cat": "user_annotation", "name": "Optimizer.step#SGD.step", "pid": 1, "tid": 1, "ts": at + 1000, "dur": 500})
    jobs.put("by_optimizer", {"rank0.json": json.dumps({"distributedInfo": {"rank": 0}, "traceEvents": events}).encode()})
    page = open_page(jobs.report("by_optimizer"), "#/tables?v=1&table=steps")
    starts = page.locator('td[data-column="start_ns"]')
    assert starts.first.inner_text() == "-0.002000 s"
    assert "before the job's first span" in starts.first.locator("span").get_attribute("title")
    assert starts.last.locator("span").count() == 0
    assert "when the recording began" in page.locator("thead button", has_text="start").get_attribute("title")


def test_nothing_is_said_of_a_curve_that_nobody_points_at(jobs, open_page):
    page = open_page(jobs.report("training"), "#/memory?v=1")
    values = page.locator(".curve .u-legend .u-value").all_inner_texts()
    assert values and not "".join(values).strip()
    page.locator(".curve .u-over").first.hover(position={"x": 300, "y": 50})
    page.wait_for_function("() => [...document.querySelectorAll('.curve .u-legend .u-value')].some((each) => each.textContent.includes('B'))")
