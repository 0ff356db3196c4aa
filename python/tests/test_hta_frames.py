"""Frames of spotter.hta: made when they are asked for, the user's from then on, and what the analyses make of what users do."""

import concurrent.futures
import gzip
import json
import logging
import pathlib
import pickle
import sys
import warnings

import pytest

pd = pytest.importorskip("pandas")
np = pytest.importorskip("numpy")

import conftest  # noqa: E402
import spotter  # noqa: E402
import spotter.hta  # noqa: E402
from spotter.hta.analyzers.communication_analysis import CommunicationAnalysis  # noqa: E402
from spotter.hta.common.trace import Trace  # noqa: E402
from spotter.hta.configs.parser_config import AVAILABLE_ARGS, ParserConfig  # noqa: E402
from spotter.hta.trace_analysis import TimeSeriesTypes, TraceAnalysis  # noqa: E402

QUIET = {"visualize": False}


@pytest.fixture
def analysis(training):
    return TraceAnalysis(trace_dir=training)


@pytest.fixture
def made(tmp_path):
    """Writes events as a trace, and opens it."""

    def make(*events, **settings):
        path = tmp_path / "rank0.json.gz"
        with gzip.open(path, "wt") as file:
            json.dump({"schemaVersion": 1, "distributedInfo": {"rank": 0}, "traceEvents": list(events)}, file)
        trace = Trace({0: str(path)}, "", **settings)
        trace.load_traces()
        return trace

    return make


