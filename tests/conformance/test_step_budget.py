"""What bounds each step: adds up on every trace, never says more than step_breakdown or less than the critical path, and is
what the schedule of a simulated job says."""

import json

import pytest

import harness

PARTS = ["kernel_ns", "copy_ns", "set_ns", "communication_ns", "runtime_ns", "data_loader_ns", "host_ns", "other_ns"]
DEVICE = PARTS[:3]
TABLES = ["step_budget", "step_breakdown", "steps", "critical_path", "critical_path_edges"]


def answer_of(*paths, tables=TABLES):
    done = harness.run("analyze", *paths, "--format", "json", *[word for table in tables for word in ("--table", table)])
    assert done.returncode == 0, done.stderr
    return harness.Answer(json.loads(done.stdout))


def parts(row):
    return [row[part] or 0 for part in PARTS]


def check_sums(row):
    assert sum(parts(row)) == row["dur_ns"]
    assert all(time >= 0 for time in parts(row))
    assert 0 <= row["latency_ns"] <= row["other_ns"]
    assert len({row[part] is None for part in DEVICE}) == 1


def of(rows, what):
    return [row for row in rows if row["of"] == what]


@pytest.mark.parametrize("path", harness.traces())
def test_parts_add_up(path):
    if not harness.is_trace(path):
        pytest.skip("no trace")
    answer = answer_of(path)
    budget, breakdown = of(answer["step_budget"], "rank"), answer["step_breakdown"]
    assert len(budget) == len(breakdown)
    for row, divided in zip(budget, breakdown, strict=True):
        check_sums(row)
        for column in ("rank", "number", "start_ns", "dur_ns"):
            assert row[column] == divided[column]
        for part in DEVICE:
            assert (row[part] is None) == (divided[part] is None)
        # What bounds a moment is so at that moment, and step_breakdown takes the first that is.
        bounds, there_is = parts(row), parts(divided)
        for i in range(len(PARTS)):
            assert sum(bounds[: i + 1]) <= sum(there_is[: i + 1]), PARTS[i]
    # A job of one rank is that rank.
    job = of(answer["step_budget"], "job")
    for row in job:
        check_sums(row)
    by_end = sorted(budget, key=lambda row: row["start_ns"] + row["dur_ns"])
    assert [row | {"of": "rank"} for row in job] == (by_end if budget and budget[0]["rank"] is not None else [])


@pytest.mark.parametrize("path", harness.traces())
def test_the_device_is_on_the_path_as_long_as_critical_path_says(path):
    if not harness.is_trace(path):
        pytest.skip("no trace")
    answer = answer_of(path)
    if not answer["steps"]:
        pytest.skip("no marks of steps: windows differ")
    pieces = {}
    for piece in answer["critical_path_edges"]:
        pieces.setdefault(piece["step"], []).append(piece)
    compared = 0
    for row in of(answer["step_budget"], "rank"):
        start, end = row["start_ns"], row["start_ns"] + row["dur_ns"]
        path_of_step = pieces.get(row["number"], [])
        # Their windows may end at different times, and numbers of steps may repeat.
        if not path_of_step or path_of_step[-1]["start_ns"] + path_of_step[-1]["dur_ns"] != end:
            continue
        if len([step for step in answer["critical_path"] if step["step"] == row["number"]]) > 1:
            continue

        def within(*bounds):
            return sum(max(0, min(end, p["start_ns"] + p["dur_ns"]) - max(start, p["start_ns"])) for p in path_of_step if p["bound_by"] in bounds)

        compared += 1
        assert (row["kernel_ns"] or 0) == within("compute")
        assert (row["copy_ns"] or 0) + (row["set_ns"] or 0) == within("memory")
        assert row["communication_ns"] >= within("communication")
        assert row["data_loader_ns"] <= within("data loading")
        assert row["latency_ns"] >= within("kernel gaps")
        assert row["latency_ns"] <= within("kernel gaps", "launches")
    if compared == 0:
        pytest.skip("no step with one window")


def simulate(folder, *options):
    done = harness.run("simulate", "-o", folder, "--steps", "3", "--layers", "4", "--jitter", "0", *options)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads((folder / "truth.json").read_text())


