"""Of spotter.hta: call stacks, stack filters, timelines, CUPTI's counters."""

import json
import logging
import random

import pytest

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")

from spotter.hta import _figures  # noqa: E402
from spotter.hta._span_tree import enclosing  # noqa: E402
from spotter.hta.analyzers import timeline as device_timeline  # noqa: E402
from spotter.hta.analyzers.cupti_counter_analysis import (  # noqa: E402
    CUDA_SASS_INSTRUCTION_COUNTER_FLOPS,
    CuptiCounterAnalysis,
)
from spotter.hta.common import call_stack as older  # noqa: E402
from spotter.hta.common import timeline  # noqa: E402
from spotter.hta.common.trace import Trace  # noqa: E402
from spotter.hta.common.trace_call_graph import CallGraph  # noqa: E402
from spotter.hta.common.trace_call_stack import (  # noqa: E402
    CallStackGraph,
    CallStackIdentity,
    CallStackNode,
    is_events_sorted,
    sort_events,
)
from spotter.hta.common.trace_stack_filter import (  # noqa: E402
    AfterOperatorFilter,
    BeforeOperatorFilter,
    CombinedOperatorFilter,
    OperatorFilter,
    OperatorFilterMethod,
    UnderOperatorFilter,
    get_matching_kernels,
)
from spotter.hta.common.trace_symbol_table import TraceSymbolTable  # noqa: E402
from spotter.hta.common.types import DeviceType  # noqa: E402

STEP, BACKWARD, AUTOGRAD = "ProfilerStep#1", "## backward ##", "autograd::engine::evaluate_function: MmBackward0"
COLUMNS = ["name", "cat", "pid", "tid", "ts", "dur", "stream", "index_correlation"]
# One step: a forward operator with a kernel, a backward annotation, and the backward thread with a graph of two kernels.
TRAINING = [
    (STEP, "user_annotation", 10, 10, 100, 100, -1, -1),  # 0
    ("aten::mm", "cpu_op", 10, 10, 105, 20, -1, -1),
    ("cudaLaunchKernel", "cuda_runtime", 10, 10, 110, 5, -1, 3),
    ("sgemm", "kernel", 0, 7, 120, 30, 7, 2),
    (BACKWARD, "user_annotation", 10, 10, 150, 40, -1, -1),
    (AUTOGRAD, "cpu_op", 10, 11, 152, 20, -1, -1),  # 5
    ("cudaGraphLaunch", "cuda_runtime", 10, 11, 155, 10, -1, 8),
    ("first of graph", "kernel", 0, 0, 160, 5, 0, 6),
    ("last of graph", "kernel", 0, 0, 170, 10, 0, 6),
    (AUTOGRAD, "cpu_op", 10, 11, 195, 20, -1, -1),
    ("Context Sync", "cuda_sync", 0, -1, 198, 1, -1, -1),  # 10
]


def frame(rows):
    df = pd.DataFrame(rows, columns=COLUMNS)
    df.insert(0, "index", range(len(df)))
    return df


def graph(rows=None):
    """Of texts; its frame has names as s_name, too."""
    made = CallGraph.from_dataframe(frame(TRAINING if rows is None else rows))
    made.trace_data.symbol_table.decode_df(made.trace_data.get_trace(-1))
    return made


def spans(*times, tid=5, streams=None):
    """A frame of (ts, dur)."""
    return pd.DataFrame(
        {"index": range(len(times)), "ts": [ts for ts, _ in times], "dur": [dur for _, dur in times], "tid": tid,
         "stream": streams or [-1] * len(times), "index_correlation": -1}
    )  # fmt: skip


def stack(df, **more):
    none = pd.DataFrame({"cpu_index": [], "gpu_index": []}, dtype="int64")
    return CallStackGraph(df, CallStackIdentity(0, 1, 5), none, more.pop("full_df", df), TraceSymbolTable(), **more)


def parents(df):
    return [stack(df).get_parent(event) for event in df["index"]]