def span(ts, dur, cat="cpu_op", name="aten::add", tid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": tid, "ts": ts, "dur": dur, "args": args}


def device(ts, dur, correlation, name="kernel", stream=7, cat="kernel"):
    return span(ts, dur, cat, name, stream, stream=stream, correlation=correlation, device=0)


def test_files_are_read_when_they_are_asked_for(analysis):
    assert analysis.t.get_ranks() == [0, 1] and len(analysis.t.traces) == 2 and 1 in analysis.t.traces
    assert isinstance(analysis.t.traces, dict) and analysis.t.traces.held(0) is None
    analysis.get_temporal_breakdown(**QUIET)
    assert analysis.t.traces.held(0) is None  # sums need no frame
    frame = analysis.t.get_trace(1)
    assert frame is analysis.t.traces[1] and analysis.t.traces.held(0) is None
    assert {rank: len(frame) for rank, frame in analysis.t.traces.items()} == {rank: len(dict(analysis.t.traces)[rank]) for rank in (0, 1)}
    assert analysis.t.meta_data[0]["distributedInfo"]["rank"] == 0


def test_rows_are_events_of_the_file(analysis):
    frame = analysis.t.get_trace(0)
    events = analysis.t.get_raw_trace_for_one_rank(0)["traceEvents"]
    names = analysis.t.symbol_table.get_sym_table()
    for place, row in frame.sample(50, random_state=1).iterrows():
        event = events[place]
        assert (names[row["name"]], names[row["cat"]], row["index"]) == (event["name"], event["cat"], place)
        assert row["correlation"] == event.get("args", {}).get("correlation", -1)
        assert abs(row["ts"] + analysis.t.min_ts - event["ts"]) <= 1 and abs(row["dur"] - event["dur"]) <= 2


def test_links_and_steps(made):
    trace = made(
        span(0, 100, "user_annotation", "ProfilerStep#3"),
        span(10, 5, "cuda_runtime", "cudaLaunchKernel", correlation=1),
        device(50, 30, 1), device(90, 5, 1), device(95, 5, 9),
        span(200, 5),
    )  # fmt: skip
    frame = trace.get_trace(0)
    assert frame["index_correlation"].tolist() == [-1, 3, 1, 1, 0, -1]
    assert frame["iteration"].tolist() == [3, 3, 3, 3, -1, -1]
    assert frame["end"].tolist() == (frame["ts"] + frame["dur"]).tolist()
    assert trace.get_iterations() == [3] and trace.get_trace_duration() == 200


def test_the_last_step_is_left_out_or_not(made):
    events = [
        span(0, 100, "user_annotation", "ProfilerStep#1"), span(100, 100, "user_annotation", "ProfilerStep#2"),
        span(10, 5, "cuda_runtime", "cudaLaunchKernel", correlation=1), device(150, 20, 1),
        span(110, 5, "cuda_runtime", "cudaLaunchKernel", correlation=2), device(170, 20, 2), device(20, 5, 3),
    ]  # fmt: skip
    trace = made(*events)
    assert trace.get_trace(0).index.tolist() == [3, 0, 2]  # what the device does comes first
    assert CommunicationAnalysis.get_comm_comp_overlap(trace, False)["rank"].tolist() == [0]
    both = TraceAnalysis(trace.trace_files, "", include_last_profiler_step=True)
    assert sorted(both.t.get_trace(0).index) == [0, 1, 2, 3, 4, 5]
    times = [TraceAnalysis(trace.trace_files, "", include_last_profiler_step=last).get_temporal_breakdown(**QUIET)["kernel_time(us)"][0]
             for last in (False, True)]  # fmt: skip
    assert times == [20, 40]


def test_fractions_are_rounded_unless_the_environment_says_no(made, monkeypatch):
    events = [span(10.25, 2.5), span(20, 0.25)]
    frame = made(*events).get_trace(0)
    assert frame["ts"].tolist() == [0, 9] and frame["dur"].tolist() == [1, 0]
    assert list(frame.columns).index("end") == list(frame.columns).index("dur") + 1
    monkeypatch.setenv("HTA_DISABLE_NS_ROUNDING", "1")
    trace = made(*events)
    begin = trace.min_ts  # from the file, before there is a frame
    exact = trace.get_trace(0)
    assert exact["dur"].tolist() == [2.5, 0.25] and exact["ts"].tolist() == [0, 9.75] and begin == trace.min_ts == 10.25


def test_a_file_may_be_of_several_ranks(training):
    path = f"{training}/rank0.json.gz"
    t = TraceAnalysis({5: path, 2: path}, "")
    rows = t.get_temporal_breakdown(**QUIET)
    assert rows["rank"].tolist() == [2, 5] and rows.drop(columns="rank").nunique().eq(1).all()


def test_dropped_rows_are_honoured(analysis):
    before = analysis.get_gpu_kernel_breakdown(**QUIET, num_kernels=10**6)[1]
    frame, symbols = analysis.t.get_trace(0), analysis.t.symbol_table
    name = before[before["rank"] == 0]["name"].iloc[0]
    analysis.t.traces[0] = frame[frame["name"] != symbols.get_sym_id_map()[name]]
    after = analysis.get_gpu_kernel_breakdown(**QUIET, num_kernels=10**6)[1]
    gone = before[(before["rank"] == 0) & (before["name"] == name)]
    assert len(gone) == 1
    pd.testing.assert_frame_equal(before.drop(gone.index).reset_index(drop=True), after)


def test_rows_may_be_dropped_in_place_and_traces_replaced(analysis):
    whole = analysis.get_cuda_kernel_launch_stats(**QUIET)[0]
    frame = analysis.t.get_trace(0)
    rows = frame[frame["correlation"] == whole["correlation"][0]].index
    with warnings.catch_warnings():  # pandas 3 would rather not have it
        warnings.simplefilter("ignore")
        frame.drop(rows, inplace=True)
    assert len(analysis.get_cuda_kernel_launch_stats(**QUIET)[0]) == len(whole) - 1
    analysis.t.traces = {0: frame}
    assert analysis.get_comm_comp_overlap(**QUIET)["rank"].tolist() == [0]


def test_columns_may_be_added(analysis):
    before = analysis.get_temporal_breakdown(**QUIET)
    analysis.t.decode_symbol_ids()
    analysis.t.get_trace(0)["mine"] = 1
    assert analysis.t.get_trace(1)["s_name"].str.len().gt(0).all()
    pd.testing.assert_frame_equal(before, analysis.get_temporal_breakdown(**QUIET))


@pytest.mark.parametrize("column", ["ts", "dur"])
def test_changed_times_are_refused(analysis, column):
    analysis.t.get_trace(0)[column] += 1
    with pytest.raises(ValueError, match=f'"{column}" of rank 0 was changed'):
        analysis.get_temporal_breakdown(**QUIET)
    assert analysis.get_queue_length_summary(ranks=[1]) is not None


def test_foreign_frames_are_refused(analysis):
    analysis.t.traces[0] = analysis.t.get_trace(1)
    with pytest.raises(ValueError, match="rank 0"):
        analysis.get_temporal_breakdown(**QUIET)
    analysis.t.traces = {0: pd.DataFrame({"index": [0], "ts": [1], "dur": [1.0]})}
    with pytest.raises(ValueError, match="rank 0"):
        analysis.get_comm_comp_overlap(**QUIET)


def test_a_rank_that_is_not_there(analysis):
    for call in (lambda: analysis.get_queue_length_summary(ranks=[7]), lambda: analysis.t.get_trace(7)):
        with pytest.raises(ValueError, match="rank 7 is loaded; there are ranks 0, 1"):
            call()


def test_no_traces(tmp_path):
    for wrong in ({"trace_dir": str(tmp_path / "nowhere")}, {"trace_files": {0: str(tmp_path / "none.json")}}):
        with pytest.raises(ValueError, match="there are no trace files|cannot be read"):
            TraceAnalysis(**wrong)


def test_a_damaged_file_says_so(tmp_path):
    (tmp_path / "rank0.json.gz").write_bytes(gzip.compress(b"no trace") + b"damaged")
    analysis = TraceAnalysis(trace_dir=str(tmp_path))
    for call in (lambda: analysis.get_temporal_breakdown(**QUIET), lambda: analysis.t.get_trace(0)):
        with pytest.raises(spotter.Error, match="rank0.json"):
            call()


def test_pickles(analysis):
    first = analysis.t.get_trace(0)
    copy = pickle.loads(pickle.dumps(analysis))
    pd.testing.assert_frame_equal(copy.t.get_trace(0), first)
    pd.testing.assert_frame_equal(copy.get_temporal_breakdown(**QUIET), analysis.get_temporal_breakdown(**QUIET))
    assert copy.t.traces.held(1) is None and len(copy.t.get_trace(1)) == len(analysis.t.get_trace(1))


def test_arguments_that_are_asked_for(training, made):
    config = ParserConfig([AVAILABLE_ARGS["cuda::stream"], AVAILABLE_ARGS["correlation::cpu_gpu"]])
    frame = made(span(0, 1, grid=[1, 2, 3]), parser_config=config).get_trace(0)
    assert not {"bytes", "grid"} & set(frame.columns)
    everything = ParserConfig(ParserConfig.get_minimum_args()).set_parse_all_args(True)
    frame = made(span(0, 1, **{"grid": [1, 2, 3], "a new (one)": 1.5, "n": 2, "flag": True}), span(2, 1), parser_config=everything).get_trace(0)
    assert frame["grid"].iloc[0] == [1, 2, 3] and frame["stream"].tolist() == [-1, -1]
    assert frame["a_new"].tolist() == [1.5, 0.0] and frame["n"].tolist() == [2, 0]


def test_counters_are_written_beside_the_trace(tmp_path, training):
    (tmp_path / "rank0.json.gz").write_bytes(pathlib.Path(training, "rank0.json.gz").read_bytes())
    analysis = TraceAnalysis(trace_dir=str(tmp_path))
    analysis.generate_trace_with_counters(TimeSeriesTypes.QUEUE_LENGTH | TimeSeriesTypes.MEMCPY_BANDWIDTH)
    with gzip.open(tmp_path / "rank0_with_counters.json.gz") as file:
        events = json.load(file)["traceEvents"]
    counters = [event for event in events if event["ph"] == "C"]
    queue = analysis.get_queue_length_time_series()[0]
    lengths = [event for event in counters if event["name"] == "Queue Length"]
    assert [event["args"]["Queue Length"] for event in lengths] == queue["queue_length"].tolist()
    assert [event["ts"] for event in lengths] == (queue["ts"] + analysis.t.min_ts).tolist()
    assert {event["id"] for event in lengths} == set(queue["stream"])
    assert any("Memcpy BW" in event["args"] for event in counters)
    assert spotter.load(tmp_path / "rank0_with_counters.json.gz").rank == 0


def test_sequences_are_marked_in_the_trace(tmp_path, analysis):
    table = analysis.get_frequent_cuda_kernel_sequences("aten::", str(tmp_path), min_pattern_len=1, top_k=2)
    assert table["count"].is_monotonic_decreasing and table["pattern"].str.startswith("aten::").all()
    with gzip.open(tmp_path / "overlaid_rank0.json.gz") as file:
        events = json.load(file)["traceEvents"]
    marked = [event["args"]["Patterns"] for event in events if "Patterns" in event.get("args", {})]
    assert {pattern for patterns in marked for pattern in patterns} == set(table["pattern"][:2])
    assert analysis.get_frequent_cuda_kernel_sequences("nobody::calls_this", str(tmp_path)).empty
    assert analysis.get_frequent_cuda_kernel_sequences("", str(tmp_path)).empty


def test_without_plotly_figures_are_left_out(analysis, monkeypatch, caplog):
    from spotter.hta import _figures

    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setattr(_figures, "_is_missing_told", False)
    with caplog.at_level(logging.WARNING):
        analysis.get_temporal_breakdown()
        analysis.get_gpu_kernel_breakdown()
    assert [record.getMessage() for record in caplog.records if "plotly" in record.getMessage()] == [
        "figures need plotly: pip install spotter-trace[hta]; visualize=False asks for none"
    ]


def test_figures(analysis, monkeypatch):
    go = pytest.importorskip("plotly.graph_objects")
    shown = []
    monkeypatch.setattr(go.Figure, "show", lambda figure, *args, **kwargs: shown.append(figure))
    analysis.get_temporal_breakdown()
    analysis.get_comm_comp_overlap()
    assert [figure.layout.title.text for figure in shown] == ["Temporal breakdown across ranks", "Computation-Communication Overlap"]
    assert shown[0].layout.barmode == "stack" and len(shown[0].data) == 3
    del shown[:]
    analysis.get_gpu_kernel_breakdown(num_kernels=3)
    assert shown[0].layout.title.text == "Kernel Type Percentage Across All Ranks" and len(shown) > 5
    del shown[:]
    times, _ = analysis.get_idle_time_breakdown(ranks=[1])
    analysis.get_cuda_kernel_launch_stats()
    analysis.get_aten_op_kernels_and_delay()
    analysis.get_gpu_user_annotation_breakdown(use_gpu_annotation=False)
    assert shown[0].layout.title.text == "Idle time breakdown on rank 1 per CUDA stream" and len(shown) > 5
    assert all(isinstance(stream, str) for stream in times["stream"])


def test_figures_of_ranks_that_are_not_counted_from_0(training, monkeypatch):
    go = pytest.importorskip("plotly.graph_objects")
    shown = []
    monkeypatch.setattr(go.Figure, "show", lambda figure, *args, **kwargs: shown.append(figure))
    TraceAnalysis({9: f"{training}/rank0.json.gz"}, "").get_gpu_kernel_breakdown()
    assert shown


def test_later_spellings(analysis):
    old = analysis.get_gpu_kernels_with_user_annotations(0, shortern_names=False)
    new = analysis.get_gpu_kernels_with_user_annotations(0, shorten_names=False)
    assert (old is None) == (new is None) and (old is None or old.equals(new))
    with pytest.raises(NotImplementedError, match="data_load_events"):
        analysis.critical_path_analysis(0, "ProfilerStep", 0, data_load_events=["x"])


def test_install_puts_it_in_the_place_of_hta():
    code = """
import spotter.hta
spotter.hta.install()
spotter.hta.install()
import hta, hta.common.trace
from hta.trace_analysis import TraceAnalysis
import spotter.hta.trace_analysis
assert TraceAnalysis is spotter.hta.trace_analysis.TraceAnalysis
assert hta.common.trace.Trace.__module__ == "spotter.hta.common.trace"
try:
    import hta.nothing
except ModuleNotFoundError as error:
    print(error)
"""
    assert "hta.nothing" in conftest.python(code)


def test_install_after_hta_itself_is_refused():
    code = """
import sys, types
sys.modules["hta"] = types.ModuleType("hta")
import spotter.hta
try:
    spotter.hta.install()
except ImportError as error:
    print(error)
"""
    assert "before the first import of hta" in conftest.python(code)


def test_the_package_needs_no_plotly_and_no_networkx_to_be_imported():
    code = """
import sys
import spotter.hta.trace_analysis
print([name for name in ("plotly", "networkx", "yaml", "psutil", "hta") if name in sys.modules])
"""
    assert conftest.python(code).strip() == "[]"


def test_the_first_start_stays_what_it_was(tmp_path, made):
    """ts counts from it, whatever becomes of the ranks."""
    for rank, start in enumerate((1000, 500, 700)):
        with gzip.open(tmp_path / f"{rank}.json.gz", "wt") as file:
            json.dump({"distributedInfo": {"rank": rank}, "traceEvents": [span(start, 1)]}, file)
    t = Trace({rank: str(tmp_path / f"{rank}.json.gz") for rank in range(3)}, "")
    t.parse_traces(max_ranks=2)
    t.align_and_filter_trace()
    assert t.min_ts == 500 and t.get_trace(0)["ts"].tolist() == [500]
    del t.traces[1]
    assert t.min_ts == 500
    t.parse_single_rank(2)
    assert t.get_trace(2)["ts"].tolist() == [200]


def test_ranks_that_are_asked_for(analysis):
    for ranks in (None, [], 0, [0], (np.int64(0),), range(1)):
        assert list(analysis.get_cuda_kernel_launch_stats(ranks=ranks, **QUIET)) == [0]
    assert list(TraceAnalysis({4: analysis.t.trace_files[0]}, "").get_queue_length_time_series()) == [4]


def test_questions_about_one_rank_read_that_alone(training, tmp_path):
    t = TraceAnalysis({0: f"{training}/rank0.json.gz", 1: f"{training}/rank1.json.gz"}, "")
    t.get_gpu_kernels_with_user_annotations(0)
    t.get_cupti_counter_data_with_operators([0])
    t.get_frequent_cuda_kernel_sequences("aten::", str(tmp_path))
    assert t.t.traces.held(1) is None


def test_paths_may_be_of_any_kind(training, monkeypatch):
    monkeypatch.chdir(training)
    one = TraceAnalysis({0: pathlib.Path("rank0.json.gz")}, "").get_temporal_breakdown(**QUIET)
    two = TraceAnalysis({np.int64(0): pathlib.Path(training, "rank0.json.gz")}).get_temporal_breakdown(**QUIET)
    three = TraceAnalysis(trace_dir=pathlib.Path(training)).get_temporal_breakdown(**QUIET)
    assert one.equals(two) and one.equals(three[:1])


@pytest.mark.parametrize("name, suffix, written", [
    ("t.json.gz", "_with_counters", "t_with_counters.json.gz"), ("t.json", "", "t_with_counters.json"), ("t.gz", "_x", "t_x.gz"),
])  # fmt: skip
def test_counters_are_never_written_over_a_trace(tmp_path, training, name, suffix, written):
    folder = tmp_path / "run.json.d"
    folder.mkdir()
    text = gzip.decompress(pathlib.Path(training, "rank0.json.gz").read_bytes())
    (folder / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    before = (folder / name).read_bytes()
    analysis = TraceAnalysis({0: str(folder / name)}, "")
    analysis.generate_trace_with_counters(output_suffix=suffix)
    assert (folder / name).read_bytes() == before and sorted(path.name for path in folder.iterdir()) == sorted([name, written])
    again = TraceAnalysis({0: str(folder / written), 1: str(folder / name)}, "")
    assert again.t.get_raw_trace_for_one_rank(0)["traceEvents"][-1]["ph"] == "C"
    with pytest.raises(ValueError, match="is one of the traces"):
        again.generate_trace_with_counters(ranks=[1], output_suffix=suffix)


def test_rows_that_a_file_has_no_more(made):
    from spotter.hta import _engine

    trace = made(span(0, 1), device(2, 3, 1))
    file = _engine.File(trace.trace_files[0], 0, _engine.Rows.these, np.array([1, 7], dtype=np.uint32).tobytes())
    with pytest.raises(spotter.Error, match="it has 2 events now, and had more"):
        _engine.run([file], ["temporal_breakdown"], {})


@pytest.mark.parametrize("call, words", [
    (lambda t: t.get_gpu_kernel_breakdown(**QUIET, duration_ratio=2), "duration_ratio=2"),
    (lambda t: t.get_gpu_user_annotation_breakdown(**QUIET, duration_ratio=-1), "duration_ratio=-1"),
    (lambda t: t.get_aten_op_kernels_and_delay(sort_by=["nope"]), "there are the columns aten_op_name"),
    (lambda t: t.t.parse_single_rank(9), "rank 9"),
])  # fmt: skip
def test_what_makes_no_sense_says_why(analysis, call, words):
    with pytest.raises(ValueError, match=words):
        call(analysis)


def test_frames_keep_their_events_whatever_their_index(analysis):
    def paths():
        graph, _ = analysis.critical_path_analysis(0, "ProfilerStep", 0)
        return len(graph.critical_path_nodes), sorted(graph.critical_path_events_set)

    pytest.importorskip("networkx")
    before, stats = paths(), analysis.get_temporal_breakdown(**QUIET)
    analysis.t.traces[0] = analysis.t.get_trace(0).reset_index(drop=True)
    assert paths() == before and analysis.get_temporal_breakdown(**QUIET).equals(stats)


def test_the_engine_and_the_frame_choose_the_same_rows(training, job):
    """Rows are chosen in C++ for analyses and in numpy for frames."""
    from spotter.hta import _engine

    for folder in (training, job):
        for last in (False, True):
            t = TraceAnalysis(trace_dir=str(folder), include_last_profiler_step=last).t
            for rank in t.get_ranks():
                file = t.rows_to_analyse(rank)
                _, facts = _engine.run([file], [], {}, wants_rows=True)
                chosen = np.frombuffer(facts[rank].rows, dtype=np.uint32)
                assert sorted(t.get_trace(rank).index) == chosen.tolist()
                assert facts[rank].first_us == t._first_us[rank]


def test_changes_that_analyses_would_not_see_are_refused(analysis):
    frame = analysis.t.get_trace(0)
    for column in ("name", "stream", "correlation", "cat"):
        changed = frame.copy()
        changed[column] = changed[column].max()
        analysis.t.traces[0] = changed
        with pytest.raises(ValueError, match=f'"{column}" of rank 0 was changed'):
            analysis.get_comm_comp_overlap(**QUIET)
    analysis.t.traces[0] = pd.concat([frame, frame])
    with pytest.raises(ValueError, match="twice"):
        analysis.get_comm_comp_overlap(**QUIET)
    analysis.t.traces[0] = frame.copy()
    analysis.t.symbol_table.add_symbols_to_trace_df(analysis.t.traces[0], "name")
    assert analysis.get_comm_comp_overlap(**QUIET)["rank"].tolist() == [0, 1]


def test_damage_is_told_once(tmp_path, training, caplog):
    text = gzip.decompress(pathlib.Path(training, "rank0.json.gz").read_bytes())
    (tmp_path / "rank0.json").write_bytes(text[: len(text) // 2])
    analysis = TraceAnalysis({0: str(tmp_path / "rank0.json")}, "")
    with caplog.at_level(logging.WARNING):
        analysis.get_temporal_breakdown(**QUIET)
        analysis.t.get_trace(0)
        analysis.get_comm_comp_overlap(**QUIET)
    assert len([record for record in caplog.records if "rank 0 is not whole" in record.getMessage()]) == 1


def test_files_that_do_not_say_their_rank_take_none_from_those_that_do(tmp_path, training):
    source = pathlib.Path(training)
    (tmp_path / "a.json.gz").write_bytes((source / "rank0.json.gz").read_bytes())
    (tmp_path / "b.json.gz").write_bytes((source / "rank1.json.gz").read_bytes()[:300])  # cut before its rank
    (tmp_path / "c_et.json").write_text('{"schema": "1.1.1-chakra.0.0.4", "nodes": [{"id": 1, "name": "x"}]}')
    (tmp_path / "overlaid_a.json.gz").write_bytes((source / "rank0.json.gz").read_bytes())
    assert TraceAnalysis(trace_dir=str(tmp_path)).t.trace_files == {0: str(tmp_path / "a.json.gz")}


def test_a_file_that_was_replaced_or_removed(tmp_path, training):
    path = tmp_path / "t.json.gz"
    path.write_bytes(pathlib.Path(training, "rank0.json.gz").read_bytes())
    analysis = TraceAnalysis({0: str(path)}, "")
    path.write_bytes(pathlib.Path(training, "rank1.json.gz").read_bytes())
    with pytest.raises(ValueError, match="is not the one that was opened"):
        analysis.get_temporal_breakdown(**QUIET)
    path.unlink()
    with pytest.raises(ValueError, match="is no longer there"):
        analysis.t.get_trace(0)


def test_relative_paths_are_those_of_when_they_were_named(training, monkeypatch, tmp_path):
    monkeypatch.chdir(pathlib.Path(training).parent)
    analysis = TraceAnalysis(trace_dir=pathlib.Path(training).name)
    monkeypatch.chdir(tmp_path)
    assert len(analysis.get_temporal_breakdown(**QUIET)) == 2 and len(analysis.t.get_trace(0)) > 0


def test_threads_share_a_frame(training):
    analysis = TraceAnalysis(trace_dir=training)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert len({id(frame) for frame in pool.map(lambda _: analysis.t.get_trace(0), range(8))}) == 1


def test_communication_arguments_become_usual(training):
    usual = ParserConfig.get_default_cfg()
    try:
        ParserConfig.enable_communication_args()
        assert "collective_name" in TraceAnalysis(trace_dir=training).t.get_trace(0).columns
    finally:
        ParserConfig.set_default_cfg(usual)
