"""tools/test: what failed beside builds runs once more when nothing does."""
import importlib.machinery
import importlib.util
import pathlib
import xml.etree.ElementTree as ET

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def tool(tmp_path, monkeypatch):
    loader = importlib.machinery.SourceFileLoader("tool", str(ROOT / "tools" / "test"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tool", loader))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results")
    module.RESULTS.mkdir()
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "failed_lines").symlink_to(ROOT / "tools" / "failed_lines")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return module


def timed(tool, text):
    folder = tool.ROOT / "tests"
    folder.mkdir()
    (folder / "test_some.py").write_text(text)
    return tool.Timed("some", tool.PYTEST, tool.workers, 2, ["tests/test_some.py"], {})


def results(tool):
    found = {}
    for path in sorted(tool.RESULTS.glob("*.xml")):
        for case in ET.parse(path).iter("testcase"):
            found[path.stem, case.get("name")] = "failed" if case.find("failure") is not None else "passed"
    return found


FLAKY = """
import pathlib
import pytest

def test_good():
    pass

@pytest.mark.parametrize("n", ["a-b [c]", "other"])
def test_late(n):
    with open(f"{n}.tried", "a") as file:
        file.write("x")
    assert pathlib.Path(f"{n}.tried").read_text() != "x" or n == "other"
"""


def test_what_fails_beside_a_build_and_not_alone_has_passed(tool, capsys):
    step = timed(tool, FLAKY)
    step.run()
    assert results(tool)["some", "test_late[a-b [c]]"] == "failed"
    step.run_failed_again()
    assert results(tool) == {("some", "test_good"): "passed", ("some", "test_late[other]"): "passed",
                             ("some.again", "test_late[a-b [c]]"): "passed"}
    assert "once more, with nothing beside: tests/test_some.py::test_late[a-b [c]]" in capsys.readouterr().out
    assert (tool.ROOT / "other.tried").read_text() == "x"


def test_what_fails_twice_has_failed(tool):
    step = timed(tool, "def test_bad():\n    assert False\n")
    step.run()
    step.run_failed_again()
    assert results(tool) == {("some.again", "test_bad"): "failed"}


def test_many_failures_are_no_accident(tool):
    step = timed(tool, FLAKY.replace('["a-b [c]", "other"]', "range(9)"))
    step.run()
    step.run_failed_again()
    assert list(results(tool).values()).count("failed") == 9 and not list(tool.RESULTS.glob("some.again*"))


def test_nothing_failed(tool):
    step = timed(tool, "def test_good():\n    pass\n")
    step.run()
    step.run_failed_again()
    assert results(tool) == {("some", "test_good"): "passed"}
