"""The critical path of a part of a trace: the longest chain of work on host and device in it."""

from __future__ import annotations

import copy
import io
import json
import os
import time
import zipfile
from collections import namedtuple
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, Dict, List, Optional, Set, Tuple, Union

import numpy as np
import pandas as pd

from spotter.hta._rows import by_id
from spotter.hta.common.trace_symbol_table import decode_symbol_id_to_symbol_name
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
_Edges.__doc__ = """Arrays in the order in which edges were found: nodes, us, places in `_TYPES`, and the row whose
time an edge is (-1: none)."""

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
    """The rows of the window that the annotation's instances span: host rows that begin in it, and device rows that were
    launched in it, sorted by id. None: nothing has that name."""
    ts, dur = df["ts"].to_numpy(), df["dur"].to_numpy()
    if annotation:
        ids = [place for place, symbol in enumerate(symbols) if annotation in symbol]
        named = np.flatnonzero(df["name"].isin(ids).to_numpy())
        if not named.size:
            return None
        chosen = named[instances[0] : instances[1] + 1]
        if not chosen.size:
            first, last = instances
            raise ValueError(f"there is no instance {first} to {last} of {annotation!r}: the last is {named.size - 1}")
        begin, end = ts[chosen].min(), (ts[chosen] + dur[chosen]).max()
    else:
        begin, end = ts.min(), (ts + dur).max()
    begins_in_it = (ts >= begin) & (ts <= end) & (dur > 0)
    stream, partner = df["stream"].to_numpy(), df["index_correlation"].to_numpy()
    launch = df.index.get_indexer(partner)
    is_linked = (stream != -1) & (partner > 0) & (launch >= 0) & (partner[launch] == df.index.to_numpy())
    launched = is_linked & begins_in_it[launch]
    waits = (df["name"] == _id_of(symbols, "Stream Wait Event")).to_numpy() & (stream != -1)
    return df[((stream == -1) & begins_in_it) | launched | waits].sort_index(kind="stable")


def _ids_of(symbols: List[str], wanted: Sequence[str]) -> List[int]:
    return [symbols.index(symbol) for symbol in wanted if symbol in symbols]


def _id_of(symbols: List[str], symbol: str) -> int:
    return symbols.index(symbol) if symbol in symbols else -1


_Nodes = namedtuple("_Nodes", "row ts is_start is_blocking start_of end_of")
_Nodes.__doc__ = """By node: the row of its event, us, and flags. By row: the nodes of its start and of its end (-1: it has
none)."""


@timeit
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
_Stacks.__doc__ = """The starts and ends of the host's events as a walk through each thread's call tree: rows, flags and
threads. By row: the row that it was called from (-1: none) and how many those are (-1: it is in no thread)."""


@timeit
def _stacks(frame: pd.DataFrame) -> _Stacks:
    """An end belongs to what began last and has not ended, whichever event's end it is; so events that overlap in part are
    in one another, too."""
    stream = frame["stream"].to_numpy()
    thread = frame.groupby(["pid", "tid"], dropna=False).ngroup().to_numpy()
    has_device_rows = np.zeros(thread.max(initial=-1) + 1, bool)
    has_device_rows[thread[stream >= 0]] = True
    rows = np.flatnonzero(~has_device_rows[thread] & (frame["dur"] > 0).to_numpy())
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


@timeit
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
    """The calls that launched a kernel, a copy or a fill of the trace: `kernel` is its id, `stream` and `gpu` are where it
    ran."""
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
    """How many rows of its stream had been launched and had not begun, by id: right after a launch, or right after a device
    row began."""
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
    correlation = _argument(full, "wait_on_cuda_event_record_corr_id").to_numpy(np.int64)
    stream, gpu = _argument(full, "wait_on_stream").to_numpy(np.int64), full["pid"].to_numpy()
    events = pd.DataFrame({"correlation": correlation, "stream": stream, "gpu": gpu})
    events = events[correlation > 0].drop_duplicates("correlation")
    records = full.loc[full["name"] == _id_of(symbols, "cudaEventRecord"), ["pid", "tid", "ts", "correlation"]]
    records = records.astype({"correlation": np.int64}).merge(events, on="correlation")
    names = {"launch": "index_previous_launch", "launch_correlation": "correlation_launch_event"}
    return _with_launch(records, launches, ["stream", "gpu"], "backward").rename(columns=names)


