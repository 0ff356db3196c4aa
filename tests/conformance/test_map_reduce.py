"""`spotter map` in parts and `spotter reduce` give what `spotter analyze` gives, to the byte."""

import json
import os
import shutil
import subprocess

import pytest

import harness

WAYS = {
    "report": [],
    "all": ["--format", "json"],
    "operators": ["--table", "operators", "--format", "json"],
    "top": ["--table", "operators", "--top", 3, "--format", "json"],  # read again: the parts have the default
    "on request": ["--table", "timeline", "--format", "json"],        # likewise
    "ranks": ["--ranks", "1-2", "--format", "json"],
    "steps": ["--table", "steps", "--steps", "4-5", "--format", "json"],
    "compat": ["--compat", "hta", "--format", "json"],
    "what if": ["--what-if", "device:rank=1=0.5", "--format", "json"],
    "csv": ["--table", "findings", "--format", "csv"],
}


def run(*words, env=None):
    done = subprocess.run([str(harness.program()), *map(str, words)], capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, **(env or {})})
    return done


def map_all(paths, folder, numbers, count, *options):
    for number in numbers:
        done = run("map", *paths, "--shard", f"{number}/{count}", "-o", folder, *options)
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """Of five ranks, one of which is slow; and the parts of three processes."""
    folder = tmp_path_factory.mktemp("job")
    done = run("simulate", "-o", folder / "traces", "--ranks", 5, "--steps", 4, "--layers", 3, "--fault", "slow-rank:rank=3,factor=1.4")
    assert done.returncode == 0, done.stderr
    map_all([folder / "traces"], folder / "parts", (1, 2, 3), 3)
    return folder


@pytest.mark.parametrize("way", WAYS)
def test_the_answer_is_that_of_one_process(job, way):
    one, parts = run("analyze", job / "traces", *WAYS[way]), run("reduce", job / "parts", *WAYS[way])
    assert one.returncode == parts.returncode == 0, parts.stderr
    assert parts.stdout == one.stdout
    assert one.stdout


@pytest.mark.parametrize("numbers, count", [((0, 1), 2), ((1,), 1), ((1, 2, 3, 4, 5, 6, 7), 7)])
def test_any_number_of_parts_counted_from_0_or_1(job, tmp_path, numbers, count):
    map_all([job / "traces"], tmp_path, numbers, count)
    one, parts = run("analyze", job / "traces", "--format", "json"), run("reduce", tmp_path, "--format", "json")
    assert (parts.returncode, parts.stdout) == (0, one.stdout), parts.stderr


def test_what_map_is_told_reduce_need_not_be(job, tmp_path):
    options = ["--steps", "4-5", "--ranks", "0-2", "--table", "kernel_launches", "--top", 3]
    map_all([job / "traces"], tmp_path / "parts", (1, 2), 2, *options)
    shutil.copytree(job / "traces", tmp_path / "traces")
    ask = ["--table", "operators", "--table", "kernel_launches", "--top", 3, "--format", "json"]
    one = run("analyze", job / "traces", "--steps", "4-5", "--ranks", "0-2", *ask)
    parts = run("reduce", tmp_path / "parts", *ask)
    assert (parts.returncode, parts.stdout, parts.stderr) == (0, one.stdout, "")


def test_of_missing_parts_the_answer_says_so(job, tmp_path):
    shutil.copytree(job / "parts", tmp_path / "parts")
    (tmp_path / "parts" / "part-2-of-3.sptr").unlink()
    done = run("reduce", tmp_path / "parts", "--format", "json")
    assert done.returncode == 3
    note, = [note for note in json.loads(done.stdout)["notes"] if note["kind"] == "missing_parts"]
    assert "part 2 of 3" in note["sentence"] and "1 of the job's files" in note["sentence"], note


def test_traces_that_are_gone_are_named_where_they_are_needed(job, tmp_path):
    shutil.copytree(job / "traces", tmp_path / "traces")
    map_all([tmp_path / "traces"], tmp_path / "parts", (1,), 1)
    shutil.rmtree(tmp_path / "traces")
    assert run("reduce", tmp_path / "parts").returncode == 0
    done = run("reduce", tmp_path / "parts", "--table", "operators", "--top", 3)
    assert done.returncode == 1 and "spotter map" in done.stderr and "operators" in done.stderr, done.stderr


def test_parts_that_are_no_job(job, tmp_path):
    def refused(*folders):
        done = run("reduce", *folders)
        assert done.returncode == 1, done.stdout
        return done.stderr

    assert "spotter map" in refused(tmp_path)
    map_all([job / "traces"], tmp_path / "two", (1,), 2)
    assert "other numbers" in refused(job / "parts", tmp_path / "two")
    map_all([job / "traces"], tmp_path / "other", (1,), 3, "--steps", "4-5")
    assert "other options" in refused(job / "parts" / "part-2-of-3.sptr", tmp_path / "other")
    assert "same files" in refused(job / "parts", job / "parts")
    map_all([harness.FIXTURES / "traces" / "cpu_ddp"], tmp_path / "another", (1,), 3)
    assert "other files" in refused(job / "parts" / "part-2-of-3.sptr", tmp_path / "another")


def test_damaged_parts_are_refused(job, tmp_path):
    whole = (job / "parts" / "part-1-of-3.sptr").read_bytes()
    path = tmp_path / "part-1-of-3.sptr"
    for damaged in (b"", whole[:10], whole[:100], whole[:-1], whole + b"x", whole[:60] + b"\xff" + whole[61:]):
        path.write_bytes(damaged)
        done = run("reduce", tmp_path)
        assert done.returncode == 1 and str(path) in done.stderr, (len(damaged), done.stderr)


@pytest.mark.parametrize("env, name", [
    ({"SLURM_PROCID": "1", "SLURM_NTASKS": "3"}, "part-1-of-3"),
    ({"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "5", "SLURM_ARRAY_TASK_COUNT": "4"}, "part-2-of-4"),
    ({"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_COUNT": "2", "SLURM_PROCID": "1",
      "SLURM_NTASKS": "3"}, "part-4-of-6"),
    ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}, "part-0-of-2"),
    ({}, "part-1-of-1"),
])
def test_a_launcher_says_which_share_it_is(job, tmp_path, env, name):
    done = run("map", job / "traces", "-o", tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert [path.stem for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("share", ["0", "4/3", "-1/3", "a/3", "1/0", "1/"])
def test_shares_that_are_none(job, tmp_path, share):
    done = run("map", job / "traces", "--shard", share, "-o", tmp_path / "out")
    assert done.returncode != 0 and "share" in done.stderr
    assert not (tmp_path / "out").exists()


@harness.needs_shared()
@pytest.mark.parametrize("trace", ["hta/trace_compare", "hta/rank_non_gpu", "tb_plugin", "pytorch_2_13_cpu"])
def test_real_traces(tmp_path, trace):
    root = harness.SHARED / "traces" / trace
    folders = sorted({path.parent for path in root.rglob("*.json*")})
    for i, folder in enumerate(folders[:3]):
        one = run("analyze", folder, "--format", "json")
        map_all([folder], tmp_path / str(i), (1, 2), 2)
        parts = run("reduce", tmp_path / str(i), "--format", "json")
        assert (parts.returncode, parts.stdout) == (one.returncode, one.stdout), parts.stderr[-2000:]
