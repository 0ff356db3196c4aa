"""Of spotter.hta: two traces side by side, stragglers, memory timelines, execution traces, checks of trace files."""

import gzip
import json
import logging
import pathlib
import re
import sys

import pytest

import spotter

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")

from spotter.hta import _figures  # noqa: E402
from spotter.hta.analyzers import straggler  # noqa: E402
from spotter.hta.analyzers.straggler_analysis import StragglerAnalysis  # noqa: E402
from spotter.hta.common import execution_trace as et_module  # noqa: E402
from spotter.hta.common.trace import Trace  # noqa: E402
from spotter.hta.common.trace_symbol_table import TraceSymbolTable  # noqa: E402
from spotter.hta.memory_analysis import MemoryAnalysis  # noqa: E402
from spotter.hta.trace_diff import DeviceType, LabeledTrace, TraceDiff  # noqa: E402
from spotter.hta.utils.validate_trace import get_argument_spec, get_expected_arguments, validate_trace_format  # noqa: E402

KERNEL = "void vec::add<4, float>(int, float*)"


def span(cat, name, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": args.get("stream", 1), "ts": ts, "dur": dur, "args": args}


def step(number, ts, *more, dur=100):
    return [span("user_annotation", f"ProfilerStep#{number}", ts, dur), *more]


def launched(name, ts, dur, correlation, stream=7):
    """A launch and its kernel, which starts right after it."""
    yield span("cuda_runtime", "cudaLaunchKernel", ts, 2, correlation=correlation)
    yield span("kernel", name, ts + 2, dur, stream=stream, correlation=correlation)


def write(path, events, rank=0, **more):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2}, "traceEvents": events, **more}, file)
    return str(path)


@pytest.fixture
def before(tmp_path):
    for rank in range(2):
        events = step(3, 1000, span("cpu_op", "aten::add", 1010, 20 + rank), *launched(KERNEL, 1012, 5, 1)) + step(
            4, 1100, span("cpu_op", "aten::add", 1110, 10), span("cpu_op", "aten::mul", 1120, 10))  # fmt: skip
        write(tmp_path / "before" / f"rank{rank}.json.gz", events, rank)
    return str(tmp_path / "before")


@pytest.fixture
def after(tmp_path):
    twice = [*launched(KERNEL, 1012, 5, 1), *launched(KERNEL, 1022, 9, 2)]
    events = step(3, 1000, span("cpu_op", "aten::addmm", 1010, 20), *twice) + step(4, 1100)
    write(tmp_path / "after" / "rank0.json.gz", events)
    return str(tmp_path / "after")


def test_a_comparison_has_the_names_of_both(before, after):
    both = TraceDiff.compare_traces(before, after)
    assert both.index.name == "name"
    assert both.index.tolist() == ["ProfilerStep#3", "aten::add", "cudaLaunchKernel", KERNEL, "aten::addmm"]
    assert both.columns.tolist() == ["Control_counts", "Control_total_duration", "Test_counts", "Test_total_duration", "diff_counts",
                                     "diff_duration", "counts_change_categories"]  # fmt: skip
    assert both.loc[KERNEL].tolist() == [1, 5, 2, 14, 1, 9, "+"]
    assert both["counts_change_categories"].tolist() == ["=", "-", "+", "+", "+"]
    assert both["diff_counts"].dtype == "float64"


def test_numbers_stay_integers_where_no_name_is_missing(before):
    both = TraceDiff.compare_traces(before, before, device_type=DeviceType.GPU, use_short_name=True)
    assert both.index.name == "short_name" and both.index.tolist() == ["vec::add"]
    assert both.columns[2] == "Test_counts" and both["diff_counts"].dtype.kind == "i" and both["diff_duration"].dtype.kind == "i"


def test_names_are_sorted_by_what_happened_to_them(before, after):
    assert TraceDiff.ops_diff(before, after) == {
        "added": ["aten::addmm"], "deleted": ["aten::add"], "increased": ["cudaLaunchKernel", KERNEL], "decreased": [],
        "unchanged": ["ProfilerStep#3"],
    }  # fmt: skip
    assert TraceDiff.ops_diff(before, after, control_iteration=4, test_iteration=[4])["deleted"] == ["aten::add", "aten::mul"]