def _with_launch(calls: pd.DataFrame, launches: pd.DataFrame, keys: List[str], direction: str) -> pd.DataFrame:
    """Each call with the nearest launch that has the same keys."""
    calls = calls.sort_values("ts", kind="stable")
    launches = launches[["ts", *keys, "launch", "launch_correlation", "kernel"]]
    return pd.merge_asof(calls, launches, on="ts", by=keys, direction=direction)


class _DeviceRows:
    """The rows of devices and the waits for them, in the order in which they began or were over."""

    def __init__(self, frame: pd.DataFrame, symbols: List[str], nodes: _Nodes) -> None:
        stream, partner = frame["stream"].to_numpy(np.int64), frame["index_correlation"].to_numpy()
        is_wait = (frame["cat"] == _id_of(symbols, "cuda_sync")).to_numpy()
        waits_on_host = frame["name"].isin(_ids_of(symbols, ("Event Sync", "Context Sync"))).to_numpy()
        rows = np.flatnonzero(((stream != -1) | waits_on_host) & (partner >= 0))
        at = frame["ts"].to_numpy() + np.where(is_wait, frame["dur"].to_numpy(), 0)
        self.row = rows[np.argsort(at[rows], kind="stable")]
        self.partner = partner[self.row]
        """The id of the launch, or of the call that waited."""
        self.call = frame.index.get_indexer(self.partner)
        """Its row; -1: it is not in the frame."""
        self.name = frame["name"].to_numpy()[self.row]
        self.stream, self.streams = pd.factorize(stream[self.row])
        self.kernels = np.flatnonzero(~is_wait[self.row])
        """Places of what is no wait."""
        order = np.argsort(self.stream[self.kernels], kind="stable")
        self._keys = (self.stream[self.kernels] * self.row.size + self.kernels)[order]
        self._ends = nodes.end_of[self.row[self.kernels]][order]

    def last_end(self, stream: np.ndarray, place: np.ndarray) -> np.ndarray:
        """The end of a stream's last kernel before a place: a node; -1: none."""
        return _last_before(self._keys, self._ends, stream * self.row.size + place, self.row.size)


class _Found:
    """Edges of device rows, with the places of these."""

    def __init__(self) -> None:
        self._places: List[np.ndarray] = []
        self._edges: List[_Edges] = []

    def add(self, place: np.ndarray, begin: np.ndarray, end: np.ndarray, weight: Any, kind: int, event: Any = -1) -> None:
        """Those that have two nodes."""
        is_edge = (begin >= 0) & (end >= 0)
        self._places.append(place[is_edge])
        columns = np.broadcast_arrays(begin, end, weight, kind, event)
        self._edges.append(_Edges(*(column[is_edge] for column in columns)))

    def by_place(self) -> _Edges:
        order = np.argsort(np.concatenate(self._places), kind="stable")
        return _Edges(*(np.concatenate(column)[order] for column in zip(*self._edges)))


@timeit
def _device_edges(
    frame: pd.DataFrame, full: pd.DataFrame, symbols: List[str], nodes: _Nodes, launches: pd.DataFrame
) -> _Edges:
    """Of each device row, in order of time: how long it took, what it waited for, and its launch or the stream's one before
    it."""
    device, found = _DeviceRows(frame, symbols, nodes), _Found()
    waited_for = _waited_for(frame, device, nodes, _event_records(full, symbols, launches))
    waits = {
        name: np.flatnonzero(device.name == _id_of(symbols, name))
        for name in ("Stream Sync", "Context Sync", "Event Sync", "Stream Wait Event")
    }
    _add_waits_on_host(found, device, nodes, waits, waited_for)
    source = _sources(frame, full, device, waits["Stream Wait Event"], waited_for, launches)
    _add_kernels(found, frame, device, nodes, source, _queue_lengths(full, launches))
    return found.by_place()


