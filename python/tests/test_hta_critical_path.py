"""Of spotter.hta: the graph of the critical path."""

import gzip
import json
import logging
import pickle
import zipfile

import hta_jobs
import pytest

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")
nx = pytest.importorskip("networkx")

from spotter.hta.analyzers.critical_path_analysis import (  # noqa: E402
    CPEdge,
    CPEdgeType,
    CPGraph,
    CPNode,
    CriticalPathAnalysis,
    bound_by,
    restore_cpgraph,
)
from spotter.hta.trace_analysis import TraceAnalysis  # noqa: E402

OPERATOR, DEPENDENCY = CPEdgeType.OPERATOR_KERNEL, CPEdgeType.DEPENDENCY
LAUNCH, KERNEL, SYNC = CPEdgeType.KERNEL_LAUNCH_DELAY, CPEdgeType.KERNEL_KERNEL_DELAY, CPEdgeType.SYNC_DEPENDENCY
START, END = True, False


def _event(category, name, ts, dur, **args):
    on_device = category in ("kernel", "cuda_sync")
    pid, tid = (0, args.get("stream", -1)) if on_device else (1, 1)
    more = {"device": 0} if on_device else {}
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": {**more, **args}}


EVENTS = [
    _event("user_annotation", "work", 1000, 500),
    _event("cpu_op", "aten::a", 1010, 100),
    _event("cuda_runtime", "cudaLaunchKernel", 1020, 10, correlation=1),
    _event("kernel", "first", 1040, 60, stream=7, correlation=1),
    _event("cpu_op", "aten::b", 1130, 120),
    _event("cuda_runtime", "cudaEventRecord", 1132, 2, correlation=2),
    _event("cuda_runtime", "cudaStreamWaitEvent", 1136, 2, correlation=3),
    _event("cuda_sync", "Stream Wait Event", 1136, 1, stream=20, correlation=3,
           wait_on_stream=7, wait_on_cuda_event_record_corr_id=2),
    _event("cuda_runtime", "cudaLaunchKernel", 1140, 10, correlation=4),
    _event("kernel", "ncclDevKernel_AllReduce", 1160, 50, stream=20, correlation=4),
    _event("cuda_runtime", "cudaLaunchKernel", 1155, 10, correlation=5),
    _event("kernel", "second", 1171, 30, stream=7, correlation=5),
    _event("cuda_runtime", "cudaLaunchKernel", 1173, 5, correlation=6),
    _event("kernel", "third", 1203, 70, stream=7, correlation=6),
    _event("cuda_runtime", "cudaDeviceSynchronize", 1260, 40, correlation=7),
    _event("cuda_sync", "Context Sync", 1261, 14, stream=-1, correlation=7),
    _event("cpu_op", "aten::c", 1255, 55),
    _event("python_function", "loop", 1000, 400),
]  # fmt: skip


def _analysis(folder, events=EVENTS):
    folder.mkdir(exist_ok=True)
    first = {"ph": "M", "name": "process_name", "pid": 1, "args": {}}
    document = {"distributedInfo": {"rank": 0}, "traceEvents": [first, *events]}
    (folder / "trace.json").write_text(json.dumps(document, indent=1))
    return TraceAnalysis(trace_dir=str(folder))


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    return _analysis(tmp_path_factory.mktemp("traces"))


@pytest.fixture
def graph(analysis):
    graph, is_found = analysis.critical_path_analysis(0, "work", 0)
    assert is_found
    return graph


def _id(name):
    """Of the first event that is called so; a metadata event comes before them."""
    return 1 + [event["name"] for event in EVENTS].index(name)


def _node(graph, event, side):
    return graph.get_nodes_for_event(event)[0 if side else 1].idx


def _edge(graph, begin, end):
    return graph.edges[_node(graph, *begin), _node(graph, *end)]["object"]


def _number_of(correlation, category):
    return 1 + next(place for place, event in enumerate(EVENTS)
                    if event["args"].get("correlation") == correlation and event["cat"] == category)  # fmt: skip


