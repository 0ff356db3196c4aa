"""Nodes, edges and the longest path of a window of a trace, as arrays: what the graph of a critical path is made of."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, List, Optional, Tuple

import numpy as np
import pandas as pd

from spotter.hta.configs import env_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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


def clipped(df: pd.DataFrame, symbols: List[str], annotation: str, instance_id: Any) -> Optional[pd.DataFrame]:
    """The rows of the window that the annotation's instances span: host rows that begin in it, and device rows that were
    launched in it, sorted by id. None: nothing has that name."""
    first, last = _first_and_last(instance_id)
    ts, dur = df["ts"].to_numpy(), df["dur"].to_numpy()
    if annotation:
        ids = [place for place, symbol in enumerate(symbols) if annotation in symbol]
        named = np.flatnonzero(df["name"].isin(ids).to_numpy())
        if not named.size:
            return None
        chosen = named[first : last + 1]
        if not chosen.size:
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


def _first_and_last(instance_id: Any) -> Tuple[int, int]:
    if instance_id is None:
        return 0, 0
    if isinstance(instance_id, (int, np.integer)):
        return int(instance_id), int(instance_id)
    if isinstance(instance_id, (tuple, list)) and len(instance_id) == 2:
        return int(instance_id[0]), int(instance_id[1])
    raise ValueError(f"instance_id is {instance_id!r}: a number, a pair of them (first and last) or None is wanted")


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


def distinct(edges: Edges) -> Edges:
    """Of edges between the same two nodes the last counts, in the place of the first."""
    key = edges.begin * (edges.end.max(initial=0) + 1) + edges.end
    _, first = np.unique(key, return_index=True)
    _, last = np.unique(key[::-1], return_index=True)
    last = key.size - 1 - last[np.argsort(first, kind="stable")]
    return Edges(*(column[last] for column in edges))


def check(edges: Edges, nodes: Nodes, stream: np.ndarray, told: Callable[[int], str]) -> None:
    """Raises ValueError if a stream waits for itself or, where the environment forbids it, something begins before what it waits for is
    over.

    Args:
        stream: of each row.
        told: an edge, by its place, in words.
    """
    if env_options.critical_path_strict_negative_weight_check() and (edges.weight < -1).any():
        negative = np.flatnonzero(edges.weight < -1)
        raise ValueError(
            f"{negative.size} edges have negative weights, the first is {told(negative[0])}: what waits would "
            "begin before that is over for which it waits"
        )
    waits = np.flatnonzero(edges.type == SYNC)
    begin, end = (stream[nodes.row[ends[waits]]] for ends in (edges.begin, edges.end))
    own = waits[(begin == end) & (begin != -1)]
    if own.size:
        raise ValueError(f"{own.size} waits are of a stream for itself, the first is {told(own[0])}")


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