def _waited_for(frame: pd.DataFrame, device: _DeviceRows, nodes: _Nodes, records: pd.DataFrame) -> np.ndarray:
    """The node that ends the kernel before the cudaEventRecord that each device row waited for; -1: none."""
    ends = pd.Series(_at(nodes.end_of, frame.index.get_indexer(records["kernel"])), records["correlation"])
    record = _argument(frame, "wait_on_cuda_event_record_corr_id").to_numpy()[device.row]
    return ends[~ends.index.duplicated(keep="last")].reindex(record, fill_value=-1).to_numpy(np.int64)


def _add_waits_on_host(
    found: _Found, device: _DeviceRows, nodes: _Nodes, waits: Dict[str, np.ndarray], waited_for: np.ndarray
) -> None:
    call_ends = _at(nodes.end_of, device.call)
    place = waits["Stream Sync"]
    found.add(place, device.last_end(device.stream[place], place), call_ends[place], 0, _SYNC)
    place = np.repeat(waits["Context Sync"], device.streams.size)
    stream = np.tile(np.arange(device.streams.size), waits["Context Sync"].size)
    found.add(place, device.last_end(stream, place), call_ends[place], 0, _SYNC)
    place = waits["Event Sync"]
    found.add(place, waited_for[place], call_ends[place], 0, _SYNC)


def _sources(
    frame: pd.DataFrame,
    full: pd.DataFrame,
    device: _DeviceRows,
    waits: np.ndarray,
    waited_for: np.ndarray,
    launches: pd.DataFrame,
) -> np.ndarray:
    """By kernel: the node that ends the one on another stream for which a cudaStreamWaitEvent held it up; -1: none. That
    call holds up what its thread launches next in its stream."""
    call = full.index.get_indexer(device.partner[waits])
    waits, call = waits[call >= 0], call[call >= 0]
    calls = full.iloc[call][["ts", "pid", "tid"]].assign(stream=device.streams[device.stream[waits]], place=waits)
    calls = _with_launch(calls, launches, ["pid", "tid", "stream"], "forward")
    waiting, place = frame.index.get_indexer(calls["kernel"]), calls["place"].to_numpy()
    is_known = (waiting >= 0) & (waited_for[place] >= 0)
    waiting, place = waiting[is_known], place[is_known]
    order = np.lexsort((place, waiting))
    size = device.row.size
    asked = device.row[device.kernels] * size + device.kernels
    return _last_before((waiting * size + place)[order], waited_for[place][order], asked, size)


def _add_kernels(
    found: _Found, frame: pd.DataFrame, device: _DeviceRows, nodes: _Nodes, source: np.ndarray, lengths: pd.Series
) -> None:
    place = device.kernels
    row = device.row[place]
    start, end, launch = nodes.start_of[row], nodes.end_of[row], _at(nodes.start_of, device.call[place])
    before = device.last_end(device.stream[place], place)
    launched_at = np.where(launch >= 0, nodes.ts[launch], np.nan)
    freed_at = np.where(before >= 0, nodes.ts[before], -np.inf)
    ready_at = np.where(source >= 0, nodes.ts[source], -np.inf)
    was_idle = (lengths.reindex(device.partner[place]) == 1).to_numpy() & (lengths.reindex(frame.index[row]) == 0).to_numpy()
    by_launch = was_idle & (freed_at < launched_at) & (ready_at < launched_at)
    by_kernel = ~by_launch & (before >= 0) & (ready_at < freed_at)
    found.add(place, start, end, nodes.ts[end] - nodes.ts[start], _OPERATOR, row)
    found.add(place, source, start, 0, _SYNC)
    found.add(place, np.where(by_launch, launch, -1), start, nodes.ts[start] - launched_at, _LAUNCH)
    found.add(place, np.where(by_kernel, before, -1), start, nodes.ts[start] - freed_at, _KERNEL_KERNEL, nodes.row[before])
    if env_options.critical_path_add_zero_weight_launch_edges():
        found.add(place, np.where(by_launch, -1, launch), start, 0, _LAUNCH)
    lonely = np.count_nonzero(~by_launch & ~by_kernel & (source < 0))
    if lonely:
        why = "when they were launched others waited, and the window has none before them on their streams"
        logger.warning("nothing leads to %d kernels: %s", lonely, why)