def test_nodes_are_starts_and_ends_in_order_of_time(graph):
    assert [node.idx for node in graph.node_list] == list(range(len(graph.node_list)))
    assert len(graph.node_list) == 2 * 15 and all(isinstance(node, CPNode) for node in graph.node_list)
    times = [node.ts for node in graph.node_list]
    assert times == sorted(times)
    assert graph.get_nodes_for_event(_id("work")) == (None, None)
    start, end = graph.get_nodes_for_event(_id("cudaDeviceSynchronize"))
    assert (start.is_start, end.is_start, start.is_blocking, end.ts - start.ts) == (True, False, True, 40)
    assert repr(start) == f"CPNode(event: 15, node_id={start.idx}, ts=260.0, is_start=True, is_blocking=True)"


def test_operators_pass_their_time_on(graph):
    a, call = _id("aten::a"), _id("cudaLaunchKernel")
    inward, own = _edge(graph, (a, START), (call, START)), _edge(graph, (call, START), (call, END))
    outward = _edge(graph, (call, END), (a, END))
    assert [(edge.weight, edge.type) for edge in (inward, own, outward)] == [(10, OPERATOR), (10, OPERATOR), (80, OPERATOR)]
    assert graph.get_event_attribution_for_edge(own) == call
    assert set(graph.get_edges_attributed_to_event(a)) == {inward, outward}
    assert graph.get_events_for_edge(inward) == (a, call)
    gap = _edge(graph, (a, END), (_id("aten::b"), START))
    assert (gap.weight, gap.type, graph.get_event_attribution_for_edge(gap)) == (0, DEPENDENCY, None)
    b = _id("aten::b")
    between = _edge(graph, (_id("cudaEventRecord"), END), (_id("cudaStreamWaitEvent"), START))
    assert graph.get_event_attribution_for_edge(between) == b


def test_waiting_calls_have_no_time_of_their_own(graph):
    wait = _id("cudaDeviceSynchronize")
    own = CPEdge(_node(graph, wait, START), _node(graph, wait, END), 0, OPERATOR)
    assert _edge(graph, (wait, START), (wait, END)) == own
    for kernel in (_id("ncclDevKernel_AllReduce"), _id("third")):
        assert _edge(graph, (kernel, END), (wait, END)).type == SYNC
    assert not graph.has_edge(_node(graph, _id("second"), END), _node(graph, wait, END))


def test_kernels_follow_their_launch_or_the_one_before(graph):
    first, second, third, nccl = map(_id, ("first", "second", "third", "ncclDevKernel_AllReduce"))
    numbers = ((first, 1), (nccl, 4), (second, 5), (third, 6))
    launches = {kernel: _number_of(number, "cuda_runtime") for kernel, number in numbers}
    for kernel, delay in ((first, 20), (nccl, 20), (second, 16)):
        edge = _edge(graph, (launches[kernel], START), (kernel, START))
        assert (edge.weight, edge.type) == (delay, LAUNCH)
    edge = _edge(graph, (second, END), (third, START))
    assert (edge.weight, edge.type, graph.get_event_attribution_for_edge(edge)) == (2, KERNEL, second)
    assert not graph.has_edge(_node(graph, launches[third], START), _node(graph, third, START))
    assert _edge(graph, (first, END), (nccl, START)).type == SYNC


def test_every_launch_has_an_edge_if_the_environment_says_so(analysis, monkeypatch):
    monkeypatch.setenv("CRITICAL_PATH_ADD_ZERO_WEIGHT_LAUNCH_EDGE", "1")
    graph, _ = analysis.critical_path_analysis(0, "", None)
    edge = _edge(graph, (_number_of(6, "cuda_runtime"), START), (_id("third"), START))
    assert (edge.weight, edge.type) == (0, LAUNCH)
    assert CriticalPathAnalysis._is_zero_weight_launch_edge(edge)