def test_a_trace_compares_with_itself(before):
    one = LabeledTrace("one", trace_dir=before)
    both = TraceDiff.compare_traces(one, one, control_iteration=3, test_iteration=4)
    assert both.columns[0] == "one_counts" and both.columns[2] == "one_control_test_counts" and one.label == "one"
    assert both.loc["aten::mul"].tolist()[4:] == [1, 10, "+"]


def test_labeled_traces(before):
    trace = LabeledTrace(trace_dir=before)
    assert trace.label[0] == "t" and trace.label[1:].isdigit()
    assert trace.ranks() == [0, 1] and trace.iterations() == [3, 4]
    assert trace.extract_ops()["iteration"].unique().tolist() == [3]
    assert [len(trace.extract_ops(1, [3, 4], device)) for device in DeviceType] == [6, 1, 7]
    ops = trace.extract_ops([0, 1])
    assert ops.columns[:3].tolist() == ["rank", "idx", "index"] and ops["rank"].unique().tolist() == [0, 1]
    summary = trace.get_ops_summary(ops).set_index("name")
    assert summary.columns.tolist() == ["cat", "short_name", "counts", "total_duration", "cat_id", "name_id"]
    assert summary.loc["aten::add", ["cat", "counts", "total_duration"]].tolist() == ["cpu_op", 2, 41]


def test_what_is_not_there_is_said(before, tmp_path):
    trace = LabeledTrace("x", trace_dir=before)
    for ask in (lambda: trace.extract_ops(7), lambda: trace.extract_ops(0, 9), lambda: trace.extract_ops("0"), lambda: trace.extract_ops([]),
                LabeledTrace, lambda: LabeledTrace(trace_dir=str(tmp_path / "none")), lambda: TraceDiff.compare_traces(3, trace)):  # fmt: skip
        with pytest.raises(ValueError):
            ask()
    with pytest.raises(ValueError, match="rank=7: the trace has 0, 1"):
        trace.extract_ops(7)


def test_nothing_to_compare(before):
    both = TraceDiff.compare_traces(before, before, control_iteration=[], test_iteration=[])
    assert both.shape == (0, 7)


@pytest.fixture
def figures(monkeypatch):
    """Those that are shown."""
    go = pytest.importorskip("plotly.graph_objects")
    shown = []
    monkeypatch.setattr(go.Figure, "show", lambda figure, *args, **options: shown.append(figure))
    return shown


def test_differences_are_drawn(before, after, figures):
    both = TraceDiff.compare_traces(before, after)
    TraceDiff.visualize_counts_diff(both)
    TraceDiff.visualize_duration_diff(both)
    TraceDiff.visualize_duration_diff(both, show_image=False)
    assert [bar.name for bar in figures[0].data] == ["Control", "Test", "Difference"]
    assert list(figures[1].data[2].y) == both["diff_duration"].tolist() and len(figures) == 2