def _last_before(keys: np.ndarray, values: np.ndarray, asked: np.ndarray, size: int) -> np.ndarray:
    """The value of the last key below each of `asked` that is in the same multiple of `size`; -1: none. `keys` ascend."""
    place = np.searchsorted(keys, asked) - 1
    found = np.flatnonzero(place >= 0)
    found = found[keys[place[found]] // size == asked[found] // size]
    result = np.full(asked.size, -1)
    result[found] = values[place[found]]
    return result


def _at(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Of each place; -1 for place -1."""
    result = np.full(place.size, -1)
    result[place >= 0] = values[place[place >= 0]]
    return result


def _argument(frame: pd.DataFrame, name: str) -> pd.Series:
    """A column that frames have unless the parser was told to leave it out; then -1."""
    return frame[name] if name in frame.columns else pd.Series(-1, frame.index)


def _distinct(edges: _Edges) -> _Edges:
    """Of edges between the same two nodes the last counts, in the place of the first."""
    key = edges.begin * (edges.end.max(initial=0) + 1) + edges.end
    _, first = np.unique(key, return_index=True)
    _, last = np.unique(key[::-1], return_index=True)
    last = key.size - 1 - last[np.argsort(first, kind="stable")]
    return _Edges(*(column[last] for column in edges))


@timeit
def _longest_path(nodes: List[int], edges: _Edges, weight: np.ndarray) -> List[int]:
    """As `networkx.dag_longest_path` finds it: the order of nodes and edges decides between paths of the same length.

    Raises:
        ValueError: there is a cycle.
    """
    size = max(nodes, default=-1) + 1
    waits_for = np.bincount(edges.end, minlength=size).tolist()
    begun, (successor_of,) = _grouped(edges.begin, size, edges.end)
    order = [node for node in nodes if not waits_for[node]]
    for node in order:
        for successor in successor_of[begun[node] : begun[node + 1]]:
            waits_for[successor] -= 1
            if not waits_for[successor]:
                order.append(successor)
    if len(order) < len(nodes):
        raise ValueError("the graph has cycles; networkx.simple_cycles(graph) lists them")
    ended, (predecessor_of, weight_of) = _grouped(edges.end, size, edges.begin, weight)
    length: List[float] = [0] * size
    before = list(range(size))
    for node in order:
        best, origin = -1.0, node
        for place in range(ended[node], ended[node + 1]):
            total = length[predecessor_of[place]] + weight_of[place]
            if total > best and total >= 0:
                best, origin = total, predecessor_of[place]
        length[node], before[node] = max(best, 0), origin
    path = [max(order, key=length.__getitem__)] if order else []
    while path and before[path[-1]] != path[-1]:
        path.append(before[path[-1]])
    return path[::-1]


def _grouped(node: np.ndarray, size: int, *columns: np.ndarray) -> Tuple[List[int], List[List[Any]]]:
    """Columns in the order of `node`, and where each node's part of them begins, and the last one's ends."""
    order = np.argsort(node, kind="stable")
    begins = np.cumsum(np.bincount(node + 1, minlength=size + 1))
    return begins.tolist(), [column[order].tolist() for column in columns]


def _along(path: List[int], edges: _Edges) -> _Edges:
    """The edges of a path, from its start."""
    size = edges.end.max(initial=0) + 1
    key = edges.begin * size + edges.end
    order = np.argsort(key)
    nodes = np.array(path, np.int64)
    place = order[np.searchsorted(key, nodes[:-1] * size + nodes[1:], sorter=order)]
    return _Edges(*(column[place] for column in edges))


def _counted(weight: np.ndarray) -> np.ndarray:
    """Weights as the path counts them: what overlaps counts nothing."""
    return np.where(weight <= -1, 0, weight)


def _edge_objects(edges: _Edges) -> List[CPEdge]:
    columns = zip(*(column.tolist() for column in edges[:4]))
    return [CPEdge(begin, end, weight, _TYPES[kind]) for begin, end, weight, kind in columns]


def _only(t: "Trace", rank: int, frame: pd.DataFrame) -> "Trace":
    """The trace with just this frame."""
    part = copy.copy(t)
    part.traces = {rank: frame}
    return part


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
    """What waits for what in a window of a rank's trace: a node for each start and each end of an event, and the longest
    path through them. Nodes are numbers; an edge has `weight` (us; change it and call `critical_path` again) and `object`, a
    `CPEdge` with the weight that was measured, by which breakdown, summary and overlay go.

    The edges are those of HTA 0.5.0, with what makes its answers hard to read: the path is the longest chain anywhere in the
    window, not one from its start to its end; time between a thread's outermost operators counts nothing; of a graph launch
    only the last kernel is there. HTA leaves equal times in the order that a sort happens to give; here ids decide, and
    launches come before starts. `spotter.critical_path(path)` is the table without these faults: it goes from a step's start
    to the end of its device work.

    Attributes: `critical_path_nodes` (list), `critical_path_events_set`, `critical_path_edges_set`, `node_list`, `trace_df`
    (the window's rows), `full_trace_df`, `t`, `t_full`, `rank`, `sym_table`, `symbol_table`, `event_to_start_node_map`,
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
        self.full_trace_df: pd.DataFrame = by_id(t_full.get_trace(rank))
        self.symbol_table = t_full.symbols_of(rank)
        self.sym_table: List[str] = self.symbol_table.get_sym_table()
        self.critical_path_nodes: List[int] = []
        self._ids = np.array([], np.int64)
        self._nodes: _Nodes = _Nodes(*np.zeros((6, 0), np.int64))
        self._found = self._path = _Edges(*np.zeros((5, 0), np.int64))
        self.trace_df: pd.DataFrame = self.full_trace_df.iloc[:0] if t is None else t.get_trace(rank)
        if t is not None and G is None:
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

    def _restore(self, arrays: Dict[str, np.ndarray]) -> None:
        self._ids = self.trace_df.index.to_numpy(np.int64)
        self._nodes = _nodes(self.trace_df, self.sym_table)
        self._take(_Edges(*(arrays[name] for name in _Edges._fields)))
        if not np.array_equal(arrays["weight_now"], _counted(self._found.weight)):
            for begin, end, weight in zip(*(arrays[name].tolist() for name in ("begin", "end", "weight_now"))):
                self._adj[begin][end]["weight"] = weight
        self.critical_path_nodes = arrays["path"].tolist()
        self._path = _along(self.critical_path_nodes, self._found)

    def _fill(self) -> None:
        edges = self._found
        nodes: Dict[int, Dict[str, Any]] = {node: {} for node in self._linked_nodes()}
        successors: Dict[int, Dict[int, Any]] = {node: {} for node in nodes}
        predecessors: Dict[int, Dict[int, Any]] = {node: {} for node in nodes}
        for edge, weight in zip(_edge_objects(edges), _counted(edges.weight).tolist()):
            data = {"weight": weight, "object": edge}
            successors[edge.begin][edge.end] = predecessors[edge.end][edge.begin] = data
        self.__dict__.update(_node=nodes, _adj=successors, _succ=successors, _pred=predecessors)

    def _is_filled(self) -> bool:
        return "_adj" in self.__dict__

    def _links(self) -> Tuple[_Edges, np.ndarray]:
        """The edges as they are now, in the order in which they were found, and their weights."""
        if not self._is_filled():
            return self._found, _counted(self._found.weight)
        data = {(begin, end): data for begin, end, data in self.edges(data=True)}
        found = [pair for pair in zip(self._found.begin.tolist(), self._found.end.tolist()) if pair in data]
        pairs = list(dict.fromkeys([*found, *data]))
        row_of = {event: row for row, event in enumerate(self._ids.tolist())}
        rows = [row_of.get(self.edge_to_event_map.get(pair, -1), -1) for pair in pairs]
        objects = [data[pair]["object"] for pair in pairs]
        edges = _Edges(
            np.array([begin for begin, _ in pairs], np.int64),
            np.array([end for _, end in pairs], np.int64),
            np.array([edge.weight for edge in objects], float),
            np.array([_TYPES.index(edge.type) for edge in objects], np.int64),
            np.array(rows, np.int64),
        )
        return edges, np.array([data[pair]["weight"] for pair in pairs], float)

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
        return set(_edge_objects(self._path))

    def _by_event(self, is_asked: np.ndarray) -> Dict[int, int]:
        nodes = np.flatnonzero(is_asked)
        return dict(zip(self._ids[self._nodes.row[nodes]].tolist(), nodes.tolist()))

    def critical_path(self) -> bool:
        """Finds it, again after weights were changed. False: nothing in the window is linked.

        Raises:
            ValueError: the graph has cycles, a stream waits for itself, or, if the environment forbids that
                (CRITICAL_PATH_STRICT_NEGATIVE_WEIGHT_CHECKS), something begins before what it waits for is over.
        """
        self._check()
        edges, weight = self._links()
        path = _longest_path(list(self) if self._is_filled() else self._linked_nodes(), edges, weight)
        self.critical_path_nodes, self._path = path, _along(path, edges)
        for name in ("critical_path_events_set", "critical_path_edges_set"):
            self.__dict__.pop(name, None)
        return bool(path)

    def _check(self) -> None:
        edges = self._found
        if env_options.critical_path_strict_negative_weight_check() and (edges.weight < -1).any():
            negative = np.flatnonzero(edges.weight < -1)
            raise ValueError(
                f"{negative.size} edges have negative weights, the first is {self._told(negative[0])}: what waits would "
                "begin before that is over for which it waits"
            )
        waits = np.flatnonzero(edges.type == _SYNC)
        stream = self.trace_df["stream"].to_numpy()
        begin, end = (stream[self._nodes.row[ends[waits]]] for ends in (edges.begin, edges.end))
        own = waits[(begin == end) & (begin != -1)]
        if own.size:
            raise ValueError(f"{own.size} waits are of a stream for itself, the first is {self._told(own[0])}")

    def _told(self, edge: int) -> str:
        """An edge in words."""
        events = self._ids[self._nodes.row[[self._found.begin[edge], self._found.end[edge]]]]
        names = [f"{self._get_node_name(event)!r} (event {event})" for event in events]
        return f"from {names[0]} to {names[1]}, {self._found.weight[edge]:g} us"

    def get_nodes_for_event(self, ev_id: int) -> Tuple[Optional[CPNode], Optional[CPNode]]:
        """Its start and its end; None, None: it has no nodes."""
        if ev_id not in self.event_to_start_node_map:
            return None, None
        return self.node_list[self.event_to_start_node_map[ev_id]], self.node_list[self.event_to_end_node_map[ev_id]]

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
        """A row for each edge of the path, from its start: `event_idx` (NaN: no event's time), `duration` (us), `type`, of
        the event `s_name`, `cat`, `pid`, `tid`, `stream` and `index`, and `bound_by`. None: there is no path."""
        if not self.critical_path_nodes:
            return None
        if "s_name" not in self.trace_df.columns:
            decode_symbol_id_to_symbol_name(self.trace_df, self.symbol_table, use_shorten_name=False)
        row = self._path.event
        event = pd.Series(self._ids[row] if (row >= 0).all() else np.where(row >= 0, self._ids[row], np.nan))
        types = np.array([kind.value for kind in _TYPES], object)[self._path.type]
        frame = pd.DataFrame({"event_idx": event, "duration": self._path.weight, "type": types})
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
        """Writes `out_dir`.zip, which `restore_cpgraph` reads: the graph with its weights, its path, and what rows it is of.

        Returns:
            its path.
        """
        path = f"{out_dir}.zip"
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        edges, weight = self._links()
        arrays = {**edges._asdict(), "weight_now": weight, "path": np.array(self.critical_path_nodes, np.int64)}
        columns = [column for column in ("depth", "parent") if column in self.trace_df.columns]
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("about.json", json.dumps({"format": _FORMAT}))
            archive.writestr("rows.csv", self.trace_df[columns].to_csv(index_label="index"))
            with archive.open("graph.npz", "w") as member:
                np.savez(member, **arrays)
        logger.info("saved the graph to %s", path)
        return path

    def _get_node_name(self, ev_id: int) -> str:
        """The name of an event."""
        return self.sym_table[self.trace_df["name"].loc[ev_id]]

    def _get_cuda_event_record_df(self) -> pd.DataFrame:
        launches = _launches(self.full_trace_df, self.symbol_table.get_runtime_launch_events_query())
        return _event_records(self.full_trace_df, self.sym_table, launches)


def restore_cpgraph(zip_filename: str, t_full: "Trace", rank: int) -> CPGraph:
    """What `CPGraph.save` wrote.

    Args:
        t_full: the trace that the graph was made of, loaded in the same way.

    Raises:
        ValueError: it is no such file, or of another trace.
    """
    try:
        with zipfile.ZipFile(zip_filename) as archive:
            about = json.loads(archive.read("about.json"))
            rows = pd.read_csv(io.BytesIO(archive.read("rows.csv")), index_col="index")
            arrays = dict(np.load(io.BytesIO(archive.read("graph.npz")), allow_pickle=False))
    except (zipfile.BadZipFile, KeyError) as error:
        raise ValueError(f"{zip_filename} is no graph that CPGraph.save wrote") from error
    if about["format"] != _FORMAT:
        raise ValueError(f"{zip_filename} has format {about['format']}; this version reads {_FORMAT}")
    full = t_full.get_trace(rank)
    if not rows.index.isin(full.index).all():
        raise ValueError(f"{zip_filename} is of another trace: rank {rank} here has not all of its rows")
    part = _only(t_full, rank, full.loc[rows.index].assign(**rows))
    graph = CPGraph(part, t_full, rank, nx.DiGraph())
    graph._restore(arrays)
    return graph


def bound_by(row: Dict[str, Any]) -> str:
    """What bounds an edge of the path, by its `type` and by `stream` and `s_name` of its event; "": it has no time."""
    kind = row["type"]
    if kind == CPEdgeType.KERNEL_KERNEL_DELAY.value:
        return "gpu_kernel_kernel_overhead"
    if kind == CPEdgeType.KERNEL_LAUNCH_DELAY.value:
        return "gpu_kernel_launch_overhead"
    if kind in (CPEdgeType.DEPENDENCY.value, CPEdgeType.SYNC_DEPENDENCY.value):
        return ""
    if row["stream"] == -1:
        return "cpu_bound"
    return "gpu_communication_bound" if is_comm_kernel(row["s_name"]) else "gpu_compute_bound"


class CriticalPathAnalysis:
    """Critical paths of the ranks of a `Trace`.

    Variables of the environment change them if they are "1": CRITICAL_PATH_ADD_ZERO_WEIGHT_LAUNCH_EDGE (each kernel has an
    edge from its launch, without weight where it did not wait for that), CRITICAL_PATH_SHOW_ZERO_WEIGHT_LAUNCH_EDGE
    (overlays draw these), CRITICAL_PATH_STRICT_NEGATIVE_WEIGHT_CHECKS (overlaps are errors).
    """

    @classmethod
    def critical_path_analysis(
        cls, t: "Trace", rank: int, annotation: str, instance_id: Union[int, None, Tuple[int, int]]
    ) -> Tuple[CPGraph, bool]:
        """The graph of a window of a rank's trace, and its longest path.

        Args:
            annotation: the window is that of the rows whose names contain this text; "": the whole trace.
            instance_id: which of them, from 0 on, or the first and the last; None: the first.

        Returns:
            (graph, whether it has a path). If nothing has such a name, this is logged, and None comes back instead.

        Raises:
            ValueError: there is no such rank or instance, or the graph contradicts itself (`CPGraph.critical_path`).
        """
        df, symbols = by_id(t.get_trace(rank)), t.symbols_of(rank).get_sym_table()
        if df.empty:
            raise ValueError(f"the frame of rank {rank} has no rows, and so no critical path")
        if "cuda_sync" not in symbols:
            how = "torch.profiler records them with enable_cuda_sync_events"
            logger.warning("the trace has no CUDA synchronisation events, so that the path knows of few waits: %s", how)
        window = _clipped(df, symbols, annotation, _first_and_last(instance_id))
        if window is None:
            logger.error("could not find annotation %s in the trace", annotation)
            return None  # type: ignore[return-value]
        graph = CPGraph(_only(t, rank, window), t, rank)
        return graph, graph.critical_path()

    @classmethod
    def overlay_critical_path_analysis(
        cls,
        t: "Trace",
        rank: int,
        critical_path_graph: CPGraph,
        output_dir: str,
        only_show_critical_events: bool,
        show_all_edges: bool,
        edge_types_to_viz: Optional[Set[CPEdgeType]] = None,
    ) -> str:
        """Writes the rank's trace with the path in it: its events have the argument `critical`, its edges are arrows.

        Args:
            output_dir: a folder, made if it is missing.
            only_show_critical_events: leaves out all other events of host and device, but annotations and Python functions.
            show_all_edges: arrows for all of the graph's edges. Not together with the former.
            edge_types_to_viz: arrows of the path that are drawn otherwise; None: `DEFAULT_EDGE_TYPES_IN_VIZ`.

        Returns:
            the path of the file, overlaid_critical_path_ and the trace's name in `output_dir`.
        """
        types = DEFAULT_EDGE_TYPES_IN_VIZ if edge_types_to_viz is None else edge_types_to_viz
        path_edges = _edge_objects(critical_path_graph._path)
        if show_all_edges and not only_show_critical_events:
            shows_zero = env_options.critical_path_show_zero_weight_launch_edges()
            objects = (data["object"] for _, _, data in critical_path_graph.edges(data=True))
            edges = [edge for edge in objects if shows_zero or not cls._is_zero_weight_launch_edge(edge)]
        else:
            edges = [edge for edge in path_edges if edge.type in types]

        content = t.get_raw_trace_for_one_rank(rank)
        events = content["traceEvents"]
        critical = critical_path_graph.critical_path_events_set
        for number in critical:
            events[number].setdefault("args", {})["critical"] = 1
        arrows = _arrows(events, critical_path_graph, edges, set(path_edges))
        if only_show_critical_events:
            events = [event for number, event in enumerate(events) if number in critical or _is_context(event)]
        content["traceEvents"] = events + arrows
        os.makedirs(output_dir, exist_ok=True)
        output = os.path.join(output_dir, f"overlaid_critical_path_{os.path.basename(t.trace_files[rank])}")
        t.write_raw_trace(output, content)
        return output

    @staticmethod
    def _is_zero_weight_launch_edge(edge: CPEdge) -> bool:
        return edge.type == CPEdgeType.KERNEL_LAUNCH_DELAY and edge.weight == 0


def _first_and_last(instance_id: Union[int, None, Tuple[int, int]]) -> Tuple[int, int]:
    if instance_id is None:
        return 0, 0
    if isinstance(instance_id, (int, np.integer)):
        return int(instance_id), int(instance_id)
    if isinstance(instance_id, (tuple, list)) and len(instance_id) == 2:
        return int(instance_id[0]), int(instance_id[1])
    raise ValueError(f"instance_id is {instance_id!r}: a number, a pair of them (first and last) or None is wanted")


def _is_context(event: Dict[str, Any]) -> bool:
    return event.get("ph") != "X" or event.get("cat") in ("user_annotation", "python_function")


def _arrows(
    events: List[Dict[str, Any]], graph: CPGraph, edges: List[CPEdge], critical: Set[CPEdge]
) -> List[Dict[str, Any]]:
    """Two flow events for each edge, as a trace file has them."""
    result = []
    for number, edge in enumerate(edges):
        args = {"weight": int(edge.weight), "critical": edge in critical}
        for node, is_start in ((edge.begin, True), (edge.end, False)):
            event = events[graph._ids[graph._nodes.row[node]]]
            at = event["ts"] if graph._nodes.is_start[node] else event["ts"] + event["dur"] - _inset(event)
            result.append(
                graph.t_full.flow_event(
                    number, event["pid"], event["tid"], int(at), is_start, "critical_path", edge.type.value, dict(args)
                )
            )
    return result


def _inset(event: Dict[str, Any]) -> float:
    """An arrow at the end of device work begins a little earlier, so that viewers do not attach it to what follows."""
    return min(1, event["dur"]) if "device" in event.get("args", {}) else 0
