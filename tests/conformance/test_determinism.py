"""The same bytes give the same answer, whatever the number of threads and however the file is stored."""

import gzip
import json
import shutil
import subprocess

import pytest

import harness

# Every fixture, and traces of each backend and writer that are large enough for several threads to share.
SHARED = ("hta/trace_filter/sampled_rank-1.json.gz", "hta/nccl_parser_config/nccl_data.json.gz",
          "hta/negative_queue_length_values_check/rank0.json.gz", "hta/trace_diff/control/control.json.gz",
          "hta/mtia_inference_trace/mtia_inference_rank_0.json.gz", "tracelens/mi300/resnet_act_checkpoint.json.gz",
          "tracelens/b200/eager_trace.json.gz",
          "tb_plugin/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz")
TRACES = harness.traces([name for name, _ in harness.trace_files()
                         if name.startswith("fixtures/") or name.removeprefix("shared/") in SHARED])


def answers(trace):
    """All tables for the file as it is, or None for a fixture that is no trace."""
    done = harness.run("analyze", trace, "--format", "json", "--top", 0, "--threads", 1)
    return done.stdout if done.returncode == 0 else None


def without_names(output):
    """The output with the file's name taken out of the summary and of the notes' scopes."""
    document = json.loads(output)
    for table in document["tables"]:
        if table["name"] == "summary":
            file = [column["name"] for column in table["columns"]].index("file")
            for row in table["rows"]:
                row[file] = "FILE"
    for note in document["notes"]:
        note["scope"] = "FILE" if note["scope"] else ""
    return document


@pytest.mark.parametrize("trace", TRACES)
@pytest.mark.parametrize("threads", [2, 8])
def test_threads(trace, threads):
    one = answers(trace)
    if one is None:
        pytest.skip("no trace")
    assert harness.analyze_raw(trace, options=("--threads", threads)) == one


def plain(text, path):
    path.write_bytes(text)


def gzipped(text, path):
    path.write_bytes(gzip.compress(text, 1))


def members(text, path):
    """Several gzip members; their borders fall anywhere in the text."""
    cuts = [0, 1, len(text) // 3, len(text) // 3, 2 * len(text) // 3 + 1, len(text)]
    path.write_bytes(b"".join(gzip.compress(text[a:b], 6) for a, b in zip(cuts, cuts[1:])))


def zstandard(text, path):
    if not shutil.which("zstd"):
        pytest.skip("no zstd program")
    subprocess.run(["zstd", "-q", "-o", path], input=text, check=True)


def zstandard_frames(text, path):
    if not shutil.which("zstd"):
        pytest.skip("no zstd program")
    half = len(text) // 2
    path.write_bytes(b"".join(subprocess.run(["zstd", "-q"], input=part, check=True, stdout=subprocess.PIPE).stdout
                              for part in (text[:half], text[half:])))


@pytest.mark.parametrize("trace", TRACES)
@pytest.mark.parametrize("store", [plain, gzipped, members, zstandard, zstandard_frames])
def test_storage(trace, store, tmp_path):
    as_is = answers(trace)
    if as_is is None:
        pytest.skip("no trace")
    path = tmp_path / trace.name  # the same name, whatever the contents: a name may tell the rank
    store(harness.text_of(trace), path)
    for threads in (1, 2):
        got = harness.analyze_raw(path, options=("--threads", threads))
        assert without_names(got) == without_names(as_is)


@pytest.mark.parametrize("trace", TRACES)
@pytest.mark.parametrize("store", [plain, gzipped, zstandard])
def test_standard_input(trace, store, tmp_path):
    """Standard input has no name, so it is compared with a file whose name tells no rank."""
    path = tmp_path / "trace"
    store(harness.text_of(trace), path)
    named = harness.run("analyze", path, "--format", "json")
    if named.returncode != 0:
        pytest.skip("no trace")
    by_path = harness.analyze_raw(path)
    with path.open("rb") as file:
        by_stdin = harness.analyze_raw("-", stdin=file)
    assert without_names(by_stdin) == without_names(by_path)


def test_a_pipe(tmp_path):
    """Standard input that comes in small pieces, not a redirected file."""
    (path,) = TRACES[0].values
    text = harness.text_of(path)
    (tmp_path / "trace").write_bytes(text)
    expected = harness.analyze_raw(tmp_path / "trace")
    with subprocess.Popen([harness.program(), "analyze", "-", "--format", "json", "--top", "0"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for start in range(0, len(text), 1000):
            process.stdin.write(text[start:start + 1000])
            process.stdin.flush()
        process.stdin.close()
        got = process.stdout.read()
    assert process.returncode == 0
    assert without_names(got) == without_names(expected)
