"""The critical path of a part of a trace: the longest chain of work on host and device in it."""

from __future__ import annotations

import copy
import json
import os
import zipfile
from collections import namedtuple
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, Dict, List, Optional, Set, Tuple, Union

import numpy as np
import pandas as pd

from spotter.hta.configs import env_options
from spotter.hta.configs.config import logger
from spotter.hta.utils.utils import is_comm_kernel

try:
    import networkx as nx
except ImportError as error:
    raise ImportError("the graph of a critical path needs networkx: pip install spotter-trace[hta]") from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spotter.hta.common.trace import Trace


class CPEdgeType(Enum):
    """What an edge stands for."""

    OPERATOR_KERNEL = "critical_path_operator"
    """The time of an operator, a call or a kernel."""
    DEPENDENCY = "critical_path_dependency"
    """One comes after the other; no time."""
    KERNEL_LAUNCH_DELAY = "critical_path_kernel_launch_delay"
    """From the start of a launch to that of its kernel, which found the stream idle."""
    KERNEL_KERNEL_DELAY = "critical_path_kernel_kernel_delay"
    """From the end of a kernel to the start of the stream's next."""
    SYNC_DEPENDENCY = "critical_path_sync_dependency"
    """A wait for a kernel, on the host or on another stream; no time."""


@dataclass(repr=False)
class CPNode:
    """The start or the end of an event. `ts` is in us, `idx` the node's place in `CPGraph.node_list`."""

    idx: int = -1
    ev_idx: int = -1
    ts: int = 0
    is_start: bool = False
    is_blocking: bool = False

    def __repr__(self) -> str:
        return (
            f"CPNode(event: {self.ev_idx}, node_id={self.idx}, ts={self.ts}, is_start={self.is_start}, "
            f"is_blocking={self.is_blocking})"
        )


@dataclass(frozen=True)
class CPEdge:
    """From node `begin` to node `end`; `weight` in us."""

    begin: int
    end: int
    weight: int = 0
    type: CPEdgeType = CPEdgeType.OPERATOR_KERNEL


DEFAULT_EDGE_TYPES_IN_VIZ: Set[CPEdgeType] = {
    CPEdgeType.DEPENDENCY,
    CPEdgeType.KERNEL_LAUNCH_DELAY,
    CPEdgeType.SYNC_DEPENDENCY,
}
"""Edges that an overlaid trace has unless all are asked for."""

_TYPES = list(CPEdgeType)
_OPERATOR, _DEPENDENCY, _LAUNCH, _KERNEL_KERNEL, _SYNC = range(len(_TYPES))
_HOST_CATEGORIES = ("cpu_op", "cuda_runtime", "cuda_driver")
_FORMAT = 1

_Edges = namedtuple("_Edges", "begin end weight type event")
_Edges.__doc__ = """Arrays in the order in which edges were found: nodes, us, places in `_TYPES`, and the row whose time an edge is
(-1: none)."""

PROFILE_TIMES: Dict[str, float] = {}
"""What the last graph took to build, in s, by function."""


def timeit(func):
    """Notes in `PROFILE_TIMES` how long each call takes."""

    @wraps(func)
    def timed(*args, **kwargs):
        begin = time.perf_counter()
        try:
            return func(*args, **kwargs)
        finally:
            PROFILE_TIMES[func.__name__] = time.perf_counter() - begin

    return timed


def _clipped(df: pd.DataFrame, symbols: List[str], annotation: str, instances: Tuple[int, int]) -> Optional[pd.DataFrame]:
    """The rows of the window that the annotation's instances span: host rows that begin in it, and device rows that were launched in
    it, sorted by id. None: nothing has that name."""
    ts, dur = df["ts"].to_numpy(), df["dur"].to_numpy()
    if annotation:
        ids = [place for place, symbol in enumerate(symbols) if annotation in symbol]
        named = np.flatnonzero(df["name"].isin(ids).to_numpy())
        if not named.size:
            return None
        chosen = named[instances[0] : instances[1] + 1]
        if not chosen.size:
            raise ValueError(f"instance {instances}: {annotation!r} has {named.size} in the trace, the first is 0")
        begin, end = ts[chosen].min(), (ts[chosen] + dur[chosen]).max()
    else:
        begin, end = ts.min(), (ts + dur).max()
    begins_in_it = (ts >= begin) & (ts <= end) & (dur > 0)
    stream, partner = df["stream"].to_numpy(), df["index_correlation"].to_numpy()
    launch = df.index.get_indexer(partner)
    launched = (stream != -1) & (partner > 0) & (launch >= 0) & begins_in_it[launch] & (partner[launch] == df.index.to_numpy())
    waits = (df["name"] == _id_of(symbols, "Stream Wait Event")).to_numpy() & (stream != -1)
    return df[((stream == -1) & begins_in_it) | launched | waits].sort_index(kind="stable")


