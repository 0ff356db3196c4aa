"""The older kind of call stacks: each with its own nodes, a root -1, and no device work. The newer: `trace_call_graph`."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import numpy as np
import pandas as pd

from spotter.hta._span_tree import durations, enclosing
from spotter.hta.common.trace import Trace
from spotter.hta.configs.env_options import disable_call_graph_depth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spotter.hta.common.trace_filter import Filter

    DFSCallback = Callable[[int, "CallStackNode"], None]

NON_EXISTENT_NODE_INDEX = -2
NULL_NODE_INDEX = -1
EVENT_START = 1
EVENT_END = -1


class DeviceType(Enum):
    """Where the events of a frame happened."""

    UNKNOWN = 0
    CPU = 1
    GPU = 2


class Event(NamedTuple):
    """One end of an event: which one, when, how long the event is, and EVENT_START or EVENT_END."""

    idx: int
    time: int
    dur: int
    type: int


class CallStackNode(NamedTuple):
    """An event in a stack, with event ids. `depth`: 0 for the outermost spans, -1 for the root."""

    parent: int = -1
    depth: int = -1
    children: list[int] = []


class CallStackIdentity(NamedTuple):
    """Whose stack it is."""

    rank: int = -1
    pid: int = -1
    tid: int = -1


def infer_device_type(df: pd.DataFrame) -> DeviceType:
    """GPU if all rows are on positive streams, CPU if all are on negative ones."""
    if len(df) and (df["stream"] > 0).all():
        return DeviceType.GPU
    return DeviceType.CPU if len(df) and (df["stream"] < 0).all() else DeviceType.UNKNOWN


def compare_events(x: Event, y: Event) -> int:
    """Negative if one end of an event comes before another one, positive if after, 0 if they are the same. At the same time
    ends come before starts, inner ends and outer starts first; events without duration lie in others, and their ids decide
    between them."""
    if x.idx == y.idx:
        return y.type - x.type
    if x.time != y.time:
        return x.time - y.time
    if x.dur <= 0 and y.dur <= 0:
        return y.idx - x.idx if x.type == y.type == EVENT_END else x.idx - y.idx
    if x.type != y.type:
        return x.type - y.type if x.dur > 0 and y.dur > 0 else y.type - x.type
    return x.type * (y.dur - x.dur or x.idx - y.idx)


class CallStackGraph:
    """The stack of one thread. Attributes: `df`, `identity`, `device_type`, `nodes` (by event id), `correlations` (of each
    event the one at the other end of its launch), `depth`."""

    def __init__(self, df: pd.DataFrame, identity: CallStackIdentity, filter_func: Filter | None = None) -> None:
        """Args:
            df: rows of one thread. Those of device work alone give no nodes.
            filter_func: which rows take part.
        """
        self.df = df
        self.identity = identity
        self.filter_func = filter_func
        self.device_type = infer_device_type(df)
        self.correlations: pd.Series = df["index_correlation"].set_axis(df["index"])
        self.nodes: dict[int, CallStackNode] = {}
        if self.device_type is not DeviceType.GPU:
            self._build(df if filter_func is None else filter_func(df))
        depths = {event: node.depth for event, node in self.nodes.items() if event != NULL_NODE_INDEX}
        self.depth = pd.Series(depths, dtype=np.int64, name="depth")

    def _build(self, df: pd.DataFrame) -> None:
        ids, start, dur = df["index"].to_numpy(), df["ts"].to_numpy(), durations(df)
        order = np.lexsort((ids, -dur, start))
        inside = enclosing(start[order].tolist(), (start + dur)[order].tolist(), zero_nests=False)
        ids_in_order = ids[order].tolist()
        root = CallStackNode(children=[])
        self.nodes[NULL_NODE_INDEX] = root
        for event, place in zip(ids_in_order, inside):
            parent = NULL_NODE_INDEX if place < 0 else ids_in_order[place]
            self.nodes[event] = CallStackNode(parent, self.nodes[parent].depth + 1, [])
            self.nodes[parent].children.append(event)

    def __repr__(self) -> str:
        return "CallStackGraph(\n" + "".join(f"    {event}: {node}\n" for event, node in self.nodes.items()) + ")"

    def get_nodes(self) -> dict[int, CallStackNode]:
        """`nodes`."""
        return self.nodes

    def get_dataframe(self) -> pd.DataFrame:
        """`df`."""
        return self.df

    def get_depth(self) -> pd.Series:
        """Of each event, by event id."""
        return self.depth

    def get_parent(self, idx: int) -> int:
        """The event around one: -1 for the root, -2 if the event is not there."""
        return self.nodes[idx].parent if idx in self.nodes else NON_EXISTENT_NODE_INDEX

    def get_children(self, idx: int) -> list[int]:
        """The events directly below one."""
        return self.nodes[idx].children if idx in self.nodes else []

    def get_path_to_root(self, idx: int) -> list[int]:
        """From an event up to the root, -1."""
        path: list[int] = []
        while idx in self.nodes:
            path.append(idx)
            if idx == NULL_NODE_INDEX:
                break
            idx = self.nodes[idx].parent
        return path

    def get_paths_to_leaves(self, idx: int) -> list[list[int]]:
        """From an event down to each one below it that has nothing below."""
        paths, path = [], []  # type: list[list[int]], list[int]
        for event, enters in self._walk(idx):
            if not enters:
                path.pop()
                continue
            path.append(event)
            if not self.nodes[event].children:
                paths.append(path.copy())
        return paths

    def get_leaf_nodes(self, idx: int) -> list[int]:
        """The events below one that have nothing below; itself if it is one."""
        return [event for event, enters in self._walk(idx) if enters and not self.nodes[event].children]

    def dfs_traverse(self, enter_func: DFSCallback, exit_func: DFSCallback) -> None:
        """Calls a function with the id and node of each event, from the root, before what is below it, and another one
        after."""
        for event, enters in self._walk(NULL_NODE_INDEX):
            (enter_func if enters else exit_func)(event, self.nodes[event])

    def _walk(self, idx: int) -> Iterator[tuple[int, bool]]:
        """The events from one downwards, each when it is entered and when it is left."""
        todo = [(idx, True)] if idx in self.nodes else []
        while todo:
            event, enters = todo.pop()
            yield event, enters
            if enters:
                todo.append((event, False))
                todo += [(child, True) for child in reversed(self.nodes[event].children)]


class CallGraph:
    """The stacks of ranks, by process and thread. Making one adds columns to the ranks' frames: `parent` (event id; of
    device work its launch), and `depth` (-1 for device work) unless HTA_DISABLE_CG_DEPTH is 1.

    Attributes: `trace_data`, `call_stacks` (a list), and `mapping`, whose column `csg_index` says where the stack of a rank,
    pid and tid is in the list.
    """

    def __init__(self, trace: Trace, ranks: list[int] | None = None, filter_func: Filter | None = None) -> None:
        """Args:
            ranks: all if None; ranks that the trace has not are left out.
            filter_func: which rows take part.

        Raises:
            ValueError: no rank is left.
        """
        there = list(trace.get_all_traces())
        chosen = there if ranks is None else [rank for rank in ranks if rank in there]
        if not chosen:
            raise ValueError(f"the trace has none of the ranks {ranks}, but {there}")
        self.trace_data = trace
        self.call_stacks: list[CallStackGraph] = []
        identities: list[CallStackIdentity] = []
        for rank in chosen:
            identities += self._add(rank, filter_func)
        index = pd.MultiIndex.from_tuples(identities, names=["rank", "pid", "tid"])
        self.mapping = pd.DataFrame({"csg_index": range(len(identities))}, index=index)

    def _add(self, rank: int, filter_func: Filter | None) -> list[CallStackIdentity]:
        df = self.trace_data.get_trace(rank)
        identities = []
        depth = np.full(len(df), -1, dtype=np.int64)
        parent = df["index_correlation"].to_numpy().astype(np.int64)
        places = pd.Index(df["index"])
        for (pid, tid), rows in df.groupby(["pid", "tid"]):
            identity = CallStackIdentity(rank, pid, tid)
            on_stream = rows["stream"] > 0
            stack = CallStackGraph(rows[on_stream] if on_stream.any() else rows, identity, filter_func)
            identities.append(identity)
            self.call_stacks.append(stack)
            of_stack = places.get_indexer(stack.depth.index)
            depth[of_stack] = stack.depth
            parent[of_stack] = [stack.nodes[event].parent for event in stack.depth.index]
        on_device = (df["stream"] >= 0).to_numpy()
        parent[on_device] = df["index_correlation"].to_numpy()[on_device]
        if not disable_call_graph_depth():
            df["depth"] = depth
        df["parent"] = parent
        return identities

    def get_stack_of_node(self, node_id: int, rank: int, skip_ancestors: bool = False) -> pd.DataFrame:
        """The rows of the innermost events below an event, of the event and those around it, from the inside out, and of the
        device work of the innermost ones. An event on a device stands for its launch.

        Args:
            skip_ancestors: without the event and those around it.

        Raises:
            KeyError: there is no such event.
            ValueError: there is no such rank.
        """
        df = self.trace_data.get_trace(rank)
        by_id = df.set_index("index", drop=False)
        row = by_id.loc[node_id]
        if row["stream"] > 0:
            row = by_id.loc[row["index_correlation"]]
        stack = self.call_stacks[self.mapping.loc[(rank, row["pid"], row["tid"]), "csg_index"]]
        leaves = stack.get_leaf_nodes(int(row["index"]))
        above = [] if skip_ancestors else stack.get_path_to_root(int(row["index"]))[:-1]
        kernels = [event for event in stack.correlations.reindex(leaves).tolist() if event > 0]
        return by_id.loc[list(dict.fromkeys([*leaves, *above, *kernels]))].rename_axis(None)