def test_the_path_is_the_longest(graph):
    assert graph.critical_path_nodes == nx.dag_longest_path(graph, weight="weight")
    names = [graph._get_node_name(graph.node_list[node].ev_idx) for node in graph.critical_path_nodes]
    assert list(dict.fromkeys(names)) == [
        "aten::a", "cudaLaunchKernel", "aten::b", "cudaEventRecord", "cudaStreamWaitEvent", "second", "third",
        "cudaDeviceSynchronize", "aten::c",
    ]  # fmt: skip
    assert len(graph.critical_path_edges_set) == len(graph.critical_path_nodes) - 1
    assert graph.critical_path_events_set == {graph.node_list[node].ev_idx for node in graph.critical_path_nodes}
    assert sum(edge.weight for edge in graph.critical_path_edges_set) == 253


def test_breakdown_and_summary(graph, capsys):
    frame = graph.get_critical_path_breakdown()
    assert list(frame.columns) == [
        "event_idx", "duration", "type", "s_name", "cat", "pid", "tid", "stream", "index", "bound_by",
    ]  # fmt: skip
    assert len(frame) == len(graph.critical_path_edges_set) and not frame["bound_by"].isna().any()
    assert frame.groupby("bound_by")["duration"].sum().to_dict() == {
        "": 0, "cpu_bound": 135, "gpu_compute_bound": 100, "gpu_kernel_kernel_overhead": 2, "gpu_kernel_launch_overhead": 16,
    }  # fmt: skip
    summary = graph.summary()
    assert (summary.name, summary.index.name) == ("duration", "bound_by")
    assert summary["gpu_compute_bound"] == pytest.approx(100 * 100 / 253)
    assert capsys.readouterr().out == "Critical Path broken down by boundedness = (in % of duration)\n"
    nccl = {"type": OPERATOR.value, "stream": 20, "s_name": "ncclDevKernel_AllReduce"}
    assert bound_by(nccl) == "gpu_communication_bound"


def test_networkx_sees_the_graph_only_when_it_looks(graph):
    assert not graph._is_filled()
    graph.get_critical_path_breakdown()
    assert not graph._is_filled()
    assert len(graph) == 28 and graph._is_filled()
    assert graph.number_of_edges() == len(graph.edges) and nx.is_directed_acyclic_graph(graph)
    assert all(graph.edges[edge.begin, edge.end]["weight"] == edge.weight for edge in graph.critical_path_edges_set)
    copied = pickle.loads(pickle.dumps(graph))
    assert (list(copied.edges), copied.critical_path_nodes) == (list(graph.edges), graph.critical_path_nodes)


def test_what_if_changes_the_path(graph):
    second = _id("second")
    graph.edges[_node(graph, second, START), _node(graph, second, END)]["weight"] = 300
    assert graph.critical_path()
    assert second in graph.critical_path_events_set
    for begin, end in graph.edges:
        graph.edges[begin, end]["weight"] = 0
    graph.edges[_node(graph, _id("first"), START), _node(graph, _id("first"), END)]["weight"] = 1
    assert graph.critical_path()
    assert _id("first") in graph.critical_path_events_set and second not in graph.critical_path_events_set
    assert graph.critical_path_nodes == nx.dag_longest_path(graph, weight="weight")


def test_a_cycle_is_refused(graph):
    last, first = graph.critical_path_nodes[-1], graph.critical_path_nodes[0]
    graph.add_edge(last, first, weight=0, object=CPEdge(last, first))
    with pytest.raises(ValueError, match="cycles"):
        graph.critical_path()


def test_a_stream_that_waits_for_itself_is_refused(tmp_path):
    events = [dict(event, args=dict(event["args"])) for event in EVENTS]
    for event in events:
        if event["args"].get("stream") == 20:
            event["args"]["stream"] = event["tid"] = 7
    with pytest.raises(ValueError, match=r"from 'first' \(event 4\) to 'ncclDevKernel_AllReduce' \(event 10\)"):
        _analysis(tmp_path / "own", events).critical_path_analysis(0, "work", 0)


