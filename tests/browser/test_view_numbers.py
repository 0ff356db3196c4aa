"""The tables within views are those of `spotter analyze --format json`, of all ranks or of the one that the view shows; what a view adds
up over ranks is added up here again."""

import collections
import json
import re
import urllib.parse

import harness
import pytest

import jobs as jobs_module
import views
import watched
from test_numbers import analyses

# What the page makes itself: tests of its parts have their sums.
OWN = {"kernels", "operators_over_ranks", "module_tree", "calls", "longest_gaps", *(f"collectives_of_step_{step}" for step in range(3, 7))}
# What a view has at least.
VIEWS = {"overview": {"device_summary"}, "steps": {"step_breakdown"}, "operators": {"operators_over_ranks"}, "kernels": {"kernels", "kernel_launch_stats"},
         "modules": {"module_tree"}, "call-tree": {"calls"}, "idle": {"idle_causes", "idle_time_breakdown"},
         "memory": {"memory_at_peak", "memory_events"}, "distributed": {"collectives", "stragglers"}, "critical-path": {"critical_path", "critical_path_names"}}


# [table, whose definition its menu leads to]
DEFINITIONS = """(all) => all.map((one) => [one.querySelector("table").dataset.table,
  one.querySelector("figcaption a")?.getAttribute("href").match(/^#\\/tables\\?.*[?&]table=(\\w+)/)?.[1]])"""


def text_of(value, is_real):
    if value is None or value == "":
        return "not known"
    return json.dumps(value) if isinstance(value, bool) else repr(float(value)) if is_real else str(value)


def counted(rows, columns):
    return collections.Counter(tuple(row[column] for column in columns) for row in rows)


def differences(page, jobs, table, *options, of=None):
    """Of what is shown to all rows of the table that have these values, or to those of one rank, in whatever order."""
    return differing(page, table, [row for row in jobs.json("training", table, *options) if (of or {}).items() <= row.items()])


def differing(page, table, expected):
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
    assert names and VIEWS[view] <= set(names), names
    assert not set(names) - known - OWN
    definitions = page.locator("#view figure.table").evaluate_all(DEFINITIONS)
    assert not [one for one in definitions if one[1] not in known or one[0] in known and one[1] != one[0]], definitions
    wrong = [one for name in dict.fromkeys(names) if name in known for one in differences(page, jobs, name)]
    assert not wrong, "\n".join(wrong)


FILTER = ["--ranks", "1-2", "--steps", "4-5"]


