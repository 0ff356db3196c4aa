"""spotter.hta beside HTA 0.5.0, whose answers are in tests/fixtures/hta (tools/hta record): types, index, columns and kinds of dtypes
are HTA's in all calls; numbers are wherever docs/hta.md says that they are equal."""

import inspect
import json
import subprocess
import sys

import hta_jobs
import pytest

pytest.importorskip("pandas")

import hta_questions  # noqa: E402

import spotter.hta  # noqa: E402

FIXTURES = hta_jobs.ROOT / "tests" / "fixtures" / "hta"
THEIRS = json.loads((FIXTURES / "answers.json").read_text())

# Where HTA raises, and what answers in its place; B-numbers are those of docs/hta.md.
RAISES = {
    "temporal_breakdown": "B1, B19: no row for such a rank",
    "idle_time_breakdown": "B19: frames without rows",
    "idle_time_breakdown, shown": "B19: frames without rows",
    "aten_op_kernels_and_delay": "B19, B20: the operators that there are",
    "gpu_kernels_with_user_annotations": "B1: rows that last -1 us",
    "frequent_cuda_kernel_sequences": "B1, B17: the sequences that there are",
    "potential_stragglers": "one rank, or no step: there is nobody to compare with",
}
# Other columns, or none.
COLUMNS = {
    ("frequent_cuda_kernel_sequences", "amd_trace"): "B13: HTA finds no sequence",
    ("time_spent_blocked_on_full_queue", "tracelens_torch_compile_triton"): "B5: HTA finds no queue",
    ("memory_bw_summary", "mtia_inference_trace"): "HTA has a summary without rows",
}
# Numbers of which docs/hta.md says that they are equal: to those of HTA 0.6.1, which 0.5.0 has not in all places.
_WAITS = "HTA 0.5.0 counts `Stream Wait Event` as computation"
NUMBERS = {
    **{(f"gpu_kernel_breakdown, all/{part}", f"critical_path_{trace}"): _WAITS for part in (0, 1)
       for trace in ("alexnet", "cuda_event_sync_multi_stream", "simple_add", "simple_add_overlaid")},
    ("gpu_kernel_breakdown, all/0", "df_index_resolver"): "an overlap of 0 us is listed or not, as ties happen to be sorted",
}  # fmt: skip
# Columns of frames that differ, and why.
FRAME = {
    "end": "B2: HTA's does not count from min_ts",
    "bytes": "numbers in quotes, and older spellings of arguments, are read",
    "external_id": "older spellings of arguments are read",
}
# The table of docs/hta.md that says for which traces a call's numbers are equal.
TABLES = {
    "temporal_breakdown": 1, "comm_comp_overlap": 2, "gpu_kernel_breakdown, all/0": 3, "gpu_kernel_breakdown, all/1": 4,
    "gpu_user_annotation_breakdown, host": 6, "gpu_user_annotation_breakdown": 7, "idle_time_breakdown/0": 8,
    "idle_time_breakdown/1": 9, "cuda_kernel_launch_stats": 10, "cuda_kernel_launch_stats, no memory": 11,
}  # fmt: skip


def _equal_in_the_docs():
    """{(table, trace)} of docs/hta.md."""
    found = set()
    for line in (hta_jobs.ROOT / "docs" / "hta.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 17 and cells[0] in THEIRS:
            found |= {(table, cells[0]) for table, cell in enumerate(cells) if cell == "="}
    return found


EQUAL = _equal_in_the_docs()


class Comparison:
    def __init__(self, trace):
        self.trace, self.compared, self.wrong = trace, 0, []

    def of_call(self, call, theirs, ours):
        if "raises" in theirs:
            if "raises" in ours and call not in RAISES or "raises" not in ours and call not in RAISES:
                self.wrong.append(f"{call}: HTA raises {theirs['raises']}; here {ours}")
        elif "raises" in ours:
            self.wrong.append(f"{call}: raises {ours['raises']}")
        elif (call, self.trace) not in COLUMNS:
            self.of_value(call, call, theirs, ours)

    def of_value(self, call, place, theirs, ours):
        if theirs["type"] != ours["type"]:
            self.wrong.append(f"{place}: a {theirs['type']}, and here a {ours['type']}")
        elif theirs["type"] == "DataFrame":
            self.of_frame(call, place, theirs, ours)
        elif "of" in theirs:
            if sorted(theirs["of"]) != sorted(ours["of"]):
                self.wrong.append(f"{place}: of {sorted(theirs['of'])}, and here of {sorted(ours['of'])}")
            for key in theirs["of"].keys() & ours["of"].keys():
                self.of_value(call, f"{place}/{key}" if theirs["type"] == "tuple" else place, theirs["of"][key], ours["of"][key])
        elif call in ("profiler_steps", "facts"):
            self.compared += 1
            if theirs != ours:
                self.wrong.append(f"{place}: {theirs}, and here {ours}")

    def of_frame(self, call, place, theirs, ours):
        kinds, own_kinds = dict(theirs["columns"]), dict(ours["columns"])
        if "frame" in call:
            kinds.pop("bytes", None), own_kinds.pop("bytes", None)
            order = not self.trace.startswith("fixtures/cpu")  # HTA's columns are in the order of the first event's members
        else:
            order = True
        is_random = any("smsp__" in name for name in kinds)  # HTA's columns of counters are in no order
        if kinds != own_kinds or (order and not is_random and list(kinds) != list(own_kinds)):
            self.wrong.append(f"{place}: columns {kinds}, and here {own_kinds}")
        elif theirs["index"] != ours["index"]:
            self.wrong.append(f"{place}: index {theirs['index']}, and here {ours['index']}")
        if "frame" in call or (TABLES.get(place), self.trace) in EQUAL and (place, self.trace) not in NUMBERS:
            self.of_numbers(call, place, theirs, ours)

    def of_numbers(self, call, place, theirs, ours):
        self.compared += 1
        if theirs["rows"] != ours["rows"]:
            self.wrong.append(f"{place}: {theirs['rows']} rows, and here {ours['rows']}")
        own = dict(zip([name for name, _ in ours["columns"]], ours["digests"]))
        for (name, _), digest in zip(theirs["columns"], theirs["digests"]):
            if own.get(name) != digest and not ("frame" in call and name in FRAME):
                self.wrong.append(f"{place}: {name} is {digest}, and here {own.get(name)}")


@pytest.mark.parametrize("trace", sorted(THEIRS))
def test_answers_are_htas(trace, monkeypatch):
    path = hta_jobs.jobs()[trace]
    if not path.exists():
        pytest.skip(f"no traces in {hta_jobs.SHARED}")
    spotter.hta.install()
    ours = hta_questions.answers(str(path))
    comparison = Comparison(trace)
    for call, theirs in THEIRS[trace].items():
        comparison.of_call(call, theirs, ours[call])
    assert not comparison.wrong, "\n".join(comparison.wrong)
    assert comparison.compared >= 4


def test_the_docs_say_where_numbers_are_equal():
    assert len(EQUAL) > 300


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