def _ids_of(symbols: List[str], wanted: Sequence[str]) -> List[int]:
    return [symbols.index(symbol) for symbol in wanted if symbol in symbols]


def _id_of(symbols: List[str], symbol: str) -> int:
    return symbols.index(symbol) if symbol in symbols else -1


_Nodes = namedtuple("_Nodes", "row ts is_start is_blocking start_of end_of")
_Nodes.__doc__ = """By node: the row of its event, us, and flags. By row: the nodes of its start and of its end (-1: it has none)."""


def _nodes(frame: pd.DataFrame, symbols: List[str]) -> _Nodes:
    """A start and an end for each host operator and call and each row of a device, in order of time."""
    is_host = frame["cat"].isin(_ids_of(symbols, _HOST_CATEGORIES))
    rows = np.flatnonzero(is_host | ((frame["stream"] != -1) & (frame["index_correlation"] >= 0)))
    ts, dur = frame["ts"].to_numpy()[rows], frame["dur"].to_numpy()[rows]
    row, at = np.concatenate([rows, rows]), np.concatenate([ts, ts + dur])
    is_end = np.repeat([False, True], rows.size)
    order = np.lexsort((is_end, row, at))
    row, is_start = row[order], ~is_end[order]
    numbers = np.arange(row.size)
    start_of, end_of = np.full((2, len(frame)), -1)
    start_of[row[is_start]], end_of[row[~is_start]] = numbers[is_start], numbers[~is_start]
    is_blocking = frame["name"].isin(_ids_of(symbols, CPGraph.BLOCKING_SYNC_CALLS)).to_numpy()[row]
    return _Nodes(row, at[order], is_start, is_blocking, start_of, end_of)


_Stacks = namedtuple("_Stacks", "row is_start thread parent depth")
_Stacks.__doc__ = """The starts and ends of the host's events as a walk through each thread's call tree: rows, flags and threads. By row:
the row that it was called from (-1: none) and how many those are (-1: it is in no thread)."""


def _stacks(frame: pd.DataFrame) -> _Stacks:
    """An end belongs to what began last and has not ended, whichever event's end it is; so events that overlap in part are in one
    another, too."""
    stream = frame["stream"].to_numpy()
    thread = frame.groupby(["pid", "tid"]).ngroup().to_numpy()
    has_device_rows = np.zeros(thread.max(initial=-1) + 1, bool)
    has_device_rows[thread[stream >= 0]] = True
    rows = np.flatnonzero(~has_device_rows[thread])
    ts, dur = frame["ts"].to_numpy()[rows], frame["dur"].to_numpy()[rows]
    row, is_start = np.concatenate([rows, rows]), np.repeat([True, False], rows.size)
    longest_first = np.concatenate([-dur, dur])
    order = np.lexsort((np.where(is_start, row, -row), longest_first, is_start, np.concatenate([ts, ts + dur]), thread[row]))
    row, is_start = row[order], is_start[order]

    level = np.cumsum(np.where(is_start, 1, -1)) - is_start
    by_level = np.argsort(level, kind="stable")
    starts, ends = by_level[0::2], by_level[1::2]
    row[ends] = row[starts]
    parent, depth = np.full((2, len(frame)), -1)
    depth[row[starts]] = level[starts]
    keys = level[starts] * row.size + starts
    below = level[starts] > 0
    caller = np.searchsorted(keys, keys[below] - row.size) - 1
    parent[row[starts][below]] = row[starts[caller]]
    return _Stacks(row, is_start, thread[row], parent, depth)


def _host_edges(nodes: _Nodes, stacks: _Stacks) -> _Edges:
    """From each start or end of a thread to its next: time inside of an operator, none between the outermost."""
    node = np.where(stacks.is_start, nodes.start_of[stacks.row], nodes.end_of[stacks.row])
    row, is_start, thread, node = (array[node >= 0] for array in (stacks.row, stacks.is_start, stacks.thread, node))
    level = np.cumsum(np.where(is_start, 1, -1))
    before = np.flatnonzero(thread[:-1] == thread[1:])
    after = before + 1
    begin, end = node[before], node[after]
    is_gap = is_start[after] & (level[before] == 0)
    is_zero = is_gap | (~is_start[after] & nodes.is_blocking[end])
    inner = np.where(is_start[before], row[before], np.where(is_start[after], stacks.parent[row[before]], row[after]))
    return _Edges(
        begin,
        end,
        np.where(is_zero, 0, nodes.ts[end] - nodes.ts[begin]),
        np.where(is_gap, _DEPENDENCY, _OPERATOR),
        np.where(is_gap, -1, inner),
    )


