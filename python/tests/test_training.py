"""spotter.on_trace_ready, with a profiler that writes what it has, or fails in the middle; tests/e2e/test_python_training.py
has a real one."""

import pathlib
import sys
import types

import pytest

import spotter


class Profiler:
    def __init__(self, source, fails=False):
        self.source, self.fails = source, fails

    def export_chrome_trace(self, path):
        data = self.source.read_bytes()
        pathlib.Path(path).write_bytes(data[: len(data) // 2] if self.fails else data)
        if self.fails:
            raise OSError("the disk is full")


@pytest.fixture
def source(training):
    return sorted(pathlib.Path(training).glob("*.gz"))[0]


def test_each_trace_is_a_file_of_its_rank(source, tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "5")
    handler = spotter.on_trace_ready(tmp_path / "traces")
    handler(Profiler(source))
    handler(Profiler(source))
    files = sorted((tmp_path / "traces").iterdir())
    assert len(files) == 2 and all(".rank5." in file.name and file.name.endswith(".pt.trace.json.gz") for file in files)
    assert files[0].read_bytes() == source.read_bytes()
    assert len(spotter.summary(files[0], progress=False)) == 1


def test_the_rank_is_that_of_torch(source, tmp_path, monkeypatch):
    distributed = types.SimpleNamespace(is_available=lambda: True, is_initialized=lambda: True, get_rank=lambda: 7)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(distributed=distributed))
    spotter.on_trace_ready(tmp_path)(Profiler(source))
    (file,) = tmp_path.iterdir()
    assert ".rank7." in file.name


def test_nothing_is_left_half_written(source, tmp_path, monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(OSError, match="disk is full"):
        spotter.on_trace_ready(tmp_path)(Profiler(source, fails=True))
    assert not list(tmp_path.iterdir())