def test_without_plotly_the_rest_goes_on(before, after, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    monkeypatch.setattr(_figures, "_is_missing_told", False)
    both = TraceDiff.compare_traces(before, after)
    TraceDiff.visualize_counts_diff(both)
    TraceDiff.visualize_counts_diff(both)
    assert caplog.text.count("pip install spotter-trace[hta]") == 1


# --- stragglers


def collectives(starts, *, name="ncclDevKernel_AllReduce", iteration=1, stream=0):
    """Of each rank a kernel of communication, which ends for all at 1000."""
    return [(rank, iteration, name, stream, start, 1000 - start) for rank, start in enumerate(starts)]


def straggler_frame(rows):
    symbols = TraceSymbolTable()
    symbols.add_symbols([row[2] for row in rows])
    frame = pd.DataFrame(rows, columns=["rank", "iteration", "name", "stream", "ts", "dur"])
    return frame.assign(name=frame["name"].map(symbols.get_sym_index())), symbols


def test_who_starts_last_is_late():
    frame, symbols = straggler_frame([*collectives([100, 300, 900, 200]), (0, 1, "gemm", 7, 0, 1000)])
    late = straggler.find_stragglers_with_late_start_comm_kernels(frame, symbols, 1)
    assert late.to_dict() == {0: 0, 1: 0, 2: 1, 3: 0} and late.index.name == "rank" and late.name == "is_straggler"
    assert straggler.find_stragglers_with_late_start_comm_kernels(frame, symbols, 2).to_dict() == {0: 0, 1: 1, 2: 1, 3: 0}


def test_lateness_is_counted_over_steps():
    rows = collectives([100, 900]) + [(r, 2, n, s, ts + 1000, d) for r, _, n, s, ts, d in collectives([800, 300])] + [
        (r, 3, n, s, ts + 2000, d) for r, _, n, s, ts, d in collectives([100, 700])]  # fmt: skip
    late = straggler.find_stragglers_with_late_start_comm_kernels(*straggler_frame(rows), 1)
    assert late.to_dict() == {0: 1, 1: 2}


def test_the_name_that_differs_the_most_decides():
    rows = collectives([500, 510]) + collectives([700, 100], name="ncclKernel_SendRecv")
    late = straggler.find_stragglers_with_late_start_comm_kernels(*straggler_frame(rows), 1)
    assert late.to_dict() == {0: 1, 1: 0}


@pytest.mark.parametrize("rows", [collectives([100]), [(0, 1, "gemm", 7, 0, 10)], []])
def test_with_nothing_to_compare_nobody_is_late(rows, caplog):
    assert straggler.find_stragglers_with_late_start_comm_kernels(*straggler_frame(rows)).empty
    assert "no kernel of NCCL lasts 1 % of a step in two ranks or more" in caplog.text


@pytest.fixture
def late_rank(tmp_path):
    """A job whose rank 1 comes late, with three steps."""
    files = {}
    for rank in range(2):
        events = []
        for number in range(3):
            begin, wait = 1000 * number + 10, 0 if rank == 0 else 700
            kernel = launched("ncclKernel_AllReduce", begin + 20 + wait, 800 - wait, number + 1)
            events += step(number + 5, begin, *kernel, dur=900)
        files[rank] = write(tmp_path / f"late{rank}.json.gz", events, rank)
    trace = Trace(trace_files=files)
    trace.load_traces()
    return trace


def test_stragglers_of_a_job(late_rank):
    assert StragglerAnalysis.get_profiler_steps(late_rank) == [5, 6]
    assert StragglerAnalysis.get_potential_stragglers(late_rank, num_candidates=-1) == [1]
    assert StragglerAnalysis.get_potential_stragglers(late_rank, profiler_steps=[6, 99], num_candidates=5) == [0, 1]
    with pytest.raises(ValueError, match=r"the trace has \[5, 6\]"):
        StragglerAnalysis.get_potential_stragglers(late_rank, profiler_steps=[99])


def test_ones_own_idea_of_lateness(late_rank):
    asked = []

    def idea(events, symbols, count, visualize):
        asked.append((events, symbols, count, visualize))
        return pd.Series({0: 5.0, 1: 2.0})

    assert StragglerAnalysis.get_potential_stragglers(late_rank, [5], straggler_identification_impl=idea) == [0, 1]
    (events, symbols, count, visualize), = asked
    assert events.columns[:2].tolist() == ["rank", "idx"] and events["iteration"].unique().tolist() == [5]
    assert symbols is late_rank.symbol_table and (count, visualize) == (2, False)


def test_when_steps_were(late_rank):
    info = straggler.extract_iteration_info(late_rank)
    assert info.columns.tolist() == ["rank", "iter", "ts", "dur", "end"]
    assert info.iloc[1].tolist() == [0, 6, 1000, 900, 1900] and len(info) == 4


def test_stragglers_are_drawn(late_rank, figures):
    pytest.importorskip("spotter.hta.analyzers.timeline")
    StragglerAnalysis.get_potential_stragglers(late_rank, num_candidates=1, visualize=True)
    assert len(figures) == 3
    assert [list(bar.marker.color) for bar in figures[2].data] == [["blue", "red"]] * 2


# --- memory


def timeline(path, events):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump(events, file)
    return MemoryAnalysis(str(path))


EVENTS = [[-1, 1, 2**30, 0], [10**9, 2, 2**31, 4], [10**9, 4, -(2**30), 0], [2 * 10**9, 4, -(2**31), 4], [2 * 10**9, 2, 8, 7]]


def test_memory_in_use_by_category(tmp_path):
    times, sizes = timeline(tmp_path / "m.raw.json.gz", EVENTS)._process_raw_events()
    assert times == [10**9, 10**9, 2 * 10**9]
    assert sizes == [[2**30, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 2**31, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 8]]


def test_memory_is_drawn(tmp_path, figures, monkeypatch):
    memory = timeline(tmp_path / "m.raw.json.gz", EVENTS)
    assert memory.plot_memory_timeline() is None
    (figure,) = figures
    assert [line.name for line in figure.data] == ["Parameter", "Optimizer state", "Input", "Temporary", "Activation", "Gradient", "Autograd",
                                                   "Unknown"]  # fmt: skip
    assert list(figure.data[0].x) == [0, 0, 1000] and list(figure.data[0].y) == [1, 0, 0] and list(figure.data[5].y)[:2] == [1, 2]
    written = []
    monkeypatch.setattr(type(figure), "write_image", lambda _, path: written.append(path))
    monkeypatch.chdir(tmp_path)
    memory.plot_memory_timeline(save_graph=True)
    assert written == ["images/memory_plot.png"] and (tmp_path / "images").is_dir() and len(figures) == 1


@pytest.mark.parametrize("events", [[], {"a": 1}, [[1, 2, 3]], [[1, 2, 3, 8]], [["x", 1, 2, 3]], [1, 2, 3, 4]])
def test_what_is_no_memory_timeline_is_refused(tmp_path, events):
    with pytest.raises(ValueError, match="m.raw.json.gz"):
        timeline(tmp_path / "m.raw.json.gz", events).plot_memory_timeline()


# --- execution traces


def flat(number, rf_id, name, **more):
    return {"id": number, "rf_id": rf_id, "name": name, "parent": 1, "seq_id": -1, "tid": 1, "op_schema": f"{name}()", "inputs": [[1]],
            "input_shapes": [[2, 3]], "input_types": ["Tensor(float)"], "outputs": [], "output_shapes": [], "output_types": [], **more}  # fmt: skip


def nested(number, rf_id, name):
    none = {"values": [], "shapes": [], "types": []}
    attrs = [{"name": "rf_id", "type": "uint64", "value": rf_id}, {"name": "op_schema", "type": "string", "value": f"{name}()"}]
    return {"id": number, "name": name, "ctrl_deps": 1, "attrs": attrs, "outputs": none,
            "inputs": {"values": [[1]], "shapes": [[2, 3]], "types": ["Tensor(float)"]}}  # fmt: skip


def execution_trace(path, make):
    root = make(2, 99, "[pytorch|profiler|execution_trace|thread]")
    nodes = [root, make(5, 1, "aten::add"), make(7, 2, "aten::mul")]
    with (gzip.open if path.suffix == ".gz" else open)(path, "wt") as file:
        json.dump({"schema": "1.0.1", "nodes": nodes}, file)
    return et_module.load_execution_trace(str(path))


def operators(path, **ids):
    """A trace of two operators and a kernel, whose numbers stand in other arguments in other versions."""
    events = [span("cpu_op", name, 10 * place, 5, **{arg.replace("_", " "): numbers[place] for arg, numbers in ids.items()})
              for place, name in enumerate(["aten::add", "aten::mul"])]  # fmt: skip
    events.append(span("kernel", KERNEL, 50, 5, stream=7, correlation=3, **{arg.replace("_", " "): 2 for arg in ids}))
    trace = Trace(trace_files={0: write(path, events)})
    trace.load_traces()
    return trace


@pytest.mark.parametrize("make, name", [(flat, "et.json"), (nested, "et.json.gz")])
@pytest.mark.parametrize("ids", [{"External_id": [1, 2]}, {"External_id": [2, 3], "Record_function_id": [1, 2]}])
def test_operators_find_their_nodes(tmp_path, make, name, ids):
    et = execution_trace(tmp_path / name, make)
    trace = operators(tmp_path / "trace.json.gz", **ids)
    et_module.correlate_execution_trace(trace, 0, et)
    frame = trace.get_trace(0)
    assert frame["et_node"].dtype == "float64" and frame["et_node"].tolist()[:2] == [5, 7] and np.isnan(frame["et_node"].tolist()[2])
    for column, value in (("op_schema", "aten::mul()"), ("input_shapes", [[2, 3]]), ("input_types", ["Tensor(float)"]), ("output_shapes", []),
                          ("output_types", []), ("et_node_name", "aten::mul")):  # fmt: skip
        et_module.add_et_column(frame, et, column)
        assert frame[column].iloc[1] == value and np.isnan(frame[column].iloc[2])
    with pytest.raises(KeyError, match="scope: there are op_schema"):
        et_module.add_et_column(frame, et, "scope")


def test_another_runs_execution_trace_is_refused(tmp_path, caplog):
    et = execution_trace(tmp_path / "et.json", flat)
    trace = operators(tmp_path / "trace.json.gz", External_id=[1, 1])
    trace.traces[0] = trace.get_trace(0).assign(external_id=1)
    et_module.add_et_column(trace.get_trace(0), et, "op_schema")
    et_module.correlate_execution_trace(trace, 0, et)
    assert not {"et_node", "op_schema"} & set(trace.get_trace(0).columns)
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2
    with pytest.raises(ValueError, match="7"):
        et_module.correlate_execution_trace(trace, 7, et)


def test_nodes_of_other_names_are_reported(tmp_path, caplog):
    trace = operators(tmp_path / "trace.json.gz", External_id=[2, 1])
    et_module.correlate_execution_trace(trace, 0, execution_trace(tmp_path / "et.json", flat))
    assert "only 0 of 2 events have the names of their nodes" in caplog.text


def test_what_is_no_execution_trace_is_refused(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ValueError, match="no execution trace"):
        et_module.load_execution_trace(str(tmp_path / "x.json"))


# --- checks of trace files


def test_arguments_are_checked(tmp_path):
    good = write(tmp_path / "good.json.gz", [span("kernel", "k", 1, 2, stream=7, correlation=1), {"ph": "M", "name": "x"}])
    assert validate_trace_format(good) == (True, {})
    bad = write(tmp_path / "bad.json.gz", [span("kernel", "k", 1, 2, stream="0x0", color="red")] * 2)
    assert validate_trace_format(bad) == (False, {"type_violations": {"stream": "stream: '0x0' is of type str, not Int"}})
    assert validate_trace_format(bad, ignore_missing_arguments=False)[1]["skipped_arguments"] == {"color": 2}
    (tmp_path / "list.json").write_text("[]")
    assert validate_trace_format(str(tmp_path / "list.json")) == (False, {"trace_data_error": "'traceEvents' section not found"})
    is_good, why = validate_trace_format(str(tmp_path / "none.json"))
    assert not is_good and isinstance(why["trace_read_error"], Exception)


def test_levels_of_arguments():
    assert [len(get_argument_spec(level)) for level in ("minimal", "standard")] == [2, 10]
    assert get_argument_spec() == get_argument_spec("standard")
    expected = get_expected_arguments(get_argument_spec("minimal"))
    assert expected.columns.tolist() == ["arg_keys", "arg_value_types", "arg_default_values", "trace_df_column_name"]
    with pytest.raises(KeyError, match="all: there are the levels minimal"):
        get_argument_spec("all")


# --- the page about all this


def test_what_the_page_names_is_there():
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "coming_from_hta.md").read_text(encoding="utf-8")
    functions = set(re.findall(r"\bspotter\.(\w+)\(", text))
    assert len(functions) > 20 and not [name for name in functions if not hasattr(spotter, name)]
    differences = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "hta.md").read_text(encoding="utf-8")
    assert not [number for number in re.findall(r"\bB\d+", text) if f"| {number} |" not in differences]
    TraceAnalysis = pytest.importorskip("spotter.hta.trace_analysis").TraceAnalysis
    calls = re.findall(r"`(\w+)\([^`]*\)`", text.partition("| elsewhere")[0].partition("| HTA's call")[2])
    assert len(calls) > 15 and not [name for name in calls if not hasattr(TraceAnalysis, name)]