def schedule(truth):
    """{(rank, step): numbers}"""
    table = truth["by_rank_and_step"]
    return {(rank, step): {name: values[rank][i] for name, values in table.items()}
            for rank in range(truth["ranks"]) for i, step in enumerate(truth["steps"])}


JOBS = {
    "one rank": ["--ranks", "1"],
    "four ranks": ["--ranks", "4"],
    "sharded": ["--ranks", "4", "--sharding", "fsdp"],
    "a slow rank": ["--ranks", "4", "--fault", "slow-rank:rank=2"],
    "unoverlapped": ["--ranks", "4", "--fault", "unoverlapped-communication"],
    "launch-bound": ["--ranks", "2", "--fault", "launch-bound"],
    "a stalled loader": ["--ranks", "4", "--fault", "data-loader-stall:rank=1,ms=70"],
}


@pytest.mark.parametrize("options", JOBS.values(), ids=JOBS)
def test_the_jobs_steps_are_the_schedules(options, tmp_path):
    truth = simulate(tmp_path, *options)
    rows = answer_of(tmp_path, tables=["step_budget"])["step_budget"]
    told = schedule(truth)
    by_rank = {(row["rank"], row["number"]): row for row in of(rows, "rank")}
    assert by_rank.keys() == told.keys()
    for row in rows:
        check_sums(row)
    ends = {key: step["start_ns"] + step["step_ns"] for key, step in told.items()}
    before = 0
    for row, number in zip(of(rows, "job"), truth["steps"], strict=True):
        of_step = {rank: ends[rank, number] for rank in range(truth["ranks"])}
        start = max(before, min(told[rank, number]["start_ns"] for rank in of_step))
        last = max(of_step.values())
        assert (row["number"], row["start_ns"], row["dur_ns"]) == (number, start, last - start)
        assert of_step[row["rank"]] == last and all(end < last for rank, end in of_step.items() if rank < row["rank"])
        before = last


def test_a_busy_device(tmp_path):
    truth = simulate(tmp_path, "--ranks", "1")
    for row in answer_of(tmp_path, tables=["step_budget"])["step_budget"]:
        step = schedule(truth)[row["rank"], row["number"]]
        assert row["dur_ns"] == step["step_ns"]
        assert row["kernel_ns"] == step["compute_ns"]


def test_communication_that_nothing_hides(tmp_path):
    truth = simulate(tmp_path, "--ranks", "4", "--fault", "unoverlapped-communication")
    for row in of(answer_of(tmp_path, tables=["step_budget"])["step_budget"], "rank"):
        step = schedule(truth)[row["rank"], row["number"]]
        assert row["kernel_ns"] == step["compute_ns"]
        assert row["communication_ns"] == step["communication_ns"] == step["exposed_communication_ns"]


def test_a_stalled_data_loader(tmp_path):
    def loading(name, *options):
        simulate(tmp_path / name, "--ranks", "4", *options)
        rows = answer_of(tmp_path / name, tables=["step_budget"])["step_budget"]
        return {(row["of"], row["rank"], row["number"]): row["data_loader_ns"] for row in rows if row["of"] == "job" or row["rank"] == 1}

    plain, stalled = loading("plain"), loading("stalled", "--fault", "data-loader-stall:rank=all,ms=70")
    assert plain.keys() == stalled.keys()
    for key, time in plain.items():
        assert stalled[key] - time == 70_000_000


@pytest.mark.parametrize("path", harness.traces())
def test_windows_of_chosen_steps_are_those_of_all(path):
    """Also of the first of them, whose step before is not there."""
    if not harness.is_trace(path):
        pytest.skip("no trace")
    answer = answer_of(path, tables=["steps", "step_breakdown"])
    numbers = [step["number"] for step in answer["steps"]]
    later = [row for row in answer["step_breakdown"][1:] if numbers.count(row["number"]) == 1]
    if not answer["steps"] or not later:
        pytest.skip("no step with one before it")
    for row in later:
        done = harness.run("analyze", path, "--steps", row["number"], "--table", "step_breakdown", "--format", "json")
        assert done.returncode == 0, done.stderr
        [chosen] = harness.Answer(json.loads(done.stdout))["step_breakdown"]
        assert [chosen[column] for column in ("number", "start_ns", "dur_ns")] == [row[column] for column in ("number", "start_ns", "dur_ns")]