# ---- one thread


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([(0, 10), (1, 3), (4, 6), (20, 5)], [-5, 0, 0, -5]),
        ([(0, 10), (0, 10), (0, 4)], [-5, 0, 1]),  # equal spans: the lower id is outside
        ([(0, 10), (5, 10), (12, 1)], [-5, 0, 1]),  # in part
        ([(0, 5), (5, 5)], [-5, -5]),
        ([(0, 0), (0, 5), (4, 0), (5, 0)], [1, -5, 1, 1]),  # without duration
        ([(0, 5), (5, 0), (5, 5)], [-5, 2, -5]),
        ([(3, 0), (3, 0)], [-5, 0]),
        ([(0, 10), (3, -1)], [-5, 0]),  # rounded away
        ([(0.5, 10.0), (0.75, 0.25)], [-5, 0]),
    ],
)
def test_spans_lie_in_each_other(times, expected):
    assert parents(spans(*times)) == expected


def test_stacks_are_those_of_a_slow_search():
    some = random.Random(7)
    times = sorted(((some.randrange(300), some.randrange(1, 60)) for _ in range(300)), key=lambda one: (one[0], -one[1]))
    found = enclosing(*([ts for ts, _ in times], [ts + dur for ts, dur in times]))
    for place, (ts, _) in enumerate(times):
        around = [one for one in range(place) if times[one][0] + times[one][1] > ts]
        assert found[place] == (around[-1] if around else -1)


def test_a_stack_answers_about_its_nodes():
    made = stack(spans((0, 10), (1, 5), (3, 2), (7, 3), (20, 1)))
    assert made.get_nodes()[0] == CallStackNode(parent=-5, depth=0, height=3, children=[1, 3])
    assert made.root_index == -5
    assert made.nodes[-5].children == [0, 4]
    assert made.get_path_to_root(2) == [2, 1, 0, -5]
    assert made.get_paths_to_leaves(0) == [[0, 1, 2], [0, 3]]
    assert made.get_leaf_nodes(0) == [2, 3]
    assert made.get_descendants(1) == [1, 2]
    assert made.get_root(2) == -5
    assert made.get_children(99) == [] == made.get_path_to_root(99) == made.get_paths_to_leaves(99)
    assert (made.get_root(99), made.get_parent(99)) == (-1, -2)
    assert made.get_depth().to_dict() == {0: 0, 1: 1, 2: 2, 3: 1, 4: 0}
    visits = []
    made.dfs_traverse(lambda event, _: visits.append(event), lambda event, _: visits.append(~event))
    assert visits == [-5, 0, 1, 2, ~2, ~1, 3, ~3, ~0, 4, ~4, ~-5]


def test_a_deep_stack_needs_no_deep_recursion():
    made = stack(spans(*((at, 20_000 - 2 * at) for at in range(5_000))))
    visits = []
    made.dfs_traverse(lambda event, node: visits.append(node.depth), lambda *_: None)
    assert visits == list(range(-1, 5_000))


def test_device_work_hangs_below_its_launch():
    df = spans((0, 10), (2, 3), (6, 1), (20, 30), streams=[-1, -1, -1, 7])
    pairs = pd.DataFrame({"cpu_index": [1], "gpu_index": [3]})
    made = CallStackGraph(df[df["stream"] < 0], CallStackIdentity(0, 1, 5), pairs, df, TraceSymbolTable())
    assert made.nodes[3] == CallStackNode(1, 2, 0, DeviceType.GPU, [])
    assert made.get_leaf_nodes(0) == [3, 2]
    assert made.get_leaf_nodes(3) == []
    assert made.get_leaf_nodes(3, include_gpu_kernel=True) == [3]


def test_a_stream_has_no_stack(caplog):
    with caplog.at_level(logging.WARNING, "hta"):
        assert stack(spans((0, 1), streams=[7])).get_nodes() == {}
    assert "no call stack" in caplog.text
    assert stack(spans()).get_nodes() == {}


def test_the_root_of_thread_1_is_not_the_lack_of_a_parent():
    none = pd.DataFrame({"cpu_index": [], "gpu_index": []}, dtype="int64")
    df = spans((0, 10), (1, 3))
    made = CallStackGraph(df, CallStackIdentity(0, 1, 1), none, df, TraceSymbolTable())
    assert made.get_path_to_root(1) == [1, 0, -1]


