"""Nodes, edges and the longest path of a window of a trace, as arrays: what the graph of a critical path is made of."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import pandas as pd

from spotter.hta.configs import env_options
from spotter.hta.configs.config import logger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


# Kinds of edges, in the order of CPEdgeType.
OPERATOR, DEPENDENCY, LAUNCH, KERNEL_KERNEL, SYNC = range(5)
BLOCKING_CALLS = (
    "cudaDeviceSynchronize",
    "cudaStreamSynchronize",
    "cudaEventQuery",
    "cudaEventSynchronize",
    "cudaMemcpy",
    "cudaMemcpyAsync",
)
"""Calls whose end is a wait for the device."""
_HOST_CATEGORIES = ("cpu_op", "cuda_runtime", "cuda_driver")

Edges = namedtuple("Edges", "begin end weight type event")
Edges.__doc__ = """Arrays in the order in which edges were found: nodes, us, one of the kinds above, and the row whose
time an edge is (-1: none)."""

def clipped(df: pd.DataFrame, symbols: List[str], annotation: str, instances: Tuple[int, int]) -> Optional[pd.DataFrame]:
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
    waits = (df["name"] == id_of(symbols, "Stream Wait Event")).to_numpy() & (stream != -1)
    return df[((stream == -1) & begins_in_it) | launched | waits].sort_index(kind="stable")


def ids_of(symbols: List[str], wanted: Sequence[str]) -> List[int]:
    return [symbols.index(symbol) for symbol in wanted if symbol in symbols]


def id_of(symbols: List[str], symbol: str) -> int:
    return symbols.index(symbol) if symbol in symbols else -1


Nodes = namedtuple("Nodes", "row ts is_start is_blocking start_of end_of")
Nodes.__doc__ = """By node: the row of its event, us, and flags. By row: the nodes of its start and of its end (-1: it has
none)."""


def nodes_in(frame: pd.DataFrame, symbols: List[str]) -> Nodes:
    """A start and an end for each host operator and call and each row of a device, in order of time."""
    is_host = frame["cat"].isin(ids_of(symbols, _HOST_CATEGORIES))
    rows = np.flatnonzero(is_host | ((frame["stream"] != -1) & (frame["index_correlation"] >= 0)))
    ts, dur = frame["ts"].to_numpy()[rows], frame["dur"].to_numpy()[rows]
    row, at = np.concatenate([rows, rows]), np.concatenate([ts, ts + dur])
    is_end = np.repeat([False, True], rows.size)
    order = np.lexsort((is_end, row, at))
    row, is_start = row[order], ~is_end[order]
    numbers = np.arange(row.size)
    start_of, end_of = np.full((2, len(frame)), -1)
    start_of[row[is_start]], end_of[row[~is_start]] = numbers[is_start], numbers[~is_start]
    is_blocking = frame["name"].isin(ids_of(symbols, BLOCKING_CALLS)).to_numpy()[row]
    return Nodes(row, at[order], is_start, is_blocking, start_of, end_of)


Stacks = namedtuple("Stacks", "row is_start thread parent depth")
Stacks.__doc__ = """The starts and ends of the host's events as a walk through each thread's call tree: rows, flags and
threads. By row: the row that it was called from (-1: none) and how many those are (-1: it is in no thread)."""


def stacks_in(frame: pd.DataFrame) -> Stacks:
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
    return Stacks(row, is_start, thread[row], parent, depth)


def host_edges(nodes: Nodes, stacks: Stacks) -> Edges:
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
    return Edges(
        begin,
        end,
        np.where(is_zero, 0, nodes.ts[end] - nodes.ts[begin]),
        np.where(is_gap, DEPENDENCY, OPERATOR),
        np.where(is_gap, -1, inner),
    )


def launches_in(full: pd.DataFrame, query: str) -> pd.DataFrame:
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


def event_records(full: pd.DataFrame, symbols: List[str], launches: pd.DataFrame) -> pd.DataFrame:
    """The calls of cudaEventRecord that something waited for, with the last launch before each on its event's stream:
    `correlation_launch_event`, `index_previous_launch` and `kernel` (NaN: none), sorted by `ts`."""
    correlation = _argument(full, "wait_on_cuda_event_record_corr_id").to_numpy(np.int64)
    stream, gpu = _argument(full, "wait_on_stream").to_numpy(np.int64), full["pid"].to_numpy()
    events = pd.DataFrame({"correlation": correlation, "stream": stream, "gpu": gpu})
    events = events[correlation > 0].drop_duplicates("correlation")
    records = full.loc[full["name"] == id_of(symbols, "cudaEventRecord"), ["pid", "tid", "ts", "correlation"]]
    records = records.astype({"correlation": np.int64}).merge(events, on="correlation")
    names = {"launch": "index_previous_launch", "launch_correlation": "correlation_launch_event"}
    return _with_launch(records, launches, ["stream", "gpu"], "backward").rename(columns=names)


def _with_launch(calls: pd.DataFrame, launches: pd.DataFrame, keys: List[str], direction: str) -> pd.DataFrame:
    """Each call with the nearest launch that has the same keys."""
    as_objects = dict.fromkeys(keys, object)  # ids of processes are numbers in one frame and texts in the other
    calls = calls.sort_values("ts", kind="stable").astype(as_objects)
    launches = launches[["ts", *keys, "launch", "launch_correlation", "kernel"]].astype(as_objects)
    return pd.merge_asof(calls, launches, on="ts", by=keys, direction=direction)


class _DeviceRows:
    """The rows of devices and the waits for them, in the order in which they began or were over."""

    def __init__(self, frame: pd.DataFrame, symbols: List[str], nodes: Nodes) -> None:
        stream, partner = frame["stream"].to_numpy(np.int64), frame["index_correlation"].to_numpy()
        is_wait = (frame["cat"] == id_of(symbols, "cuda_sync")).to_numpy()
        waits_on_host = frame["name"].isin(ids_of(symbols, ("Event Sync", "Context Sync"))).to_numpy()
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
        self._edges: List[Edges] = []

    def add(self, place: np.ndarray, begin: np.ndarray, end: np.ndarray, weight: Any, kind: int, event: Any = -1) -> None:
        """Those that have two nodes."""
        is_edge = (begin >= 0) & (end >= 0)
        self._places.append(place[is_edge])
        columns = np.broadcast_arrays(begin, end, weight, kind, event)
        self._edges.append(Edges(*(column[is_edge] for column in columns)))

    def by_place(self) -> Edges:
        order = np.argsort(np.concatenate(self._places), kind="stable")
        return Edges(*(np.concatenate(column)[order] for column in zip(*self._edges)))


def device_edges(
    frame: pd.DataFrame, full: pd.DataFrame, symbols: List[str], nodes: Nodes, launches: pd.DataFrame
) -> Edges:
    """Of each device row, in order of time: how long it took, what it waited for, and its launch or the stream's one before
    it."""
    device, found = _DeviceRows(frame, symbols, nodes), _Found()
    waited_for = _waited_for(frame, device, nodes, event_records(full, symbols, launches))
    waits = {
        name: np.flatnonzero(device.name == id_of(symbols, name))
        for name in ("Stream Sync", "Context Sync", "Event Sync", "Stream Wait Event")
    }
    _add_waits_on_host(found, device, nodes, waits, waited_for)
    source = _sources(frame, full, device, waits["Stream Wait Event"], waited_for, launches)
    _add_kernels(found, frame, device, nodes, source, _queue_lengths(full, launches))
    return found.by_place()


def _waited_for(frame: pd.DataFrame, device: _DeviceRows, nodes: Nodes, records: pd.DataFrame) -> np.ndarray:
    """The node that ends the kernel before the cudaEventRecord that each device row waited for; -1: none."""
    ends = pd.Series(_at(nodes.end_of, frame.index.get_indexer(records["kernel"])), records["correlation"])
    record = _argument(frame, "wait_on_cuda_event_record_corr_id").to_numpy()[device.row]
    return ends[~ends.index.duplicated(keep="last")].reindex(record, fill_value=-1).to_numpy(np.int64)


def _add_waits_on_host(
    found: _Found, device: _DeviceRows, nodes: Nodes, waits: Dict[str, np.ndarray], waited_for: np.ndarray
) -> None:
    call_ends = _at(nodes.end_of, device.call)
    place = waits["Stream Sync"]
    found.add(place, device.last_end(device.stream[place], place), call_ends[place], 0, SYNC)
    place = np.repeat(waits["Context Sync"], device.streams.size)
    stream = np.tile(np.arange(device.streams.size), waits["Context Sync"].size)
    found.add(place, device.last_end(stream, place), call_ends[place], 0, SYNC)
    place = waits["Event Sync"]
    found.add(place, waited_for[place], call_ends[place], 0, SYNC)


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
    found: _Found, frame: pd.DataFrame, device: _DeviceRows, nodes: Nodes, source: np.ndarray, lengths: pd.Series
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
    found.add(place, start, end, nodes.ts[end] - nodes.ts[start], OPERATOR, row)
    found.add(place, source, start, 0, SYNC)
    found.add(place, np.where(by_launch, launch, -1), start, nodes.ts[start] - launched_at, LAUNCH)
    found.add(place, np.where(by_kernel, before, -1), start, nodes.ts[start] - freed_at, KERNEL_KERNEL, nodes.row[before])
    if env_options.critical_path_add_zero_weight_launch_edges():
        found.add(place, np.where(by_launch, -1, launch), start, 0, LAUNCH)
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


def distinct(edges: Edges) -> Edges:
    """Of edges between the same two nodes the last counts, in the place of the first."""
    key = edges.begin * (edges.end.max(initial=0) + 1) + edges.end
    _, first = np.unique(key, return_index=True)
    _, last = np.unique(key[::-1], return_index=True)
    last = key.size - 1 - last[np.argsort(first, kind="stable")]
    return Edges(*(column[last] for column in edges))


def longest_path(nodes: List[int], edges: Edges, weight: np.ndarray) -> List[int]:
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


def along(path: List[int], edges: Edges) -> Edges:
    """The edges of a path, from its start."""
    size = edges.end.max(initial=0) + 1
    key = edges.begin * size + edges.end
    order = np.argsort(key)
    nodes = np.array(path, np.int64)
    place = order[np.searchsorted(key, nodes[:-1] * size + nodes[1:], sorter=order)]
    return Edges(*(column[place] for column in edges))


def counted(weight: np.ndarray) -> np.ndarray:
    """Weights as the path counts them: what overlaps counts nothing."""
    return np.where(weight <= -1, 0, weight)
