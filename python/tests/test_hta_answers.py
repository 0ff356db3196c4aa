"""spotter.hta beside HTA 0.5.0, whose answers are in tests/fixtures/hta (tools/hta record): of every call the type, and of frames index,
columns, kinds of dtypes and digests of each column. What differs is in tests/fixtures/hta/differences.txt, with a reason."""

import inspect
import json
import re
import subprocess
import sys

import hta_jobs
import pytest

pytest.importorskip("pandas")

import hta_questions  # noqa: E402

import spotter.hta  # noqa: E402

FIXTURES = hta_jobs.ROOT / "tests" / "fixtures" / "hta"
THEIRS = json.loads((FIXTURES / "answers.json").read_text())
# HTA's frames have the columns in the order of the first event's members, and counters in none.
UNORDERED = re.compile("frame|cupti")


def listed():
    """{(call, what differs, trace): reason}"""
    found = {}
    for line in (FIXTURES / "differences.txt").read_text().splitlines():
        if not line.startswith("#"):
            call, what, reason, traces = (part.strip() for part in line.split("|"))
            found.update({(call, what, trace): reason for trace in traces.split(", ")})
    return found


def differences(call, theirs, ours):
    """What differs between two answers: (the call or the part of its answer, what)."""
    if "raises" in theirs or "raises" in ours:
        if theirs.get("raises") != ours.get("raises"):
            yield call, f"raises {theirs.get('raises', 'nothing')}, here {ours.get('raises', 'nothing')}"
    elif theirs["type"] != ours["type"]:
        yield call, f"is a {theirs['type']}, here a {ours['type']}"
    elif theirs["type"] == "DataFrame":
        yield from ((call, what) for what in _of_frames(call, theirs, ours))
    elif "of" in theirs:
        if theirs["of"].keys() != ours["of"].keys():
            yield call, f"of {', '.join(sorted(theirs['of']))}, here {', '.join(sorted(ours['of']))}"
        for key in theirs["of"].keys() & ours["of"].keys():
            yield from differences(f"{call}/{key}" if theirs["type"] == "tuple" else call, theirs["of"][key], ours["of"][key])
    elif (float(theirs["is"]) != float(ours["is"])) if theirs["type"] == "number" else theirs != ours:
        yield call, f"is {theirs['is']}, here {ours['is']}"


def _of_frames(call, theirs, ours):
    kinds, own_kinds = theirs["columns"], ours["columns"]
    if UNORDERED.search(call):
        kinds, own_kinds = sorted(kinds), sorted(own_kinds)
    if kinds != own_kinds:
        yield "columns " + ", ".join(sorted({name for name, kind in {tuple(one) for one in kinds} ^ {tuple(one) for one in own_kinds}}))
        return
    if theirs["index"] != ours["index"]:
        yield f"index {theirs['index']}, here {ours['index']}"
    if theirs["rows"] != ours["rows"]:
        yield "rows"
        return
    digests = dict(zip([name for name, _ in theirs["columns"]], theirs["digests"]))
    own = dict(zip([name for name, _ in ours["columns"]], ours["digests"]))
    if wrong := [name for name, _ in theirs["columns"] if digests[name] != own[name]]:
        yield "numbers of " + ", ".join(wrong)


def all_differences(trace):
    spotter.hta.install()
    ours = hta_questions.answers(str(hta_jobs.jobs()[trace]))
    assert ours.keys() == THEIRS[trace].keys()
    return {(*found, trace) for call, theirs in THEIRS[trace].items() for found in differences(call, theirs, ours[call])}


@pytest.mark.parametrize("trace", sorted(THEIRS))
def test_answers_are_htas(trace):
    if not hta_jobs.jobs()[trace].exists():
        pytest.skip(f"no traces in {hta_jobs.SHARED}")
    known = {key for key in listed() if key[2] == trace}
    found = all_differences(trace)
    assert found - known == set(), "differs, and is not listed"
    assert known - found == set(), "is listed, and is equal"


def test_every_difference_has_a_reason():
    reasons = set(listed().values())
    numbers = set(re.findall(r"^\| (B\d+) ", (hta_jobs.ROOT / "docs" / "hta.md").read_text(), re.MULTILINE))
    assert len(numbers) > 20
    for reason in reasons:
        assert reason and set(re.findall(r"\bB\d+\b", reason)) <= numbers, reason


def test_most_answers_are_equal():
    """Of 34 traces and 27 calls."""
    assert len({(call.split("/")[0], trace) for call, what, trace in listed() if not call.endswith("frame")}) < 0.4 * 25 * len(THEIRS)


# Of HTA's public names those that are not there.
MISSING = {"hta.configs.event_args_yaml_parser.main ()": "a development tool of HTA's"}


def test_signatures_are_htas():
    """Names of parameters, their order, kinds and defaults; wrappers call by them."""
    theirs = set((FIXTURES / "signatures.txt").read_text().splitlines())
    done = subprocess.run(
        [sys.executable, hta_jobs.ROOT / "python" / "tests" / "hta_signatures.py", "spotter"], capture_output=True, text=True, check=True
    )
    assert len(theirs) > 400
    assert theirs - set(done.stdout.splitlines()) == set(MISSING)


def test_wrappers_find_visualize():
    """Some call by reflection."""
    from spotter.hta.trace_analysis import TraceAnalysis

    methods = {name: inspect.signature(method) for name, method in inspect.getmembers(TraceAnalysis, inspect.isfunction)}
    assert sum("visualize" in signature.parameters for signature in methods.values()) == 8
    assert "shortern_names" in methods["get_gpu_kernels_with_user_annotations"].parameters