def test_stacks_that_share_nodes_are_joined():
    full = pd.concat([spans((5, 3), (6, 1)), spans((0, 20), tid=6).assign(index=2)])
    full["parent"], full["depth"], full["height"], full["num_kernels"] = -1, -1, -1, 0
    nodes = {}
    inner = stack(full[full["tid"] == 5], full_df=full, nodes=nodes)
    around = full[full["tid"] == 6]
    outer = CallStackGraph(around, CallStackIdentity(0, 1, 6), inner.correlations, full, TraceSymbolTable(), nodes)
    assert full["depth"].tolist() == [0, 1, 0]
    inner.update_parent_of_first_layer_nodes(2)
    assert nodes is inner.nodes is outer.nodes
    assert -5 not in nodes
    assert nodes[2] == CallStackNode(parent=-6, depth=0, height=3, children=[0])
    assert (inner.root_index, inner.get_path_to_root(1)) == (-6, [1, 0, 2, -6])
    inner.save_call_stack_to_dataframe(apply_whole_graph=True)
    assert full["parent"].tolist() == [2, 0, -6]
    assert full["depth"].tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="999"):
        outer.update_parent_of_first_layer_nodes(999)


def test_a_frame_with_stacks_is_taken_as_it_is():
    df = spans((0, 10), (1, 3)).assign(parent=[-5, -5], depth=[0, 0], height=[1, 1])
    assert parents(df) == [-5, -5]
    assert stack(df, use_existing_stack_columns=False).get_parent(1) == 0


def test_ends_of_events_are_sorted():
    ends = [[2, 5, 1, 10], [1, 10, -1, 5], [2, 5, -1, 5], [3, 0, 1, 10], [3, 0, -1, 10], [4, 2, -1, 15], [1, 10, 1, 15]]
    ends = np.array(ends)
    assert not is_events_sorted(ends)
    sort_events(ends)
    assert ends[:, :3].tolist() == [[1, 10, -1], [2, 5, -1], [3, 0, -1], [3, 0, 1], [2, 5, 1], [1, 10, 1], [4, 2, -1]]
    assert is_events_sorted(ends)


# ---- the graph of a trace


def test_a_graph_adds_columns():
    made = graph()
    df = made.trace_data.get_trace(-1)
    assert df["parent"].tolist() == [-10, 0, 1, 2, 0, 4, 5, 6, 6, -11, -1]
    assert df["depth"].tolist() == [0, 1, 2, 3, 1, 2, 3, 4, 4, 0, -1]
    assert df["height"].tolist() == [4, 2, 1, 0, 3, 2, 1, 0, 0, 1, -1]
    assert df["num_kernels"].tolist() == [3, 1, 1, 1, 2, 2, 2, 1, 1, 0, 0]
    assert df["kernel_dur_sum"].tolist() == [45, 30, 30, 30, 15, 15, 15, 5, 10, 0, 0]
    assert df["first_kernel_start"].tolist() == [120, 120, 120, 120, 160, 160, 160, 160, 170, -1, -1]
    assert df["last_kernel_end"].tolist() == [180, 150, 150, 150, 180, 180, 180, 165, 180, -1, -1]
    assert df["kernel_span"].tolist() == [60, 30, 30, 30, 20, 20, 20, 5, 10, 0, 0]
    assert set(CallGraph.stack_columns) <= set(df.columns)
    assert [str(df[column].dtype) for column in ("depth", "num_kernels", "kernel_span")] == ["int8", "int8", "float64"]
    assert made.mapping.to_dict("list") == {
        "rank": [-1, -1], "pid": [10, 10], "tid": [10, 11], "label": ["main", "bwd"], "stack_index": [0, 1],
        "stack_root": [-10, -11], "count": [1, 1],
    }  # fmt: skip


def test_a_backward_thread_becomes_a_part_of_the_main_one():
    made = graph(TRAINING[:9])
    assert made.mapping["stack_root"].tolist() == [-10, -10]
    assert made.mapping["count"].tolist() == [1, 2]
    assert -11 not in made.rank_to_nodes[-1]
    assert made.get_csg_of_node(7).identity == CallStackIdentity(-1, 10, 11)
    assert made.get_csg_of_node(7).get_path_to_root(7) == [7, 6, 5, 4, 0, -10]
    without = graph([row for row in TRAINING[:9] if row[0] != BACKWARD])  # ids from 4 on move
    assert without.trace_data.get_trace(-1)["parent"].tolist()[4:6] == [0, 4]


def test_a_graph_does_not_join_more_than_two_threads():
    made = graph([*TRAINING, (AUTOGRAD, "cpu_op", 10, 12, 160, 5, -1, -1)])
    assert made.mapping["label"].tolist() == ["main", "bwd", "bwd"]
    assert made.trace_data.get_trace(-1)["parent"].tolist()[5] == -11