def _launches(full: pd.DataFrame, query: str) -> pd.DataFrame:
    """The calls that launched a kernel, a copy or a fill of the trace: `kernel` is its id, `stream` and `gpu` are where it ran."""
    calls = full.query(query)
    place = full.index.get_indexer(calls["index_correlation"])
    calls, device = calls[place >= 0], full.iloc[place[place >= 0]]
    return pd.DataFrame(
        {
            "launch": calls.index,
            "ts": calls["ts"].to_numpy(),
            "pid": calls["pid"].to_numpy(),
            "tid": calls["tid"].to_numpy(),
            "launch_correlation": calls["correlation"].to_numpy(),
            "kernel": device.index,
            "stream": device["stream"].to_numpy(np.int64),
            "gpu": device["pid"].to_numpy(),
        }
    ).sort_values("ts", kind="stable", ignore_index=True)


def _queue_lengths(full: pd.DataFrame, launches: pd.DataFrame) -> pd.Series:
    """How many rows of its stream had been launched and had not begun, by id: right after a launch, or right after a device row
    began."""
    by_number = launches[["launch_correlation", "launch", "ts"]].drop_duplicates("launch_correlation", keep="last")
    begun = full.loc[full["stream"] != -1, ["correlation", "ts", "stream"]].rename_axis("id").reset_index()
    pairs = begun.merge(by_number, left_on="correlation", right_on="launch_correlation", suffixes=("", "_of_launch"))
    ids = np.concatenate([pairs["launch"], pairs["id"]])
    at = np.concatenate([pairs["ts_of_launch"], pairs["ts"]])
    step = np.repeat([1, -1], len(pairs))
    stream = np.tile(pairs["stream"].to_numpy(), 2)
    order = np.lexsort((-step, at, stream))
    total = np.cumsum(step[order])
    lengths = pd.Series(total, index=ids[order])
    return lengths[~lengths.index.duplicated(keep="last")]


def _event_records(full: pd.DataFrame, symbols: List[str], launches: pd.DataFrame) -> pd.DataFrame:
    """The calls of cudaEventRecord that something waited for, with the last launch before each on its event's stream:
    `correlation_launch_event`, `index_previous_launch` and `kernel` (NaN: none), sorted by `ts`."""
    waits = full[full["wait_on_cuda_event_record_corr_id"] > 0]
    events = pd.DataFrame(
        {
            "correlation": waits["wait_on_cuda_event_record_corr_id"].to_numpy(np.int64),
            "stream": waits["wait_on_stream"].to_numpy(np.int64),
            "gpu": waits["pid"].to_numpy(),
        }
    ).drop_duplicates("correlation")
    records = full.loc[full["name"] == _id_of(symbols, "cudaEventRecord"), ["pid", "tid", "ts", "correlation"]]
    records = records.astype({"correlation": np.int64}).merge(events, on="correlation")
    names = {"launch": "index_previous_launch", "launch_correlation": "correlation_launch_event"}
    return _with_launch(records, launches, ["stream", "gpu"], "backward").rename(columns=names)


def _with_launch(calls: pd.DataFrame, launches: pd.DataFrame, keys: List[str], direction: str) -> pd.DataFrame:
    """Each call with the nearest launch that has the same keys."""
    columns = ["ts", *keys, "launch", "launch_correlation", "kernel"]
    return pd.merge_asof(
        calls.sort_values("ts", kind="stable"), launches[columns], on="ts", by=keys, direction=direction  # type: ignore[arg-type]
    )