def test_overlaps_count_nothing_unless_they_are_errors(tmp_path, monkeypatch):
    events = [*EVENTS, _event("cuda_runtime", "cudaLaunchKernel", 1180, 2, correlation=9),
              _event("kernel", "early", 1270, 20, stream=7, correlation=9)]  # fmt: skip
    analysis = _analysis(tmp_path / "overlap", events)
    graph, _ = analysis.critical_path_analysis(0, "work", 0)
    begin, end = _node(graph, _id("third"), END), _node(graph, len(events), START)
    assert (graph.edges[begin, end]["weight"], graph.edges[begin, end]["object"].weight) == (0, -3)
    monkeypatch.setenv("CRITICAL_PATH_STRICT_NEGATIVE_WEIGHT_CHECKS", "1")
    with pytest.raises(ValueError, match="1 edges have negative weights"):
        analysis.critical_path_analysis(0, "work", 0)


def test_saved_and_restored(graph, analysis, tmp_path):
    begin, end = graph.critical_path_nodes[:2]
    graph.edges[begin, end]["weight"] = 77
    path = graph.save(str(tmp_path / "new" / "graph"))
    assert path == str(tmp_path / "new" / "graph.zip")
    assert zipfile.ZipFile(path).namelist() == ["about.json", "rows.csv", "graph.npz"]
    again = restore_cpgraph(path, analysis.t, 0)
    assert isinstance(again, CPGraph) and again.edges[begin, end]["weight"] == 77
    assert again.node_list == graph.node_list and dict(again.edges) == dict(graph.edges)
    assert again.edge_to_event_map == graph.edge_to_event_map and again.critical_path_nodes == graph.critical_path_nodes
    pd.testing.assert_frame_equal(again.get_critical_path_breakdown(), graph.get_critical_path_breakdown())
    assert again.critical_path() and again.critical_path_nodes == graph.critical_path_nodes
    with pytest.raises(ValueError, match="is of another trace"):
        restore_cpgraph(path, _analysis(tmp_path / "other", EVENTS[:5]).t, 0)
    (tmp_path / "no.zip").write_text("x")
    with pytest.raises(ValueError, match="no graph that CPGraph.save wrote"):
        restore_cpgraph(str(tmp_path / "no.zip"), analysis.t, 0)


def _overlaid(analysis, graph, folder, **asked):
    path = analysis.overlay_critical_path_analysis(0, graph, str(folder), **asked)
    assert path == str(folder / "overlaid_critical_path_trace.json")
    with gzip.open(path) as file:
        return json.load(file)["traceEvents"]


def test_overlay_of_the_path(analysis, graph, tmp_path):
    events = _overlaid(analysis, graph, tmp_path / "new")
    complete = [event for event in events if event["ph"] == "X"]
    assert sum(event["args"].get("critical", 0) for event in complete) == len(graph.critical_path_events_set)
    assert {event["cat"] for event in complete if "critical" not in event["args"]} == {"user_annotation", "python_function"}
    arrows = [event for event in events if event["ph"] in "sf"]
    drawn = [edge for edge in graph.critical_path_edges_set if edge.type in (DEPENDENCY, LAUNCH, SYNC)]
    assert len(arrows) == 2 * len(drawn) and {arrow["name"] for arrow in arrows} == {"critical_path"}
    to_host = [arrow for arrow in arrows if arrow["cat"] == SYNC.value]
    assert [(arrow["ph"], arrow["pid"], arrow["ts"]) for arrow in to_host] == [("s", 0, 1272), ("f", 1, 1300)]
    assert to_host[1]["bp"] == "e" and to_host[0]["args"] == {"weight": 0, "critical": True}


def test_overlay_of_the_graph(analysis, graph, tmp_path):
    events = _overlaid(analysis, graph, tmp_path, only_show_critical_events=False, show_all_edges=True)
    assert len([event for event in events if event["ph"] == "X"]) == len(EVENTS)
    arrows = [event for event in events if event["ph"] == "f"]
    assert len(arrows) == graph.number_of_edges()
    assert sum(arrow["args"]["critical"] for arrow in arrows) == len(graph.critical_path_edges_set)


def test_kernels_that_wait_for_each_other_are_found_in_the_file(analysis, graph):
    """As a linker of execution traces asks."""
    events = analysis.t.get_raw_trace_for_one_rank(0)["traceEvents"]
    pairs = {
        tuple(events[event]["name"] for event in graph.get_events_for_edge(edge))
        for edge in graph.critical_path_edges_set
        if edge.type == CPEdgeType.SYNC_DEPENDENCY
    }
    assert pairs == {("third", "cudaDeviceSynchronize")}