def test_a_graph_answers_about_events():
    made = graph()
    assert made.get_stack_of_node(8)["index"].tolist() == [0, 4, 5, 6, 8]
    assert made.get_stack_of_node(8, skip_ancestors=True)["index"].tolist() == [8]
    assert made.get_stack_of_node(4)["index"].tolist() == [0, 4, 5, 6, 7, 8]
    assert made.get_stack_of_node(4, skip_ancestors=True)["index"].tolist() == [4, 5, 6, 7, 8]
    assert made.get_node_attributes(3)["s_name"] == "sgemm"
    assert made.get_gpu_kernels()["index"].tolist() == [3, 7, 8]
    assert [one.identity.tid for one in made.get_call_stacks()] == [10, 11]
    assert [one.identity.tid for one in made.get_call_stacks(rank=-1, tid=11)] == [11]
    assert list(made.get_call_stacks(pid=1)) == []
    assert next(made.get_call_stacks(stack_index=1)).get_dataframe()["index"].tolist() == [5, 6, 9]
    assert made.get_csg_of_node(9).get_depth().tolist() == [2, 3, 0]
    for ask in (made.get_csg_of_node, made.get_stack_of_node, made.get_node_attributes):
        with pytest.raises(ValueError, match="event 99"):
            ask(99)
        with pytest.raises(ValueError, match="no rank 4"):
            ask(1, rank=4)


def test_threads_without_a_number_of_their_own_keep_apart():
    threads = {"a": (1, 5), "b": (2, 5), "c": (2, -5), "d": (2, "pool")}
    made = graph([(name, "cpu_op", pid, tid, 1, 9, -1, -1) for name, (pid, tid) in threads.items()])
    roots = made.mapping["stack_root"].tolist()
    assert len(set(roots)) == 4
    assert max(roots) == -5
    assert made.mapping["label"].tolist() == ["a", "c", "b", "d"]
    assert made.trace_data.get_trace(-1)["depth"].tolist() == [0] * 4


def test_the_ranks_of_a_graph(training):
    trace = Trace(trace_dir=training)
    trace.load_traces()
    made = CallGraph(trace)
    assert made.ranks == [0, 1] == list(made.rank_to_stacks) == list(made.rank_to_nodes)
    first = min(event for event in made.rank_to_nodes[0] if event >= 0 and event in made.rank_to_nodes[1])
    assert [made.get_csg_of_node(first, rank=rank).identity.rank for rank in (None, 1, None, 0)] == [0, 1, 1, 0]
    assert CallGraph(trace, ranks=[1, 9]).ranks == [1]
    with pytest.raises(ValueError, match="none of the ranks"):
        CallGraph(trace, ranks=[9])
    for rank, nodes in made.rank_to_nodes.items():
        df = trace.get_trace(rank)
        depths = df.set_index("index")["depth"]
        assert {event: node.depth for event, node in nodes.items() if event >= 0} == depths[depths >= 0].to_dict()
        outer = df.set_index("index").loc[df.loc[df["depth"] > 0, "parent"]]
        host = (df["depth"] > 0) & (df["stream"] < 0)
        assert (df.loc[df["depth"] > 0, "ts"].to_numpy() >= outer["ts"].to_numpy()).all()
        assert df.loc[host, "num_kernels"].sum() > 0


def test_a_graph_needs_names():
    with pytest.raises(ValueError, match="texts"):
        CallGraph.from_dataframe(frame(TRAINING).assign(name=1))
    assert graph([]).mapping.empty


# ---- the older stacks


def test_the_older_stack_puts_events_without_duration_side_by_side():
    made = older.CallStackGraph(spans((0, 10), (3, 0), (3, 0), (4, 2)), older.CallStackIdentity(0, 1, 5))
    assert made.get_nodes() == {
        -1: older.CallStackNode(-1, -1, [0]), 0: older.CallStackNode(-1, 0, [1, 2, 3]), 1: older.CallStackNode(0, 1, []),
        2: older.CallStackNode(0, 1, []), 3: older.CallStackNode(0, 1, []),
    }  # fmt: skip
    assert made.device_type is older.DeviceType.CPU
    assert made.get_paths_to_leaves(0) == [[0, 1], [0, 2], [0, 3]]
    assert (made.get_path_to_root(3), made.get_parent(0), made.get_parent(9)) == ([3, 0, -1], -1, -2)
    assert made.get_depth().tolist() == [0, 1, 1, 1]
    streams = older.CallStackGraph(spans((0, 1), streams=[3]), older.CallStackIdentity())
    assert (streams.device_type, streams.get_nodes()) == (older.DeviceType.GPU, {})