@pytest.mark.whole
@pytest.mark.parametrize("view", ["overview", "steps", "kernels", "distributed", "critical-path", "idle"])
def test_tables_of_a_view_of_some_ranks_and_steps(jobs, open_page, view):
    page = open_page(jobs.server("training"), f"#/{view}?v=1&ranks=1-2&steps=4-5")
    names = page.locator("#view table[data-table]").evaluate_all("(all) => all.map((one) => one.dataset.table)")
    assert VIEWS[view] <= set(names), names
    known = set(analyses())
    wrong = [one for name in dict.fromkeys(names) if name in known for one in differences(page, jobs, name, *FILTER)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.whole
@pytest.mark.parametrize(("fragment", "table", "options", "of"), [
    ("operators?v=1&op=aten::mm", "operator_kernels", [], {"operator": "aten::mm"}),
    ("operators?v=1&op=aten::mm&rank=2", "operator_efficiency", [], {"operator": "aten::mm"}),
    ("kernels?v=1&by=launch", "kernel_groups", ["--by-launch", "1"], {}),
    ("critical-path?v=1&what_if=gemm=0.5", "critical_path", ["--what-if", "gemm=0.5"], {}),
    ("idle?v=1&rank=3", "idle_interval_statistics", [], {"rank": 3}),
    ("memory?v=1&rank=3", "memory_by_operator", [], {"rank": 3}),
])
def test_tables_of_what_is_chosen(jobs, open_page, fragment, table, options, of):
    page = open_page(jobs.server("training"), f"#/{fragment}")
    page.wait_for_selector(f'#view table[data-table="{table}"]')
    assert watched.shown_rows(page, table)[1] > 0
    assert not differences(page, jobs, table, *options, of=of)


@pytest.mark.whole
@pytest.mark.parametrize(("keys", "options"), [("", []), ("&by_function=1&ranks=1-2", ["--by-function", "--ranks", "1-2"])])
def test_of_two_jobs_by_name(jobs, open_page, keys, options):
    place = jobs.server("training", "faster")
    (first, before), (second, after) = [(row["id"], row["title"]) for row in place.ask("v1/jobs", "jobs")]
    page = open_page(place, f"#/diff?v=1&base={first}&job={second}{keys}")
    said = jobs_module.spotter("diff", before, after, *options, "--top", "0", "--format", "json", cwd=jobs.folder)
    # The cell of the change has a bar in it, and its title there.
    expected = [{column: value for column, value in row.items() if column != "change_ns"} for row in harness.Answer(json.loads(said))["trace_diff"]]
    assert not differing(page, "trace_diff", expected)
    for row in page.locator('table[data-table="trace_diff"] tbody tr[aria-rowindex]').all()[:10]:
        change, before, after = [row.locator(f'td[data-column="{column}"] [title], td[data-column="{column}"][title]').get_attribute("title")
                                 for column in ("change_ns", "before_ns", "after_ns")]
        assert int(change) == int(after) - int(before)


def outermost(rows):
    """Those that nothing of their name has called, each by its event."""
    by_event = {row["event"]: row for row in rows}

    def is_within(row):
        above = by_event.get(row["parent"])
        while above is not None and above["name"] != row["name"]:
            above = by_event.get(above["parent"])
        return above is not None
    return [row for row in rows if not is_within(row)]


@pytest.mark.whole
def test_calls_of_a_rank_are_added_up_by_name(jobs, open_page):
    page = open_page(jobs.server("training"), "#/call-tree?v=1&rank=1")
    rows = [row | {"name": re.sub(r"^(ProfilerStep)#\d+$", r"\1", row["name"])} for row in jobs.json("training", "call_tree", "--ranks", "1")]
    calls = collections.Counter(row["name"] for row in rows)
    own, whole = added(rows, ["name"], ["self_ns"]), added(outermost(rows), ["name"], ["dur_ns", "device_ns"])
    shown = {row["name"]: row for row in watched.shown_rows(page, "calls")[0].values()}
    wrong = {name: (shown.get(name), of) for (name,), of in whole.items() if shown.get(name) is None or
             [shown[name][column] for column in ("calls", "host_ns", "host_self_ns", "device_ns")] !=
             [str(value) for value in (calls[name], of["dur_ns"], own[name,]["self_ns"], of["device_ns"])]}
    assert not wrong and len(whole) > 30
    # The rest is what the devices do.
    device = added([row | {"count": 1} for row in jobs.json("training", "spans", "--ranks", "1") if row["side"] == "device"], ["name"], ["dur_ns", "count"])
    rest = set(shown) - set(calls)
    assert rest and {name: (shown[name]["calls"], shown[name]["device_ns"]) for name in rest} == {
        name: (str(device[name,]["count"]), str(device[name,]["dur_ns"])) for name in rest}


def work_of(jobs, rank, kinds):
    """What the devices do, in order of start, but for annotations around it."""
    rows = [row for row in jobs.json("training", "spans", "--ranks", rank) if row["side"] == "device" and row["kind"] in kinds]
    return sorted((row for row in rows if not re.match(r"nccl:", row["name"])), key=lambda row: row["start_ns"])


@pytest.mark.whole
def test_the_longest_gaps_are_where_nothing_runs(jobs, open_page):
    gaps, until = [], None
    for row in work_of(jobs, "3", ("compute", "communication", "memory")):
        if until is not None and row["start_ns"] > until:
            gaps.append((until, row["start_ns"] - until, row["name"]))
        until = max(until or 0, row["start_ns"] + row["dur_ns"])
    page = open_page(jobs.server("training"), "#/idle?v=1&rank=3")
    shown, count = watched.shown_rows(page, "longest_gaps")
    assert count == 50 < len(gaps)
    found = sorted((int(row["start_ns"]), int(row["dur_ns"]), row["next"]) for row in shown.values())
    assert found == sorted(sorted(gaps, key=lambda gap: -gap[1])[:50])


@pytest.mark.whole
def test_collectives_of_a_step_are_those_of_its_ranks(jobs, open_page):
    runs = {}
    for rank in range(4):
        step = next(row for row in jobs.json("training", "steps") if row["rank"] == rank and row["number"] == 4)
        launches = {row["event"]: row["start_ns"] for row in jobs.json("training", "spans", "--ranks", rank) if row["event"] is not None and row["side"] == "host"}
        runs[rank] = [row for row in work_of(jobs, rank, ["communication"]) if 0 <= launches[row["link"]] - step["start_ns"] < step["dur_ns"]]
    expected = []
    for together in zip(*runs.values(), strict=True):
        starts = [row["start_ns"] for row in together]
        expected.append((max(starts) - min(starts), str(starts.index(max(starts))), min(row["dur_ns"] for row in together), 4))
    page = open_page(jobs.server("training"), "#/distributed?v=1&step=4")
    shown, _ = watched.shown_rows(page, "collectives_of_step_4")
    found = sorted((int(row["order"]), (int(row["skew_ns"]), row["last_rank"], int(row["shortest_ns"]), int(row["ranks"]))) for row in shown.values())
    assert [of for _, of in found] == expected != []


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


@pytest.mark.whole
@pytest.mark.parametrize(("rank", "time"), [("", "device"), ("2", "host")])
def test_modules_are_added_up_over_ranks(jobs, open_page, rank, time):
    page = open_page(jobs.server("training"), f"#/modules?v=1&rank={rank}&time={time}")
    closed = page.locator('table.tree button[aria-expanded="false"]')
    while closed.count():
        closed.first.click()
    total, backward = f"{time}_total_ns", f"backward_{time}_ns"
    columns = ["calls", total, f"{time}_self_ns", backward, "operators"]
    rows = [row for row in jobs.json("training", "modules") if rank in ("", str(row["rank"]))]
    sums = {path: of for (path,), of in added(rows, ["path"], columns).items()}
    outermost_paths = {row["path"] for row in rows if row["depth"] == 0}
    whole = sum(sums[path][total] + sums[path][backward] for path in outermost_paths)
    shown = watched.plain_rows(page, "module_tree")
    assert len(shown) == len(sums) > 20 and whole > 0
    assert {row["path"]: {column: row[column] for column in columns} for row in shown} == {
        path: {column: str(of[column]) for column in columns} for path, of in sums.items()}
    assert {row["path"]: row["share"] for row in shown} == {path: f"{of[total] + of[backward]} of {whole} ns" for path, of in sums.items()}


class Callers:
    """Who called what on a rank, by looking at all its spans."""
    def __init__(self, spans):
        self.host = [row for row in spans if row["side"] == "host"]
        self.by_event = {row["event"]: row for row in self.host}
        self.main = next(row["thread"] for row in self.host if row["kind"] == "step")

    def _innermost(self, row, thread, below):
        end = row["start_ns"] + row["dur_ns"]
        around = [one for one in self.host if one["thread"] == thread and one["depth"] < below and one["start_ns"] <= row["start_ns"] and end <= one["start_ns"] + one["dur_ns"]]
        return max(around, key=lambda one: one["depth"], default=None)

    def caller(self, row):
        """The main thread waits for those that run the backward pass."""
        found = self._innermost(row, row["thread"], row["depth"])
        return self._innermost(row, self.main, 1000) if found is None and row["thread"] != self.main else found

    def operator(self, row):
        while row is not None and row["kind"] != "operator":
            row = self.caller(row)
        return "" if row is None else row["name"]

    def line(self, row):
        """The innermost around it; of what a backward operator does that of its forward operator."""
        while row is not None:
            frame = re.fullmatch(r"([^<]\S*)\((\d+)\): (.*)", row["name"])
            if frame:
                return f"{frame[1]}:{frame[2]} in {frame[3]}"
            row = self.by_event[row["link"]] if row["link"] is not None else self.caller(row)
        return "not known"


def origins_shown(page, keys):
    """{its keys' texts: [time, runs]}, and the time of all."""
    rows = watched.plain_rows(page, "origins")
    found, (whole,) = collections.defaultdict(lambda: [0, 0]), {re.fullmatch(r"\d+ of (\d+) ns", row["sum_ns"])[1] for row in rows}
    for row in rows:
        of = found[tuple(row[key] for key in keys)]
        of[0] += int(row["sum_ns"].split()[0])
        of[1] += int(row["runs"])
    return dict(found), int(whole)


@pytest.mark.whole
@pytest.mark.parametrize("part", ["layer_norm_grad_input", "CUDAFunctor_add"])
def test_what_launches_a_kernel_is_what_is_around_its_launches(jobs, open_page, part):
    kernel = max((row for row in jobs.json("training", "kernel_breakdown", "--ranks", "1") if part in row["name"]), key=lambda row: row["sum_ns"])
    spans = jobs.json("training", "spans", "--ranks", "1")
    callers, expected = Callers(spans), collections.defaultdict(lambda: [0, 0])
    for row in spans:
        if row["side"] == "device" and row["name"] == kernel["name"]:
            launch = callers.by_event[row["link"]]
            of = expected[callers.line(launch), callers.operator(launch)]
            of[0] += row["dur_ns"]
            of[1] += 1
    page = open_page(jobs.server("training"), f"#/kernels?v=1&rank=1&kernel={urllib.parse.quote(kernel['name'])}")
    found, whole = origins_shown(page, ["line", "operator"])
    assert found == dict(expected) and "not known" not in {line for line, _ in found}
    assert whole == kernel["sum_ns"] and sum(runs for _, runs in found.values()) == kernel["count"]


@pytest.mark.whole
def test_what_calls_an_operator_is_what_is_around_its_calls(jobs, open_page):
    spans = jobs.json("training", "spans", "--ranks", "1")
    callers, expected = Callers(spans), collections.defaultdict(lambda: [0, 0])
    for row in callers.host:
        if row["kind"] == "operator" and row["name"] == "aten::native_layer_norm_backward":
            of = expected[callers.line(row),]
            of[0] += row["dur_ns"]
            of[1] += 1
    page = open_page(jobs.server("training"), "#/operators?v=1&rank=1&op=aten::native_layer_norm_backward")
    found, whole = origins_shown(page, ["line"])
    assert found == dict(expected) and whole == sum(time for time, _ in found.values()) > 0
