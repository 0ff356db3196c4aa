"""The tables within views are those of `spotter analyze --format json`, of all ranks or of the one that the view shows; what a view adds
up over ranks is added up here again."""

import collections
import json
import re

import pytest

import views
import watched
from test_numbers import analyses

# What the page makes itself: tests of its parts have their sums.
OWN = {"kernels", "operators_over_ranks", "calls", "longest_gaps", *(f"collectives_of_step_{step}" for step in range(3, 7))}
# What a view has at least.
VIEWS = {"overview": {"device_summary"}, "steps": {"step_breakdown"}, "kernels": {"kernel_launch_stats"}, "idle": {"idle_causes", "idle_time_breakdown"},
         "memory": {"memory_at_peak", "memory_events"}, "distributed": {"collectives", "stragglers"}, "critical-path": {"critical_path", "critical_path_names"}}


def text_of(value, is_real):
    if value is None or value == "":
        return "not known"
    return json.dumps(value) if isinstance(value, bool) else repr(float(value)) if is_real else str(value)


def counted(rows, columns):
    return collections.Counter(tuple(row[column] for column in columns) for row in rows)


def differences(page, jobs, table):
    """Of what is shown to all rows of the table, or to those of one rank, in whatever order."""
    expected = jobs.json("training", table)
    shown = list(watched.shown_rows(page, table)[0].values())
    columns = [column for column in (shown[0] if shown else {}) if expected and column in expected[0]]
    reals = {column for column in columns if any(isinstance(row[column], float) for row in expected)}
    found = counted([{column: repr(float(row[column])) if column in reals and row[column] != "not known" else row[column] for column in columns} for row in shown], columns)
    ranks = sorted({row["rank"] for row in expected if row.get("rank") is not None})
    missing = []
    for rank in [None, *ranks]:
        rows = [row for row in expected if rank is None or row["rank"] == rank]
        if not (left := (counted([{column: text_of(row[column], column in reals) for column in columns} for row in rows], columns) - found)) and len(rows) == len(shown):
            return []
        missing.append((len(rows), list(left.items())[:1]))
    return [f"{table}: {len(shown)} rows of {columns}: {list(found)[:1]}, not {missing[:2]}"]


@pytest.mark.whole
@pytest.mark.parametrize("view", [view for view in views.of("server") if view not in ("tables", "timeline", "diff")])
def test_tables_of_a_view(jobs, open_page, view):
    page = open_page(jobs.server("training"), f"#/{view}?v=1")
    names = page.locator("#view table[data-table]").evaluate_all("(all) => all.map((one) => one.dataset.table)")
    known = set(analyses())
    assert VIEWS.get(view, set()) <= set(names), names
    assert not set(names) - known - OWN
    wrong = [one for name in dict.fromkeys(names) if name in known for one in differences(page, jobs, name)]
    assert not wrong, "\n".join(wrong)


def added(rows, keys, columns):
    sums = collections.defaultdict(lambda: collections.defaultdict(int))
    for row in rows:
        for column in columns:
            if row[column] is not None:
                sums[tuple(row[key] for key in keys)][column] += row[column]
    return sums


@pytest.mark.whole
@pytest.mark.parametrize("ranks", ["", "1-2"])
def test_kernels_and_operators_are_added_up_over_ranks(jobs, open_page, ranks):
    options = ["--ranks", ranks] if ranks else []
    page = open_page(jobs.server("training"), f"#/kernels?v=1&ranks={ranks}")
    all_kernels = jobs.json("training", "kernel_breakdown", *options)
    sums = added(all_kernels, ["kind", "name"], ["sum_ns", "count"])
    extremes = {key: [of(row[column] for row in all_kernels if (row["kind"], row["name"]) == key) for of, column in ((min, "min_ns"), (max, "max_ns"))] for key in sums}
    shown, _ = watched.shown_rows(page, "kernels")
    numbers = ["sum_ns", "count", "min_ns", "max_ns"]
    assert counted(shown.values(), numbers) == collections.Counter(
        tuple(map(str, [of["sum_ns"], of["count"], *extremes[key]])) for key, of in sums.items())
    whole = sum(of["sum_ns"] for of in sums.values())
    for row in shown.values():
        assert float(row["mean_ns"]) == pytest.approx(int(row["sum_ns"]) / int(row["count"]), rel=1e-12)
        assert float(row["share_ratio"]) == pytest.approx(int(row["sum_ns"]) / whole, rel=1e-12)
    watched.show(page, jobs.server("training"), f"#/operators?v=1&ranks={ranks}")
    columns = ["calls", "device_self_ns", "device_total_ns", "host_self_ns", "host_total_ns"]
    shown, count = watched.shown_rows(page, "operators_over_ranks")
    sums = added(jobs.json("training", "operators", *options), ["name"], columns)
    assert count == len(sums) == len(shown) > 20
    assert {row["name"]: {column: row[column] for column in columns} for row in shown.values()} == {
        name: {column: str(of[column]) if column in of else "not known" for column in columns} for (name,), of in sums.items()}


def test_bars_of_the_overview_are_the_ranks_times(jobs, open_page):
    page = open_page(jobs.server("training"), "#/overview?v=1")
    bars = page.locator("section[aria-labelledby=of-ranks] .bars tbody tr")
    times = {f"rank {row['rank']}": row for row in jobs.json("training", "temporal_breakdown")}
    assert bars.count() == len(times) == 4
    for bar in bars.all():
        name = bar.locator("th").inner_text().removesuffix("⚑").strip()
        parts = [int(re.search(r"\((\d+)\)$", title)[1]) for title in bar.locator("svg title").all_text_contents()]
        assert len(parts) > 3 and sum(parts) == sum(times[name][column] for column in ("idle_ns", "compute_ns", "non_compute_ns")), name
        assert bar.locator("td.number").get_attribute("title") == str(sum(parts))


@pytest.mark.whole
@pytest.mark.parametrize(("show", "table"), [("dur_ns", "steps"), ("device_busy_ns", "steps"), ("kernel_ns", "step_breakdown"), ("communication_ns", "step_breakdown")])
def test_cells_of_the_map_of_steps_are_the_steps_times(jobs, open_page, show, table):
    page = open_page(jobs.server("training"), f"#/steps?v=1&show={show}")
    titles = page.locator("table.heat td[title]").evaluate_all("(all) => all.map((one) => one.title)")
    shown = dict(re.fullmatch(r"(rank \d+, step \d+): .* \((\d+)\)", title).groups() for title in titles)
    assert len(shown) == 16
    assert shown == {f"rank {row['rank']}, step {row['number']}": str(row[show]) for row in jobs.json("training", table)}