def test_the_older_graph(monkeypatch):
    trace = graph().trace_data
    made = older.CallGraph(trace)
    df = trace.get_trace(-1)
    assert made.mapping.index.names == ["rank", "pid", "tid"]
    assert df["depth"].tolist()[:5] == [0, 1, 2, -1, 1]
    assert df["parent"].tolist() == [-1, 0, 1, 2, 0, -1, 5, 6, 6, -1, -1]
    assert made.get_stack_of_node(1, -1)["index"].tolist() == [2, 1, 0, 3]
    assert made.get_stack_of_node(3, -1)["index"].tolist() == [2, 1, 0, 3]
    assert made.get_stack_of_node(1, -1, skip_ancestors=True)["index"].tolist() == [2, 3]
    with pytest.raises(KeyError):
        made.get_stack_of_node(99, -1)
    del df["depth"]
    monkeypatch.setenv("HTA_DISABLE_CG_DEPTH", "1")
    older.CallGraph(trace)
    assert "depth" not in df.columns
    with pytest.raises(ValueError, match="none of the ranks"):
        older.CallGraph(trace, ranks=[3])


def test_ends_are_compared():
    start, end = older.EVENT_START, older.EVENT_END
    before = [
        ((1, 5, 9, start), (1, 14, 9, end)), ((1, 5, 9, start), (2, 6, 1, start)), ((1, 5, 9, start), (2, 5, 3, start)),
        ((2, 5, 3, end), (1, 5, 9, end)), ((1, 5, 5, end), (2, 5, 5, start)), ((1, 5, 5, start), (2, 5, 5, start)),
        ((2, 5, 5, end), (1, 5, 5, end)), ((1, 5, 0, start), (2, 5, 0, start)), ((1, 5, 0, start), (2, 5, 3, end)),
    ]  # fmt: skip
    for one, other in before:
        one, other = older.Event(*one), older.Event(*other)
        assert older.compare_events(one, other) < 0 < older.compare_events(other, one)


# ---- filters


def test_rows_below_after_and_before_an_operator():
    df = graph().trace_data.get_trace(-1)

    def ids(one):
        return one(df)["index"].tolist()

    assert ids(UnderOperatorFilter("aten::mm", 0)) == [1, 2]
    assert ids(UnderOperatorFilter("aten::mm", 0, include_gpu_kernels=True)) == [1, 2, 3]
    assert ids(AfterOperatorFilter("aten::mm", -1)) == [4, 5, 6, 9, 10]
    assert ids(AfterOperatorFilter("aten::mm", -1, include_gpu_kernels=True)) == [4, 5, 6, 9, 10, 7, 8]
    assert ids(BeforeOperatorFilter(BACKWARD, 0)) == [1, 2]
    assert ids(UnderOperatorFilter(AUTOGRAD, -1)) == [9, 10]
    assert ids(UnderOperatorFilter(AUTOGRAD, 2)) == [] == ids(UnderOperatorFilter("aten::m", 0))
    assert get_matching_kernels(df[df["stream"] < 0], df, "s_cat")["index"].tolist() == [3, 7, 8]
    assert OperatorFilter("a", 0, OperatorFilterMethod.Under, name_column="x")(df) is df
    with pytest.raises(NotImplementedError, match="call_tree"):
        OperatorFilter("aten::mm", 0, OperatorFilterMethod.Stack)(df)


def test_operators_filter_together(caplog):
    df = graph().trace_data.get_trace(-1).assign(iteration=1)

    def ids(*arguments):
        return CombinedOperatorFilter(*arguments)(df)["index"].tolist()

    assert ids(STEP, "aten::mm", "Context Sync") == [4, 5, 6]
    assert ids(STEP, "", BACKWARD, True) == [3, 1, 2]
    assert ids("not there", "aten::mm", "not there either", True, [2, 3]) == [7, 8, 5, 6]
    with caplog.at_level(logging.WARNING, "hta"):
        assert len(CombinedOperatorFilter(STEP, "", "", stack_depths=[1])(df.drop(columns="depth"))) == 7
    assert "depth" in caplog.text


# ---- counters


