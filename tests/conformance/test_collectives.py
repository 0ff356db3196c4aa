"""The analyses collectives and comm_steps on simulated jobs: what they measure is what the schedule was, to the nanosecond."""

import collections
import json

import pytest

import harness
from test_simulate import JOBS, simulate

OPERATIONS = {"allreduce": "all_reduce", "_allgather_base": "all_gather", "_reduce_scatter_base": "reduce_scatter", "all_to_all": "all_to_all"}
SUMS = ("calls", "time_ns", "transfer_ns", "wait_ns")


def scheduled(truth):
    """{(ranks, operation, size): sums}, without sends and receives."""
    rows = collections.defaultdict(collections.Counter)
    for row in truth["collectives"]:
        if row["name"] in OPERATIONS:
            key = (tuple(row["ranks"]), OPERATIONS[row["name"]], max(row["in_bytes"], row["out_bytes"]))
            rows[key].update({name: row[name] for name in SUMS} | {"sent": row["sent_bytes"] * row["calls"]})
    return rows


def unexpected(notes):
    """Kernels that send and receive at once do not say of which call they are: they are left out, and counted."""
    return [note for note in notes if note["kind"] != "unclear_collectives"]


def measured(folder):
    found = harness.analyze(folder, tables=["collectives"], top=None)
    assert unexpected(found.notes) == []
    return {(tuple(json.loads(row["group_ranks"])), row["operation"], row["size_bytes"]): row for row in found["collectives"]}


@pytest.mark.parametrize("job", JOBS)
def test_collectives_are_those_of_the_schedule(tmp_path, job):
    truth = simulate(tmp_path, *JOBS[job])
    expected = scheduled(truth)
    if not expected:  # no group of two ranks
        assert harness.analyze(tmp_path, tables=["collectives"], top=None)["collectives"] == []
        return
    rows = measured(tmp_path)
    assert set(rows) == set(expected)
    for key, row in rows.items():
        numbers = expected[key]
        assert {name: row[name] for name in SUMS} == {name: numbers[name] for name in SUMS}, key
        assert row["dtype"] == "bfloat16"
        assert row["group_size"] == row["ranks"] == len(key[0])
        assert row["matched_calls"] == row["calls"]
        # The simulator sends whole bytes.
        sent = row["bus_bytes_per_s"] * row["transfer_ns"] / 1e9
        assert sent == pytest.approx(numbers["sent"], abs=row["calls"])
        assert row["algorithm_bytes_per_s"] == pytest.approx(row["bytes"] / row["transfer_ns"] * 1e9)


def skews_of(folder, truth):
    """{(ranks, operation): skews}, from the files' texts."""
    starts = collections.defaultdict(list)
    for name in truth["files"]:
        for event in json.loads(harness.text_of(folder / name), parse_float=str)["traceEvents"]:
            args = event.get("args", {})
            if event.get("cat") == "kernel" and args.get("Collective name") in OPERATIONS:
                whole, fraction = str(event["ts"]).split(".")
                key = (args["Process Group Ranks"], OPERATIONS[args["Collective name"]], args["In msg nelems"], args["Seq"])
                starts[key].append(int(whole) * 1000 + int(fraction))
    skews = collections.defaultdict(list)
    for (ranks, operation, _, _), times in starts.items():
        skews[tuple(json.loads(ranks)), operation].append(max(times) - min(times))
    return skews


@pytest.mark.parametrize("job", ["ddp", "fsdp", "tensor"])
def test_skews_are_those_of_the_starts(tmp_path, job):
    expected = skews_of(tmp_path, simulate(tmp_path, *JOBS[job]))
    found = collections.defaultdict(list)
    for (ranks, operation, _), row in measured(tmp_path).items():
        found[ranks, operation].append(row)
    assert set(found) == set(expected)
    for key, rows in found.items():
        assert max(row["max_skew_ns"] for row in rows) == max(expected[key])
        total = sum(row["mean_skew_ns"] * row["calls"] / row["ranks"] for row in rows)
        assert total == pytest.approx(sum(expected[key]))


@pytest.mark.parametrize("job", JOBS)
def test_steps_are_those_of_the_schedule(tmp_path, job):
    truth = simulate(tmp_path, *JOBS[job])
    by_step = truth["by_rank_and_step"]
    found = harness.analyze(tmp_path, tables=["comm_steps"], top=None)
    assert unexpected(found.notes) == []
    assert len(found["comm_steps"]) == truth["ranks"] * len(truth["steps"])
    for row in found["comm_steps"]:
        true = {name: values[row["rank"]][truth["steps"].index(row["number"])] for name, values in by_step.items()}
        assert (row["start_ns"], row["dur_ns"]) == (true["start_ns"], true["step_ns"])
        assert (row["overlap_ns"], row["exposed_ns"]) == (true["hidden_communication_ns"], true["exposed_communication_ns"])
        assert row["compute_ns"] == true["compute_ns"] - true["hidden_communication_ns"]
        assert row["other_ns"] == row["dur_ns"] - true["compute_ns"] - true["exposed_communication_ns"]
        assert (row["transfer_ns"], row["wait_ns"]) == (true["transfer_ns"], true["wait_ns"])


