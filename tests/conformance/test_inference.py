"""Iterations of inference: those that are found against those that `simulate --inference` put in, and the recorded
traces whose iterations docs/inference.md tells."""

import json

import pytest

import harness

# How the job runs, and what must tell its iterations.
HOW = {
    "graphs": ([], "graph launches"),
    "piecewise": (["--cuda-graphs"], "graph launches"),
    "eager": (["--eager"], "kernel sequence"),
    "annotations": (["--annotations"], "engine annotations"),
    "eager annotations": (["--eager", "--annotations"], "engine annotations"),
}
JOBS = {
    "plain": [],
    "all prefill": ["--prefill-every", 1],
    "alternating": ["--prefill-every", 2],
    "one prefill": ["--prefill-every", 1000],
    "tensor parallel": ["--tp", 4],
    "tensor parallel groups": ["--tp", 2, "--prefill-every", 3],
    "uneven": ["--jitter", 50],
    "even": ["--jitter", 0],
    "one layer": ["--layers", 1],
    "stacks": ["--python-stacks"],
    "three iterations": ["--steps", 3],
    "throttled": ["--fault", "throttle:rank=0,from_ms=10,factor=3"],
}
SMALL = {"--ranks": 4, "--steps": 12, "--layers": 3, "--batch": 3, "--prefill-every": 5}


def simulate(folder, *options):
    sizes = [word for option, value in SMALL.items() if option not in options for word in (option, value)]
    done = harness.run("simulate", "--inference", "-o", folder, *sizes, *options)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads((folder / "truth.json").read_text())


def tolerance(truth):
    return 0 if truth["exact"] else 1000  # older eras write whole microseconds


def source_of(options, expected):
    """Where all iterations are prefill and no piece of one is a graph, none launches a graph; where prefill is as
    frequent as decode half of them do."""
    every = options[options.index("--prefill-every") + 1] if "--prefill-every" in options else SMALL["--prefill-every"]
    return "kernel sequence" if expected == "graph launches" and every == 1 else expected


def check(folder, truth, source):
    found = harness.analyze(folder, tables=["iterations", "steps"], top=None)
    assert {row["found_from"] for row in found["iterations"]} == {source}
    steps, by_step = len(truth["steps"]), truth["by_rank_and_step"]
    off = tolerance(truth)
    for rank in range(truth["ranks"]):
        rows = [row for row in found["iterations"] if row["rank"] == rank]
        assert [row["number"] for row in rows] == list(range(steps))
        starts = by_step["start_ns"][rank]
        ends = [start + dur for start, dur in zip(starts, by_step["step_ns"][rank], strict=True)]
        for i, row in enumerate(rows):
            told = truth["iterations"][i]
            end = row["start_ns"] + row["dur_ns"]
            # The same device work, to the nanosecond.
            busy = by_step["device_window_ns"][rank][i] - by_step["idle_ns"][rank][i]
            assert row["device_busy_ns"] == pytest.approx(busy, abs=off * 200)
            if source == "engine annotations":
                assert {key: row[key] for key in told} == told
                assert row["mark"] == "vLLM"
                assert (row["start_ns"], end) == (pytest.approx(starts[i], abs=off), pytest.approx(ends[i], abs=2 * off))
            else:
                assert {row[key] for key in told} == {None}
                # It begins behind the one before it; a Python function may be around it.
                first = ends[i - 1] - 2 * off if i > 0 else starts[0] - 1000
                assert first <= row["start_ns"] <= starts[i] + 100_000
                assert ends[i] - 2 * off <= end
                assert i + 1 == steps or end == rows[i + 1]["start_ns"]
    assert [row["start_ns"] for row in found["steps"]] == [row["start_ns"] for row in found["iterations"]]
    return found


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("how", HOW)
def test_iterations_are_those_of_the_job(tmp_path, how, job):
    options, source = HOW[how]
    if how == "graphs":
        source = source_of(JOBS[job], source)
    check(tmp_path, simulate(tmp_path, *options, *JOBS[job]), source)


