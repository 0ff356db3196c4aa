"""What-ifs on the replay of simulated jobs, held against the same job simulated in that other world."""

import pytest

import harness
from test_simulate import simulate

EIGHT = ["--ranks", 8, "--steps", 6, "--layers", 12]
TENSOR = [*EIGHT, "--tp", 2]
# A fault, what takes it away, and the job's layout.
WORLDS = {
    "slow-rank:rank=3,factor=1.2": (["device:rank=3=peer"], EIGHT),
    "slow-rank:rank=5,factor=1.3": (["device:rank=5=peer"], [*EIGHT, "--pp", 2, "--micro-batches", 8]),
    "slow-rank:rank=all,factor=2": (["device:all=0.5"], EIGHT),
    "slow-link:factor=20": (["transfer:all=0.05"], EIGHT),
    "slow-link:group=tensor,index=1,factor=20": (["transfer:group=[2, 3]=peer"], TENSOR),
    "slow-link:group=data,factor=20": (["transfer:group=mesh_dp=0.05"], TENSOR),
    "gc-pause:rank=1": (["pause:rank=1=0"], EIGHT),
    "data-loader-stall": (["pause:all=0"], EIGHT),
}


def what_if(folder, *questions):
    words = [word for question in questions for word in ("--what-if", question)]
    return harness.analyze(folder, tables=[], options=words, top=None)["what_if"]


@pytest.mark.parametrize("fault", WORLDS)
def test_the_other_world_is_the_job_without_the_fault(tmp_path, fault):
    questions, layout = WORLDS[fault]
    truth = simulate(tmp_path, *layout, "--fault", fault)
    rows = what_if(tmp_path, *questions)
    mean, steps = rows[0], rows[1:]
    count = len(truth["steps"])
    assert (mean["of"], mean["number"], len(steps)) == ("mean", None, count)
    effect = truth["faults"][0]["job_effect_total_ns"] / count
    measured = sum(truth["job"]["step_ns"]) / count
    assert mean["replayed_ns"] == pytest.approx(mean["measured_ns"], rel=0.001)
    assert mean["what_if_ns"] == pytest.approx(measured - effect, rel=0.01)
    for column in ("measured_ns", "replayed_ns", "what_if_ns"):
        assert mean[column] == sum(row[column] for row in steps) // count
    for row in rows:
        assert row["gain_ns"] == row["replayed_ns"] - row["what_if_ns"]


def test_two_questions_are_one_world(tmp_path):
    """Faults that cover each other: each alone gains less than both."""
    faults = ["slow-rank:rank=3,factor=1.2", "gc-pause:rank=5,ms=30"]
    truth = simulate(tmp_path, *EIGHT, *[word for fault in faults for word in ("--fault", fault)])
    both = what_if(tmp_path, "device:rank=3=peer", "pause:rank=5=0")[0]
    alone = [what_if(tmp_path, question)[0] for question in ("device:rank=3=peer", "pause:rank=5=0")]
    healthy = sum(truth["job"]["step_without_faults_ns"])
    assert both["what_if_ns"] == pytest.approx(healthy / len(truth["steps"]), rel=0.01)
    assert both["gain_ns"] > max(row["gain_ns"] for row in alone)


def test_a_launch_bound_host_twice_as_fast(tmp_path):
    """Where the host alone holds the job up, half of its time is half of the step."""
    simulate(tmp_path, "--ranks", 2, "--steps", 5, "--layers", 4, "--fault", "launch-bound:pieces=256")
    mean = what_if(tmp_path, "host:all=0.5", "device:all=0", "transfer:all=0")[0]
    still = what_if(tmp_path, "device:all=0", "transfer:all=0")[0]
    assert mean["what_if_ns"] == pytest.approx(still["what_if_ns"] / 2, rel=0.01)


def test_one_rank_without_steps_is_told_what_can_be(tmp_path):
    simulate(tmp_path, "--ranks", 1, "--steps", 3, "--layers", 2)
    done = harness.run("analyze", tmp_path, "--what-if", "device:all=peer")
    text = " ".join(done.stdout.decode().split())
    assert "no rank that is meant has a peer of its role" in text and "as it does" in text


def test_the_critical_path_of_a_job_adds_up_to_its_steps(tmp_path):
    simulate(tmp_path, "--ranks", 8, "--steps", 3, "--tp", 2, "--pp", 2, "--fault", "slow-rank:rank=3,factor=1.4")
    steps = {row["number"]: row["replayed_ns"] for row in what_if(tmp_path, "device:all=1")[1:]}
    path = harness.analyze(tmp_path, tables=["job_critical_path"], top=None)["job_critical_path"]
    assert path[0]["start_ns"] is not None
    sums, end = {}, None
    for row in path:
        sums[row["step"]] = sums.get(row["step"], 0) + row["dur_ns"]
        assert end is None or row["start_ns"] == end, "without gaps"
        end = row["start_ns"] + row["dur_ns"]
    assert sums == steps
    on_device = {rank: sum(row["dur_ns"] for row in path if row["rank"] == rank and row["kind"] == "device") for rank in range(8)}
    assert on_device[3] > max(on_device[rank] for rank in (0, 1, 2)), "of its stage the slow rank's device holds the job up"


def test_a_table_that_answers_are_made_from_can_be_asked_for_beside_them(tmp_path):
    simulate(tmp_path, "--ranks", 2, "--steps", 2, "--layers", 2)
    alone = harness.analyze(tmp_path, tables=["skeleton"], top=None)["skeleton"]
    for options in (["--what-if", "device:all=0"], ["--table", "findings"]):
        assert harness.analyze(tmp_path, tables=["skeleton"], options=options, top=None)["skeleton"] == alone


def test_errors_name_what_there_is(tmp_path):
    simulate(tmp_path, "--ranks", 4, "--tp", 2, "--steps", 2, "--layers", 2)

    def error(question):
        done = harness.run("analyze", tmp_path, "--what-if", question)
        assert done.returncode != 0
        return done.stderr.decode()

    assert "it has ranks 0-3" in error("device:rank=7=peer")
    assert 'did you mean "mesh_dp"' in error("transfer:group=mesh_pd=0")
    assert 'did you mean "device"' in error("devise:rank=1=peer")
    assert "neither peer nor a factor" in error("pause:all=none")