@pytest.mark.parametrize("fault", ["slow-rank:rank=3,factor=1.4", "slow-link:factor=20", "gc-pause:rank=1", "throttle:rank=1"])
def test_a_fault_is_waiting_or_transfer(tmp_path, fault):
    """A slow rank makes the others wait, a slow link makes all transfer; neither is taken for the other."""
    def sums(folder, *options):
        truth = simulate(folder, *options)
        rows, expected = measured(folder), scheduled(truth)
        for key, row in rows.items():
            assert (row["transfer_ns"], row["wait_ns"]) == (expected[key]["transfer_ns"], expected[key]["wait_ns"])
        return [sum(row[name] for row in rows.values()) for name in ("transfer_ns", "wait_ns")]

    (transfer, wait), (slow_transfer, slow_wait) = sums(tmp_path / "off"), sums(tmp_path / "on", "--fault", fault)
    if fault.startswith("slow-link"):
        assert slow_transfer > 10 * transfer
    else:
        assert slow_transfer == transfer
        assert slow_wait > 2 * wait


@pytest.mark.parametrize("era", ["2024", "2023", "2022", "2021"])
def test_older_writers_tell_as_much_as_they_wrote(tmp_path, era):
    """Groups since 2.4, sizes since 2.2; times are rounded to whole microseconds before 2.4."""
    truth = simulate(tmp_path, "--era", era)
    (expected,) = {key[1] for key in scheduled(truth)}
    rows = harness.analyze(tmp_path, tables=["collectives"], top=None)["collectives"]
    assert {row["operation"] for row in rows} == {expected}
    calls = sum(row["calls"] for row in rows)
    assert calls == sum(row["matched_calls"] for row in rows) == sum(n["calls"] for n in scheduled(truth).values())
    for name in ("time_ns", "transfer_ns", "wait_ns"):
        total = sum(row[name] for row in rows)
        assert total == pytest.approx(sum(n[name] for n in scheduled(truth).values()), abs=0 if truth["exact"] else 2000 * calls)
    has_sizes = era in ("2024", "2023")
    assert all((row["size_bytes"] is not None) == has_sizes and (row["bus_bytes_per_s"] is not None) == has_sizes for row in rows)


def test_groups_that_nothing_tells_apart_are_not_mixed(tmp_path):
    """In 2023 two tensor-parallel groups were one stream's number; that they are of two ranks each is told."""
    simulate(tmp_path, "--era", "2023", "--tp", 2)
    found = harness.analyze(tmp_path, tables=["collectives", "comm_steps"], top=None)
    assert "mixed_groups" in {note["kind"] for note in found.notes}
    assert any(row["transfer_ns"] is None for row in found["collectives"])


def test_of_one_rank_nobody_knows_how_long_it_waited(tmp_path):
    truth = simulate(tmp_path)
    found = harness.analyze(tmp_path / truth["files"][0], tables=["collectives", "comm_steps"], top=None)
    assert {note["kind"] for note in found.notes} == {"one_rank"}
    for row in (*found["collectives"], *found["comm_steps"]):
        assert row["transfer_ns"] is row["wait_ns"] is None
    assert all(row["time_ns"] > 0 and row["size_bytes"] > 0 for row in found["collectives"])


def test_a_rank_that_is_not_there_is_noted(tmp_path):
    simulate(tmp_path)
    found = harness.analyze(tmp_path, tables=["collectives"], top=None, options=["--ranks", "0-2"])
    assert {note["kind"] for note in found.notes} == {"missing_members"}


@pytest.mark.parametrize("path", harness.traces())
def test_parts_add_up(path):
    """To the nanosecond, on every trace."""
    if not harness.is_trace(path):
        pytest.skip("no trace")
    found = harness.analyze(path, tables=["comm_steps", "step_breakdown"], top=None)
    parts = ("compute_ns", "overlap_ns", "exposed_ns", "other_ns")
    for row in found["comm_steps"]:
        assert sum(row[column] or 0 for column in parts) == row["dur_ns"], row
        assert min(row[column] or 0 for column in parts) >= 0, row
    windows = [[(row["number"], row["start_ns"], row["dur_ns"]) for row in found[table]] for table in ("comm_steps", "step_breakdown")]
    assert windows[0] == windows[1]