class _DeviceRows:
    """The rows of devices and the waits for them, in the order in which they began or were over."""

    def __init__(self, frame: pd.DataFrame, symbols: List[str], nodes: _Nodes) -> None:
        stream, partner = frame["stream"].to_numpy(np.int64), frame["index_correlation"].to_numpy()
        is_wait = (frame["cat"] == _id_of(symbols, "cuda_sync")).to_numpy()
        waits_on_host = frame["name"].isin(_ids_of(symbols, ("Event Sync", "Context Sync"))).to_numpy()
        rows = np.flatnonzero(((stream != -1) | waits_on_host) & (partner >= 0))
        at = frame["ts"].to_numpy() + np.where(is_wait, frame["dur"].to_numpy(), 0)
        self.row = rows[np.argsort(at[rows], kind="stable")]
        self.call = frame.index.get_indexer(partner[self.row])
        """The row of the launch, or of the call that waited; -1: it is not in the frame."""
        self.name = frame["name"].to_numpy()[self.row]
        self.stream, self.streams = pd.factorize(stream[self.row])
        self.kernels = np.flatnonzero(~is_wait[self.row])
        """Places of what is no wait."""
        self._end_of = nodes.end_of
        self._order = np.argsort(self.stream[self.kernels], kind="stable")
        self._keys = (self.stream[self.kernels] * self.row.size + self.kernels)[self._order]

    def last_end(self, stream: np.ndarray, place: np.ndarray) -> np.ndarray:
        """The end of a stream's last kernel before a place: a node; -1: none."""
        return _last_before(self._keys, self._end_of[self.row[self.kernels[self._order]]], stream * self.row.size + place, self.row.size)