@pytest.mark.parametrize("seed", range(2, 8))
@pytest.mark.parametrize("how", HOW)
def test_iterations_of_any_seed(tmp_path, how, seed):
    options, source = HOW[how]
    check(tmp_path, simulate(tmp_path, "--ranks", 1, "--seed", seed, "--prefill-every", seed, *options), source)


@pytest.mark.parametrize("era", ["today", "2024", "2023", "2022", "2021"])
@pytest.mark.parametrize("how", HOW)
def test_iterations_of_any_era(tmp_path, how, era):
    options, source = HOW[how]
    check(tmp_path, simulate(tmp_path, "--ranks", 2, "--tp", 2, "--era", era, *options), source)


def test_the_defaults_are_found(tmp_path):
    done = harness.run("simulate", "--inference", "-o", tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert {i["phase"] for i in truth["iterations"]} == {"prefill", "decode"}
    check(tmp_path, truth, "graph launches")


def test_phases_are_summed_up(tmp_path):
    truth = simulate(tmp_path, "--annotations")
    rows = harness.analyze(tmp_path, tables=["iteration_summary"], top=None)["iteration_summary"]
    assert len(rows) == 2 * truth["ranks"]
    for row in rows:
        mine = [i for i, told in enumerate(truth["iterations"]) if told["phase"] == row["phase"]]
        durations = sorted(truth["by_rank_and_step"]["step_ns"][row["rank"]][i] for i in mine)
        tokens = [sum(truth["iterations"][i][key] for i in mine) for key in ("context_tokens", "generation_tokens")]
        assert (row["iterations"], row["sum_ns"]) == (len(mine), sum(durations))
        assert [row["context_tokens"], row["generation_tokens"]] == tokens
        assert row["mean_ns"] == pytest.approx(sum(durations) / len(durations))
        assert row["p50_ns"] == pytest.approx((durations[(len(durations) - 1) // 2] + durations[len(durations) // 2]) / 2)
        by_step = truth["by_rank_and_step"]
        busy = [by_step["device_window_ns"][row["rank"]][i] - by_step["idle_ns"][row["rank"]][i] for i in mine]
        taken = [max(by_step["step_ns"][row["rank"]][i], busy[k]) for k, i in enumerate(mine)]
        assert row["tokens_per_s"] == pytest.approx(sum(tokens) / sum(taken) * 1e9)


def test_prefill_is_no_finding(tmp_path):
    simulate(tmp_path)
    found = {f["mechanism"] for f in harness.analyze(tmp_path, tables=["findings"], top=None)["findings"]}
    assert not found & {"long_step", "uneven_work", "slow_device", "host_pause"}


def test_a_slow_rank_is_found_without_any_mark(tmp_path):
    simulate(tmp_path, "--tp", 2, "--fault", "slow-rank:rank=3,factor=1.5")
    first = harness.analyze(tmp_path, tables=["findings"], top=None)["findings"][0]
    assert (first["mechanism"], first["ranks"]) == ("slow_device", "3")


def test_one_iteration_alone_can_be_analysed(tmp_path):
    truth = simulate(tmp_path, "--ranks", 1)
    found = harness.analyze(tmp_path, tables=["temporal_breakdown"], top=None, options=["--steps", "3-3"])
    (row,) = found["temporal_breakdown"]
    assert (row["kernel_time_ns"], row["idle_ns"]) == tuple(
        truth["by_rank_and_step"][name][0][3] for name in ("device_window_ns", "idle_ns"))


def test_training_without_marks_has_no_iterations(tmp_path):
    """Its backward pass tells that it is none of inference."""
    done = harness.run("simulate", "-o", tmp_path / "job", "--ranks", 1, "--layers", 2, "--steps", 6, "--no-gzip")
    assert done.returncode == 0
    (path,) = (tmp_path / "job").glob("rank_*.json")
    trace = json.loads(path.read_text())
    trace["traceEvents"] = [e for e in trace["traceEvents"] if "annotation" not in e.get("cat", "")]
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(trace))
    found = harness.analyze(bare, tables=["steps"], top=None)
    assert found["steps"] == []


VLLM = "tracelens/inference/vllm_prefilldecode_piecewise/graph_execution.json.gz"


@harness.needs_shared()
def test_the_recorded_iteration_of_vllm():
    """One iteration was recorded: 9 requests read 8155 tokens, 37 make one each; docs/inference.md tells it."""
    found = harness.analyze(harness.SHARED / "traces" / VLLM, tables=["iterations", "iteration_summary"], top=None)
    (row,) = found["iterations"]
    assert (row["found_from"], row["mark"], row["phase"]) == ("engine annotations", "vLLM", "mixed")
    assert [row[key] for key in ("context_requests", "context_tokens", "generation_requests", "generation_tokens")] == [
        9, 8155, 37, 37]
    # The host only launches it: its device work, the union of whose 423 spans this is, goes on for six times as long.
    assert (row["dur_ns"], row["device_busy_ns"]) == (26_353_441, 156_085_793)
    assert row["tokens_per_s"] == pytest.approx(8192 / 156_085_793e-9)
    (row,) = found["iteration_summary"]
    assert (row["phase"], row["iterations"]) == ("mixed", 1)
    assert row["tokens_per_s"] == pytest.approx(8192 / 156_085_793e-9)
    docs = (harness.ROOT / "docs" / "inference.md").read_text()
    assert "vllm_prefilldecode_piecewise" in docs


@harness.needs_shared()
def test_the_recorded_iterations_on_mtia():
    found = harness.analyze(harness.SHARED / "traces/hta/mtia_inference_trace/mtia_inference_rank_0.json.gz",
                            tables=["iterations", "steps"], top=None)
    assert {(row["found_from"], row["mark"], row["phase"]) for row in found["iterations"]} == {
        ("annotation", "Stage::PyTorchMRSGIFTask::run", None)}
    assert len(found["iterations"]) == len(found["steps"]) == 11
    assert all(row["device_busy_ns"] > 0 for row in found["iterations"])


NO_ITERATIONS = ["hta/trace_file_list", "hta/critical_path/alexnet", "hta/cupti_profiler", "hta/critical_path/end_to_end",
                 "tracelens/b200", "tracelens/torch_compile_triton"]


@harness.needs_shared()
@pytest.mark.parametrize("folder", NO_ITERATIONS)
def test_a_forward_pass_is_no_loop(folder):
    for path in sorted((harness.SHARED / "traces" / folder).rglob("*.json.gz")):
        found = harness.analyze(path, tables=["steps"], top=None)
        assert found["steps"] == [], path


@harness.needs_shared()
def test_without_its_annotation_the_recorded_iteration_is_not_guessed(tmp_path):
    """25 graphs of one iteration are no 25 iterations."""
    trace = json.loads(harness.text_of(harness.SHARED / "traces" / VLLM))
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") != "user_annotation"]
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(trace))
    assert harness.analyze(bare, tables=["steps"], top=None)["steps"] == []


@harness.needs_shared()
def test_the_recorded_iteration_again_and_again_is_found_by_its_graphs(tmp_path):
    """Five times, without annotation: 125 graphs in pieces, and a wait at the beginning of each, as vLLM waits."""
    trace = json.loads(harness.text_of(harness.SHARED / "traces" / VLLM))
    once = [e for e in trace["traceEvents"] if e["ph"] == "X" and e.get("cat") != "user_annotation"]
    events = []
    for i in range(5):
        for event in once:
            args = dict(event.get("args", {}))
            if "correlation" in args:
                args["correlation"] += 100_000 * i
            events.append({**event, "ts": event["ts"] + 400_000 * i, "args": args})
    again = tmp_path / "again.json"
    again.write_text(json.dumps({"traceEvents": events}))
    rows = harness.analyze(again, tables=["iterations"], top=None)["iterations"]
    assert [row["found_from"] for row in rows] == ["graph launches"] * 5
    assert [row["mark"] for row in rows] == ["hipGraphLaunch"] * 5
    assert len({row["device_busy_ns"] for row in rows}) == 1