def profiled():
    """A trace of two kernels with counters, of which one has an operator around its launch."""
    counter = next(iter(CUDA_SASS_INSTRUCTION_COUNTER_FLOPS))
    of = [("aten::conv2d", "cpu_op", 10, 30, {}), ("aten::cudnn", "cpu_op", 12, 20, {}),
          ("cudaLaunchKernel", "cuda_runtime", 15, 5, {}), ("cuLaunchKernel", "cuda_driver", 50, 5, {}),
          ("conv", "cuda_profiler_range", 16, 3, {counter: 7}),
          ("triton", "cuda_profiler_range", 51, 3, {counter: 9})]  # fmt: skip
    names = ("name", "cat", "ts", "dur", "args")
    return counter, [{"ph": "X", "pid": 4, "tid": 0 if "range" in one[1] else 4, **dict(zip(names, one))} for one in of]


def counters(tmp_path, events):
    (tmp_path / "trace.json").write_text(json.dumps({"distributedInfo": {"rank": 3}, "traceEvents": events}, indent=1))
    trace = Trace(trace_dir=str(tmp_path))
    trace.load_traces()
    return CuptiCounterAnalysis.get_counter_data_with_operators(trace)


def test_counters_with_their_operators(tmp_path, caplog):
    counter, events = profiled()
    (df,) = counters(tmp_path, events)
    assert df["name"].tolist() == ["conv", "triton"]
    assert df[counter].tolist() == [7, 9]
    assert df["index_runtime"].tolist() == [2, 3]
    assert df["op_stack"].tolist() == [["aten::conv2d", "aten::cudnn"], []]
    assert df["top_level_op"][0] == "aten::conv2d"
    assert df["bottom_level_op"][0] == "aten::cudnn"
    assert df["bottom_level_op"].isna().tolist() == [False, True]
    assert df.columns[-4:].tolist() == ["index_runtime", "op_stack", "top_level_op", "bottom_level_op"]
    with caplog.at_level(logging.WARNING, "hta"):
        assert counters(tmp_path, events[:3] + events[4:]) == []
        assert counters(tmp_path, events[:4]) == []
    assert "2 kernels, but 1 launches" in caplog.text
    assert "range profiler did not run" in caplog.text


def test_flops_of_counters():
    assert sum(CUDA_SASS_INSTRUCTION_COUNTER_FLOPS.values()) == 12
    assert CUDA_SASS_INSTRUCTION_COUNTER_FLOPS["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] == 2


# ---- timelines


def tasks(df, **setting):
    events = timeline.prepare_timeline_events(df, timeline.TimelinePlotSetting(**setting))
    return dict(zip(events["index"].tolist(), events["task"].tolist()))


def test_events_get_the_rows_of_a_timeline():
    df = graph().trace_data.get_trace(-1)
    rows = tasks(df)
    assert [rows[one] for one in (0, 5, 3, 7)] == ["cpu level 000", "cpu level 002", "gpu stream 007", "gpu annotate"]
    assert tasks(df[df["stream"] > 0]) == {3: "gpu stream 007"}
    assert set(tasks(df[df["stream"] < 0].drop(columns="depth")).values()) == {"cpu events"}
    assert tasks(df.assign(rank=df["index"] % 2))[3] == "rank 001 gpu stream 007"
    assert tasks(df.assign(rank=[0, 1] * 5 + [0], trace=["a", "b"] * 5 + ["a"]))[3] == "trace b     rank 001 gpu stream 007"
    assert tasks(df, compress_threads=False)[5] == "tid 011 cpu level 002"


def test_events_of_a_timeline():
    made = graph()
    df = made.trace_data.get_trace(-1)
    events = timeline.prepare_timeline_events(df, symbol_table=made.trace_data.symbol_table, hover_columns=["pid", "none"])
    first = events.iloc[0]
    assert (first["name"], first["ts"], first["pid"]) == (STEP, 0, 10)
    assert (events["calibrated_end_global"] - events["calibrated_start_global"]).min() == 1000
    assert events["task"].is_monotonic_increasing or events["task"].iloc[-1].startswith("gpu")
    assert "autograd::MmBackward0" in events["name"].tolist()
    assert "cat" not in events.columns
    setting = timeline.TimelinePlotSetting(amplify_short_events=False, use_global_time=True)
    exact = timeline.prepare_timeline_events(df, setting)
    assert str(exact["calibrated_start_global"].dtype).startswith("datetime64")
    assert timeline.prepare_timeline_events(df.drop(columns="ts")).empty
    assert timeline.DefaultTimelinePlotSetting == timeline.TimelinePlotSetting()  # is not changed by events


def test_annotations_over_their_kernels():
    df = graph().trace_data.get_trace(-1)
    rows = timeline.align_module_with_kernels(df, ["## "])
    assert rows["index"].tolist() == [3, 7, 8, 4]
    assert rows.iloc[-1][["stream", "ts", "dur", "end"]].tolist() == [timeline.AnnotationStreamID, 160, 20, 180]
    assert len(timeline.align_module_with_kernels(df, ["## ", "Profiler"], include_original_cpu_events=True)) == 13
    with pytest.raises(ValueError, match="num_kernels"):
        timeline.align_module_with_kernels(df.drop(columns="num_kernels"), ["## "])
    with pytest.raises(ValueError, match="symbol table"):
        timeline.align_module_with_kernels(df.drop(columns="s_name"), ["## "])


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("## a (b) ##", "## a (b) ##"),
        ("Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pinned -> Device)"),
        ("void at::(anonymous namespace)::add<int>(int*)", "at::anon::add<int>"),
        (AUTOGRAD, "autograd::MmBackward0"),
        ("x" * 60, "x" * 42 + "..."),
    ],
)
def test_names_in_timelines(name, short):
    assert timeline._simplify_name(name) == short