def test_what_is_not_there(analysis, caplog):
    with caplog.at_level(logging.ERROR):
        assert analysis.critical_path_analysis(0, "nothing", 0) is None
    assert "could not find annotation nothing" in caplog.text
    with pytest.raises(ValueError, match="no instance 3 to 3 of 'work': the last is 0"):
        analysis.critical_path_analysis(0, "work", 3)
    with pytest.raises(ValueError, match="instance_id"):
        analysis.critical_path_analysis(0, "work", "first")
    with pytest.raises(ValueError):
        analysis.critical_path_analysis(5, "work", 0)


def test_a_window_without_links(tmp_path):
    events = [_event("user_annotation", "work", 0, 10), _event("cpu_op", "alone", 1, 2)]
    graph, is_found = _analysis(tmp_path / "empty", events[:1]).critical_path_analysis(0, "work", 0)
    assert not is_found and graph.get_critical_path_breakdown() is None and len(graph.summary()) == 0 and len(graph) == 0
    graph, is_found = _analysis(tmp_path / "alone", events).critical_path_analysis(0, "work", 0)
    assert is_found and graph.critical_path_nodes == [0, 1]


def test_the_users_frame_stays_as_it_is(analysis):
    columns = list(analysis.t.get_trace(0).columns)
    graph, _ = analysis.critical_path_analysis(0, "work", None)
    assert list(analysis.t.get_trace(0).columns) == columns
    assert {"depth", "parent"} <= set(graph.trace_df.columns)
    assert graph.t.get_trace(0) is graph.trace_df
    assert graph.t_full is analysis.t and graph.full_trace_df is analysis.t.get_trace(0)
    assert graph.trace_df.loc[_id("cudaLaunchKernel"), "parent"] == _id("aten::a")


@pytest.mark.parametrize("annotation, instance", [("ProfilerStep", 0), ("ProfilerStep", (0, 1)), ("", None)])
def test_the_path_is_networkxs(training, annotation, instance):
    graph, is_found = TraceAnalysis(trace_dir=training).critical_path_analysis(0, annotation, instance)
    assert is_found and graph.critical_path_nodes == nx.dag_longest_path(graph, weight="weight")


ALEXNET = "[param|pytorch.model.alex_net|0|0|0|measure|forward]"


@pytest.mark.parametrize(
    "trace, annotation, instance, nodes, edges, path",
    [
        ("critical_path/end_to_end/simple_add/input", ALEXNET, 1, 414, 415, (315, 159, 241724)),
        ("critical_path/end_to_end/simple_add/input", ALEXNET, 0, 436, 437, (337, 170, 294696)),
        ("critical_path/end_to_end/simple_add/input", "", 0, 1428, 1452, (1160, 600, 41435234)),
        ("critical_path/alexnet", ALEXNET, 1, 418, 421, (149, 77, 35834)),
        ("critical_path/cuda_event_sync", "ProfilerStep", 0, 54, 57, (40, 22, 2401)),
        ("critical_path/cuda_event_sync_multi_stream", "", None, 78, 82, (59, 31, 1178)),
        ("amd_trace", "ProfilerStep", 0, 204, 202, (82, 41, 7448)),
        ("trace_diff/test", "ProfilerStep", 1, 17712, 17707, (3164, 1582, 117122)),
    ],
)
def test_htas_own_graphs(trace, annotation, instance, nodes, edges, path):
    """HTA 0.5.0's numbers."""
    folder = hta_jobs.SHARED / "hta" / trace
    if not folder.is_dir():
        pytest.skip("the shared traces are not here")
    analysis = TraceAnalysis(trace_dir=str(folder))
    graph, _ = analysis.critical_path_analysis(min(analysis.t.traces), annotation, instance)
    length = sum(graph.edges[edge.begin, edge.end]["weight"] for edge in graph.critical_path_edges_set)
    assert (len(graph), graph.number_of_edges()) == (nodes, edges)
    assert (len(graph.critical_path_nodes), len(graph.critical_path_events_set), length) == path