def _last_before(keys: np.ndarray, values: np.ndarray, asked: np.ndarray, size: int) -> np.ndarray:
    """The value of the last key below each of `asked` that is in the same multiple of `size`; -1: none. `keys` are sorted."""
    place = np.searchsorted(keys, asked) - 1
    found = np.flatnonzero(place >= 0)
    found = found[keys[place[found]] // size == asked[found] // size]
    result = np.full(asked.size, -1)
    result[found] = values[place[found]]
    return result


def _device_edges(
    frame: pd.DataFrame, full: pd.DataFrame, symbols: List[str], nodes: _Nodes, launches: pd.DataFrame
) -> _Edges:
    """Of each device row, in order of time: how long it took, what it waited for, and its launch or the stream's one before it."""
    device = _DeviceRows(frame, symbols, nodes)
    lengths = _queue_lengths(full, launches)
    end_of_record = _kernel_ends(frame, nodes, _event_records(full, symbols, launches))
    places: List[np.ndarray] = []
    found: List[_Edges] = []

    def add(place: np.ndarray, begin: np.ndarray, end: np.ndarray, weight: Any, kind: int, event: Any = -1) -> None:
        is_edge = (begin >= 0) & (end >= 0)
        places.append(place[is_edge])
        columns = np.broadcast_arrays(begin, end, weight, kind, event)
        found.append(_Edges(*(column[is_edge] for column in columns)))

    def waits(name: str) -> np.ndarray:
        return np.flatnonzero(device.name == _id_of(symbols, name))

    def waited_for(place: np.ndarray) -> np.ndarray:
        record = frame["wait_on_cuda_event_record_corr_id"].to_numpy()[device.row[place]]
        return end_of_record.reindex(record, fill_value=-1).to_numpy(np.int64)

    place = waits("Stream Sync")
    add(place, device.last_end(device.stream[place], place), nodes.end_of[device.call[place]], 0, _SYNC)
    place = np.repeat(waits("Context Sync"), device.streams.size)
    stream = np.tile(np.arange(device.streams.size), place.size // max(device.streams.size, 1))
    add(place, device.last_end(stream, place), nodes.end_of[device.call[place]], 0, _SYNC)
    place = waits("Event Sync")
    add(place, waited_for(place), nodes.end_of[device.call[place]], 0, _SYNC)

    place = waits("Stream Wait Event")
    source, waiting = waited_for(place), _next_kernels(frame, full, device, place, launches)
    known = (source >= 0) & (waiting >= 0)
    place, source, waiting = place[known], source[known], waiting[known]
    order = np.lexsort((place, waiting))
    keys = (waiting * device.row.size + place)[order]

    place = device.kernels
    row = device.row[place]
    start, end, launch = nodes.start_of[row], nodes.end_of[row], nodes.start_of[device.call[place]]
    launch[device.call[place] < 0] = -1
    source = _last_before(keys, source[order], row * device.row.size + place, device.row.size)
    before = device.last_end(device.stream[place], place)
    launched_at = np.where(launch >= 0, nodes.ts[launch], np.nan)
    freed_at = np.where(before >= 0, nodes.ts[before], -np.inf)
    ready_at = np.where(source >= 0, nodes.ts[source], -np.inf)
    partner = frame["index_correlation"].to_numpy()[row]
    was_idle = (lengths.reindex(partner) == 1).to_numpy() & (lengths.reindex(frame.index[row]) == 0).to_numpy()
    by_launch = was_idle & (freed_at < launched_at) & (ready_at < launched_at)
    by_kernel = ~by_launch & (before >= 0) & (ready_at < freed_at)
    add(place, start, end, nodes.ts[end] - nodes.ts[start], _OPERATOR, row)
    add(place, source, start, 0, _SYNC)
    add(place, np.where(by_launch, launch, -1), start, nodes.ts[start] - launched_at, _LAUNCH)
    add(place, np.where(by_kernel, before, -1), start, nodes.ts[start] - freed_at, _KERNEL_KERNEL, nodes.row[before])
    if env_options.critical_path_add_zero_weight_launch_edges():
        add(place, np.where(by_launch, -1, launch), start, 0, _LAUNCH)
    lonely = place[~by_launch & ~by_kernel & (source < 0)]
    order = np.argsort(np.concatenate(places), kind="stable")
    return _Edges(*(np.concatenate(column)[order] for column in zip(*found)))


def _kernel_ends(frame: pd.DataFrame, nodes: _Nodes, records: pd.DataFrame) -> pd.Series:
    """The node that ends the kernel before each call of cudaEventRecord, by the call's correlation; -1: none."""
    row = frame.index.get_indexer(records["kernel"])
    return pd.Series(np.where(row >= 0, nodes.end_of[row], -1), records["correlation"]).groupby(level=0).last()


def _next_kernels(
    frame: pd.DataFrame, full: pd.DataFrame, device: _DeviceRows, place: np.ndarray, launches: pd.DataFrame
) -> np.ndarray:
    """The rows of the kernels that calls of cudaStreamWaitEvent hold up: what their threads launched next in the streams; -1: none."""
    partner = frame["index_correlation"].to_numpy()[device.row[place]]
    call = full.index.get_indexer(partner)
    calls = full.iloc[call][["ts", "pid", "tid"]]
    calls = calls.assign(stream=device.streams[device.stream[place]], place=np.arange(place.size))[call >= 0]
    kernels = _with_launch(calls, launches, ["pid", "tid", "stream"], "forward")
    result = np.full(place.size, -1)
    result[kernels["place"]] = frame.index.get_indexer(kernels["kernel"])
    return result


def _distinct(edges: _Edges) -> _Edges:
    """Of edges between the same two nodes the last counts, in the place of the first."""
    key = edges.begin * (edges.end.max(initial=0) + 1) + edges.end
    _, first = np.unique(key, return_index=True)
    _, last = np.unique(key[::-1], return_index=True)
    last = key.size - 1 - last[np.argsort(first, kind="stable")]
    return _Edges(*(column[last] for column in edges))


def _longest_path(nodes: List[int], edges: _Edges, weight: np.ndarray) -> List[int]:
    """As `networkx.dag_longest_path` finds it, which decides between paths of the same length by the order of nodes and edges.

    Raises:
        ValueError: there is a cycle.
    """
    size = max(nodes, default=-1) + 1
    waits_for = np.bincount(edges.end, minlength=size).tolist()
    successors = _neighbours(edges.begin, edges.end, size)
    order = [node for node in nodes if not waits_for[node]]
    for node in order:
        for successor in successors[node]:
            waits_for[successor] -= 1
            if not waits_for[successor]:
                order.append(successor)
    if len(order) < len(nodes):
        raise ValueError(_CYCLES)
    predecessors = _neighbours(edges.end, edges.begin, size)
    weights = _neighbours(edges.end, weight, size)
    length: List[float] = [0] * size
    before = list(range(size))
    for node in order:
        best, origin = -1.0, node
        for predecessor, time_between in zip(predecessors[node], weights[node]):
            total = length[predecessor] + time_between
            if total > best and total >= 0:
                best, origin = total, predecessor
        length[node], before[node] = max(best, 0), origin
    path = [max(order, key=length.__getitem__)] if order else []
    while path and before[path[-1]] != path[-1]:
        path.append(before[path[-1]])
    return path[::-1]


def _neighbours(of: np.ndarray, values: np.ndarray, size: int) -> List[List[Any]]:
    order = np.argsort(of, kind="stable")
    ends = np.cumsum(np.bincount(of, minlength=size))[:-1]
    return [part.tolist() for part in np.split(values[order], ends)]


_CYCLES = "the graph has cycles; networkx.simple_cycles(graph) lists them"


def _filled_on_use(*names: str) -> property:
    """Of the dicts that networkx keeps: they are made of the arrays when one of them is first asked for."""

    def get(graph: CPGraph) -> Any:
        if names[0] not in graph.__dict__:
            graph._fill()
        return graph.__dict__[names[0]]

    def put(graph: CPGraph, value: Any) -> None:
        graph.__dict__.update(dict.fromkeys(names, value))

    return property(get, put)


class CPGraph(nx.DiGraph):
    """What waits for what in a window of a rank's trace: a node for each start and each end of an event, and the longest path
    through them. Nodes are numbers, an edge has `weight` (us; change it and call `critical_path` again) and `object` (`CPEdge`, with
    the weight that was measured: breakdown, summary and overlay go by that).

    The edges are those of HTA 0.5.0, with what makes its answers hard to read: the path is the longest chain anywhere in the window,
    not one from its start to its end; time between a thread's outermost operators counts nothing; of a graph launch only the last
    kernel is there. Where HTA leaves equal times in the order that a sort happens to give, ids decide here, and launches come before
    starts. `spotter.critical_path(path)` is the table without these faults: it goes from a step's start to the end of its device work.

    Attributes: `critical_path_nodes` (list), `critical_path_events_set`, `critical_path_edges_set`, `node_list`, `trace_df` (the
    window's rows), `full_trace_df`, `t`, `t_full`, `rank`, `sym_table`, `symbol_table`, `event_to_start_node_map`,
    `event_to_end_node_map`, `edge_to_event_map` ({(begin, end): event whose time it is}).
    """

    BLOCKING_SYNC_CALLS: List[str] = [
        "cudaDeviceSynchronize",
        "cudaStreamSynchronize",
        "cudaEventQuery",
        "cudaEventSynchronize",
        "cudaMemcpy",
        "cudaMemcpyAsync",
    ]

    _node = _filled_on_use("_node")
    _adj = _succ = _filled_on_use("_adj", "_succ")
    _pred = _filled_on_use("_pred")

    def __init__(self, t: Optional["Trace"], t_full: "Trace", rank: int, G=None) -> None:
        """Args:
            t: a trace whose frame is the window; None: the graph is empty.
            t_full: the trace that it was cut from.
            G: a graph to copy, in place of building one.
        """
        super().__init__(G)
        self.rank: int = rank
        self.t: Optional[Trace] = t
        self.t_full: Trace = t_full
        self.full_trace_df: pd.DataFrame = t_full.get_trace(rank)
        self.symbol_table = (t or _only(t_full, rank, self.full_trace_df)).symbol_table
        self.sym_table: List[str] = self.symbol_table.get_sym_table()
        self.critical_path_nodes: List[int] = []
        self._ids = np.array([], np.int64)
        self._nodes: _Nodes = _nodes(self.full_trace_df.iloc[:0], self.sym_table)
        self._found = _Edges(*np.zeros((5, 0), np.int64))
        if t is not None:
            self.trace_df: pd.DataFrame = t.get_trace(rank)
            if G is None:
                self._build()

    def _build(self) -> None:
        self._ids = self.trace_df.index.to_numpy(np.int64)
        self._nodes = _nodes(self.trace_df, self.sym_table)
        stacks = _stacks(self.trace_df)
        self._name_callers(stacks)
        launches = _launches(self.full_trace_df, self.symbol_table.get_runtime_launch_events_query())
        parts = (
            _host_edges(self._nodes, stacks),
            _device_edges(self.trace_df, self.full_trace_df, self.sym_table, self._nodes, launches),
        )
        self._take(_distinct(_Edges(*map(np.concatenate, zip(*parts)))))

    def _name_callers(self, stacks: _Stacks) -> None:
        """Columns `depth` and `parent`: ids of callers on the host, of launches on the device."""
        on_device = (self.trace_df["stream"] != -1).to_numpy()
        parent = np.where(stacks.parent >= 0, self._ids[stacks.parent], -1) if len(self._ids) else stacks.parent
        if not env_options.disable_call_graph_depth():
            self.trace_df["depth"] = stacks.depth
        self.trace_df["parent"] = np.where(on_device, self.trace_df["index_correlation"].to_numpy(), parent)

    def _take(self, edges: _Edges) -> None:
        """The graph becomes one of these edges, once networkx wants it."""
        self._found = edges
        for name in ("_node", "_adj", "_succ", "_pred"):
            self.__dict__.pop(name, None)

    def _fill(self) -> None:
        edges = self._found
        nodes: Dict[int, Dict[str, Any]] = {node: {} for node in self._linked_nodes()}
        successors: Dict[int, Dict[int, Any]] = {node: {} for node in nodes}
        predecessors: Dict[int, Dict[int, Any]] = {node: {} for node in nodes}
        for edge, weight in zip(_edge_objects(edges), _counted(edges.weight).tolist()):
            data = {"weight": weight, "object": edge}
            successors[edge.begin][edge.end] = predecessors[edge.end][edge.begin] = data
        self.__dict__.update(_node=nodes, _adj=successors, _succ=successors, _pred=predecessors)

    def _linked_nodes(self) -> List[int]:
        """Those with edges, as they come in these."""
        ends = np.stack([self._found.begin, self._found.end], axis=1).ravel()
        distinct, first = np.unique(ends, return_index=True)
        return distinct[np.argsort(first, kind="stable")].tolist()

    @cached_property
    def node_list(self) -> List[CPNode]:
        nodes = self._nodes
        events = self._ids[nodes.row]
        columns = (column.tolist() for column in (events, nodes.ts, nodes.is_start, nodes.is_blocking))
        return [CPNode(number, *values) for number, values in enumerate(zip(*columns))]

    @cached_property
    def event_to_start_node_map(self) -> Dict[int, int]:
        return self._by_event(self._nodes.is_start)

    @cached_property
    def event_to_end_node_map(self) -> Dict[int, int]:
        return self._by_event(~self._nodes.is_start)

    @cached_property
    def edge_to_event_map(self) -> Dict[Tuple[int, int], int]:
        begin, end, _, _, row = (column[self._found.event >= 0] for column in self._found)
        return dict(zip(zip(begin.tolist(), end.tolist()), self._ids[row].tolist()))

    @cached_property
    def critical_path_events_set(self) -> Set[int]:
        return set(self._ids[self._nodes.row[self.critical_path_nodes]].tolist())

    @cached_property
    def critical_path_edges_set(self) -> Set[CPEdge]:
        return set(self._path_edges())

    def _by_event(self, is_asked: np.ndarray) -> Dict[int, int]:
        nodes = np.flatnonzero(is_asked)
        return dict(zip(self._ids[self._nodes.row[nodes]].tolist(), nodes.tolist()))

    def _path_edges(self) -> List[CPEdge]:
        pairs = zip(self.critical_path_nodes, self.critical_path_nodes[1:])
        if "_adj" in self.__dict__:
            return [self._adj[begin][end]["object"] for begin, end in pairs]
        edges = self._found
        key = edges.begin * self._nodes.row.size + edges.end
        order = np.argsort(key)
        path = np.array(self.critical_path_nodes)
        wanted = path[:-1] * self._nodes.row.size + path[1:]
        return _edge_objects(_Edges(*(column[order[np.searchsorted(key[order], wanted)]] for column in edges)))

    def critical_path(self) -> bool:
        """Finds it, again after weights were changed. False: nothing in the window is linked.

        Raises:
            ValueError: the graph has cycles, or the trace contradicts itself: a stream waits for itself, or, if the environment
                forbids that (CRITICAL_PATH_STRICT_NEGATIVE_WEIGHT_CHECKS), something begins before what it waits for.
        """
        self._check()
        if "_adj" in self.__dict__:
            try:
                path = nx.dag_longest_path(self, weight="weight")
            except nx.NetworkXUnfeasible as error:
                raise ValueError(_CYCLES) from error
        else:
            path = _longest_path(self._linked_nodes(), self._found, _counted(self._found.weight))
        self.critical_path_nodes = path
        for name in ("critical_path_events_set", "critical_path_edges_set"):
            self.__dict__.pop(name, None)
        return bool(path)

    def _check(self) -> None:
        edges = self._found
        negative = np.flatnonzero(edges.weight < (-1 if env_options.critical_path_strict_negative_weight_check() else -np.inf))
        if negative.size:
            raise ValueError(
                f"{negative.size} edges have negative weights, the first is {self._told(negative[0])}: what waits for something "
                "would begin before it is over"
            )
        stream = self.trace_df["stream"].to_numpy()[self._nodes.row] if edges.begin.size else np.array([])
        is_own = (edges.type == _SYNC) & (stream[edges.begin] == stream[edges.end]) if edges.begin.size else np.array([])
        own = np.flatnonzero(is_own)
        if own.size:
            raise ValueError(f"{own.size} waits are of a stream for itself, the first is {self._told(own[0])}")

    def _told(self, edge: int) -> str:
        """An edge in words."""
        events = self._ids[self._nodes.row[[self._found.begin[edge], self._found.end[edge]]]]
        names = [f"{self._get_node_name(event)!r} (event {event})" for event in events]
        return f"from {names[0]} to {names[1]}, {self._found.weight[edge]:g} us"

    def get_nodes_for_event(self, ev_id: int) -> Tuple[Optional[CPNode], Optional[CPNode]]:
        """Its start and its end; None, None: it has no nodes."""
        start, end = self.event_to_start_node_map.get(ev_id), self.event_to_end_node_map.get(ev_id)
        return (
            None if start is None else self.node_list[start],
            None if end is None else self.node_list[end],
        )

    def get_events_for_edge(self, edge: CPEdge) -> Tuple[int, int]:
        """The events of its two nodes."""
        begin, end = self._ids[self._nodes.row[[edge.begin, edge.end]]].tolist()
        return begin, end

    def get_event_attribution_for_edge(self, edge: CPEdge) -> Optional[int]:
        """The event whose time the edge is: of an operator's or kernel's, and of a delay between kernels the one before."""
        return self.edge_to_event_map.get((edge.begin, edge.end))

    def get_edges_attributed_to_event(self, ev_idx: int) -> List[CPEdge]:
        """The edges that are an event's time."""
        row = np.flatnonzero(self._ids == ev_idx)
        return _edge_objects(_Edges(*(column[np.isin(self._found.event, row)] for column in self._found)))

    def get_critical_path_breakdown(self) -> Optional[pd.DataFrame]:
        """A row for each edge of the path, from its start: `event_idx` (NaN: no event's time), `duration` (us), `type`, of the event
        `s_name`, `cat`, `pid`, `tid`, `stream` and `index`, and `bound_by`. None: there is no path."""
        if not self.critical_path_nodes:
            return None
        if "s_name" not in self.trace_df.columns:
            decode_symbol_id_to_symbol_name(self.trace_df, self.symbol_table, use_shorten_name=False)
        edges = self._path_edges()
        frame = pd.DataFrame(
            {
                "event_idx": pd.Series([self.get_event_attribution_for_edge(edge) for edge in edges]),
                "duration": [edge.weight for edge in edges],
                "type": [edge.type.value for edge in edges],
            }
        )
        columns = self.trace_df[["s_name", "cat", "pid", "tid", "stream", "index"]]
        frame = frame.merge(columns, how="left", left_on="event_idx", right_index=True)
        kinds = frame[["type", "stream", "s_name"]].drop_duplicates()
        kinds["bound_by"] = [bound_by(row) for row in kinds.to_dict("records")]
        return frame.merge(kinds, how="left", on=["type", "stream", "s_name"])

    def summary(self) -> pd.Series:
        """Percent of the path's time by what bounds it. Prints a line, too."""
        frame = self.get_critical_path_breakdown()
        print("Critical Path broken down by boundedness = (in % of duration)")
        if frame is None:
            return pd.Series(name="duration", dtype=float, index=pd.Index([], name="bound_by"))
        spent = frame.groupby("bound_by")["duration"].sum()
        return 100 * spent / spent.sum()

    def show_critical_path(self) -> None:
        """Logs the path, node by node (level INFO)."""
        for number in self.critical_path_nodes:
            node = self.node_list[number]
            logger.info("Critical %s, ev_id = %d ev_name = %s", node, node.ev_idx, self._get_node_name(node.ev_idx))

    def save(self, out_dir: str) -> str:
        """Writes `out_dir`.zip, which `restore_cpgraph` reads: the graph with its weights, the path, and which rows it is of.

        Returns:
            its path.
        """
        path = f"{out_dir}.zip"
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        arrays = {**self._found._asdict(), "weight_now": self._weights_now(), "path": np.array(self.critical_path_nodes, np.int64)}
        about = {"format": _FORMAT, "rank": self.rank, "types": [kind.value for kind in _TYPES]}
        columns = [column for column in ("depth", "parent") if column in self.trace_df.columns]
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("about.json", json.dumps(about))
            archive.writestr("rows.csv", self.trace_df[columns].to_csv(index_label="index"))
            with archive.open("graph.npz", "w") as member:
                np.savez(member, **arrays)
        logger.info("saved the graph to %s", path)
        return path