def test_names_of_figures():
    assert timeline.get_fig_title_from_fig_name("my_first-figure") == "My First Figure"
    assert timeline.get_fig_name_from_fig_title("My First Figure") == "my_first_figure"
    assert timeline.get_fig_title_from_fig_name("") == "Untitled Figure"
    assert timeline.get_fig_name_from_fig_title("") == "untitled_figure"


def test_timelines_are_drawn(tmp_path, monkeypatch):
    go = pytest.importorskip("plotly.graph_objects")
    shown = []
    monkeypatch.setattr(go.Figure, "show", lambda figure, *_, **__: shown.append(figure))
    made = graph()
    df, symbols = made.trace_data.get_trace(-1), made.trace_data.symbol_table
    one = timeline.Timeline(df, symbols)
    one.plot("Step", str(tmp_path / "step.html"))
    assert (tmp_path / "step.html").stat().st_size > 1000
    (figure,) = shown
    assert (figure.layout.title.text, figure.layout.xaxis.type) == ("Step", "linear")
    assert tuple(figure.layout.xaxis.range) == (0, 1098)
    kernel = next(bars for bars in figure.data if bars.name == "sgemm")
    assert (kernel.base, kernel.x, kernel.y) == ((20,), (1000,), ("gpu stream 007",))
    setting = timeline.TimelinePlotSetting(plot_format=timeline.PlotFormat.HTML)
    page = timeline.plot_events_timeline("Page", one.timeline_events, setting)
    assert "<html>" in page
    assert timeline.plot_events_timeline("Page", df) is None
    device_timeline.plot_timeline_gpu_kernels("Kernels", df.assign(rank=0, iteration=1), symbols)
    assert shown[1].layout.height == 320
    assert timeline.px.timeline


def test_device_work_of_a_timeline():
    made = graph()
    df = made.trace_data.get_trace(-1).assign(rank=2, iteration=1)
    events = device_timeline.prepare_timeline_gpu_events(df, made.trace_data.symbol_table, streams=[7, 0])
    assert events["task"].tolist() == ["rank 2 stream 0", "rank 2 stream 0", "rank 2 stream 7"]
    assert events["label"].tolist() == ["firstofgraph", "lastofgraph", "sgemm"]
    assert (events["calibrated_end_global"] - events["calibrated_start_global"]).dt.total_seconds().tolist() == [0.001] * 3
    with pytest.raises(ValueError, match="rank"):
        device_timeline.prepare_timeline_gpu_events(df.drop(columns="rank"), made.trace_data.symbol_table)


def test_timelines_without_plotly(monkeypatch):
    monkeypatch.setattr(_figures, "graph_objects", lambda: None)
    made = graph()
    timeline.Timeline(made.trace_data.get_trace(-1), made.trace_data.symbol_table).plot("Step")
    df = made.trace_data.get_trace(-1).assign(rank=0, iteration=1)
    device_timeline.plot_timeline_gpu_kernels("Kernels", df, made.trace_data.symbol_table)
