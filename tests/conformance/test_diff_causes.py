"""What `diff` says first of two simulated jobs, and its gates."""

import pytest

import harness
from test_simulate import simulate

JOB = ["--ranks", 4, "--steps", 4, "--layers", 4]
# A fault of the second job: the part of the path that grows, and the mechanism's words.
FAULTS = {
    "slow-rank:rank=2,factor=1.3": ("the work of devices takes", "Rank 2"),
    "slow-link:factor=30": ("transfers take", "link of ranks 0-3"),
    "gc-pause:rank=1,ms=30": ("pauses of hosts take", "The host of rank 1"),
}


def diff(before, after, *options):
    done = harness.run("diff", before, after, *options)
    return done, " ".join(done.stdout.decode().split())


@pytest.mark.parametrize("fault", FAULTS)
def test_the_first_sentences_name_the_cause(tmp_path, fault):
    part, words = FAULTS[fault]
    simulate(tmp_path / "a", *JOB)
    truth = simulate(tmp_path / "b", *JOB, "--fault", fault)
    done, text = diff(tmp_path / "a", tmp_path / "b")
    assert done.returncode == 0
    assert text.startswith("- Steps take "), text[:300]
    first, second, *rest = text.split(" - ")
    effect = truth["faults"][0]["job_effect_total_ns"] / len(truth["steps"]) / 1e6
    told = first.split("take ")[1].split(" (")[0]
    assert told.endswith("ms") and float(told[:-3]) == pytest.approx(effect, rel=0.02)
    assert "longer" in first
    assert second.startswith(f"Of what the job waits for in a step, {part} "), second
    assert any(sentence.startswith("New:") and words in sentence for sentence in rest), rest
    _, back = diff(tmp_path / "b", tmp_path / "a")
    assert "less" in back.split(" - ")[0] and "No longer: " in back


def test_a_job_against_itself_has_no_cause(tmp_path):
    simulate(tmp_path, *JOB)
    _, text = diff(tmp_path, tmp_path)
    assert text.startswith("- Steps take as long: ") and "New:" not in text and "No longer:" not in text


def test_gates_end_with_a_status_of_their_own(tmp_path):
    simulate(tmp_path / "a", *JOB)
    simulate(tmp_path / "b", *JOB, "--fault", "slow-rank:rank=2,factor=1.3")
    a, b = tmp_path / "a", tmp_path / "b"
    assert diff(a, b, "--fail-if", "step>5%")[0].returncode == 6
    assert diff(b, a, "--fail-if", "step>5%")[0].returncode == 0
    assert diff(a, b, "--fail-if", "step>90%", "--fail-if", "device>1us", "--format", "csv")[0].returncode == 6
    missing, _ = diff(a, b, "--fail-if", "memory>5%")
    assert missing.returncode == 1 and b"memory" in missing.stderr
    wrong, _ = diff(a, b, "--fail-if", "stp>5%")
    assert wrong.returncode == 2 and b'did you mean "step"' in wrong.stderr
