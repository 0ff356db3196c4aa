"""The call stacks of threads: which span lies in which, and the device work that each has launched.

Whole ranks are kept as arrays (`SpanTree`); `CallStackNode`s are made of them when somebody asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from spotter.hta._frames import narrowed
from spotter.hta._span_tree import SpanTree
from spotter.hta.common.types import DeviceType, infer_device_type
from spotter.hta.configs.config import logger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spotter.hta.common.trace_symbol_table import TraceSymbolTable

    DFSCallback = Callable[[int, "CallStackNode"], None]

NON_EXISTENT_NODE_INDEX = -2
NULL_NODE_INDEX = -1
EVENT_START = 1
EVENT_END = -1
OPEN_END = -1
CLOSE_END = 1


@dataclass(slots=True)
class CallStackNode:
    """An event in a stack. `depth`: 0 for the outermost spans, -1 for the root of a thread. `height`: 0 for device work, 1
    for spans with nothing in them. `children`: event ids, in the order in which they start."""

    parent: int = -1
    depth: int = -1
    height: int = -1
    device: DeviceType = DeviceType.CPU
    children: list[int] = field(default_factory=list)


class CallStackIdentity(NamedTuple):
    """Whose stack it is."""

    rank: int = -1
    pid: int = -1
    tid: int = -1


class CallStackGraph:
    """The stack of one thread. The events of a rank's stacks share one dict of nodes (`nodes`, by event id); the root has a
    negative id (`root_index`).

    Attributes: `df` (the thread's rows), `full_df` (all of the rank's), `identity`, `device_type`, `correlations`
    (`cpu_index`, `gpu_index`: launches and their device work), `symbol_table`.
    """

    def __init__(
        self,
        df: pd.DataFrame,
        identity: CallStackIdentity,
        cpu_gpu_correlation: pd.DataFrame,
        full_df: pd.DataFrame,
        symbol_table: TraceSymbolTable,
        nodes: dict[int, CallStackNode] | None = None,
        use_existing_stack_columns: bool = True,
        save_call_stack_to_df: bool = True,
    ) -> None:
        """Builds the stack of the rows of `df` that are on no stream.

        Args:
            df: rows with `index`, `ts` and `dur` of one thread. Those of device work alone give no stack, with a warning.
            nodes: to which the nodes are added.
            use_existing_stack_columns: take `parent`, `depth` and `height` from `df` if an earlier graph has put them there.
            save_call_stack_to_df: put the results into `full_df`, as far as it has such columns.
        """
        self.identity = identity
        self.device_type = infer_device_type(df)
        self.root_index = -abs(identity.tid)
        self.correlations = cpu_gpu_correlation
        self.full_df = full_df
        self.symbol_table = symbol_table
        self._df: pd.DataFrame | None = df
        self._nodes: dict[int, CallStackNode] | None = {} if nodes is None else nodes
        self._tree: SpanTree | None = None
        self._places: np.ndarray = np.zeros(0, dtype=np.int64)
        if self.device_type is DeviceType.GPU:
            logger.warning("%s is a stream of a device, which has no call stack", identity)
            return
        if use_existing_stack_columns and _has_stack(df):
            self.nodes.update(_nodes_of_columns(df, self.root_index))
        else:
            self._add(_tree_of_thread(df, self.root_index, cpu_gpu_correlation, full_df))
        self._set_root_device()
        if save_call_stack_to_df:
            self.save_call_stack_to_dataframe()

    @classmethod
    def _of_tree(
        cls, tree: SpanTree, places: np.ndarray, root: int, identity: CallStackIdentity, correlations: pd.DataFrame,
        full_df: pd.DataFrame, symbol_table: TraceSymbolTable,
    ) -> CallStackGraph:  # fmt: skip
        """A thread of a tree, whose nodes are made when they are needed."""
        graph = cls.__new__(cls)
        graph.identity, graph.correlations, graph.full_df, graph.symbol_table = identity, correlations, full_df, symbol_table
        graph.device_type = DeviceType.CPU if (full_df["stream"].to_numpy()[places] < 0).all() else DeviceType.UNKNOWN
        graph.root_index = root
        graph._df, graph._nodes, graph._tree, graph._places = None, None, tree, places
        return graph

    def _add(self, tree: SpanTree) -> None:
        """The nodes of one thread, besides those that are there."""
        for event, node in tree.nodes.items():
            known = self.nodes.setdefault(event, node)
            if known is not node and event == self.root_index:
                known.children += node.children
                known.height = max(known.height, node.height)

    def _set_root_device(self) -> None:
        if self.root_index in self.nodes:
            self.nodes[self.root_index].device = self.device_type

    @property
    def df(self) -> pd.DataFrame:
        """The thread's rows."""
        return self.full_df.iloc[self._places] if self._df is None else self._df

    @property
    def nodes(self) -> dict[int, CallStackNode]:
        """The nodes of all threads of the rank, by event id."""
        if self._nodes is None:
            assert self._tree is not None
            self._nodes = self._tree.nodes
            self._set_root_device()
        return self._nodes

    def __repr__(self) -> str:
        return "CallStackGraph\n" + "".join(f"    {event}: {node}\n" for event, node in self.nodes.items())

    def get_nodes(self) -> dict[int, CallStackNode]:
        """`nodes`."""
        return self.nodes

    def get_dataframe(self) -> pd.DataFrame:
        """`df`."""
        return self.df

    def get_parent(self, idx: int) -> int:
        """The span around an event; -2 with a warning if the event is not there."""
        if idx not in self.nodes:
            logger.warning("event %s is not in the call stacks of %s", idx, self.identity)
            return NON_EXISTENT_NODE_INDEX
        return self.nodes[idx].parent

    def get_children(self, idx: int) -> list[int]:
        """The events directly below one."""
        return self.nodes[idx].children if idx in self.nodes else []

    def get_root(self, idx: int) -> int:
        """The root of the stack that an event is in; -1 if it is in none."""
        path = self.get_path_to_root(idx)
        return path[-1] if path else NULL_NODE_INDEX

    def get_path_to_root(self, idx: int) -> list[int]:
        """From an event up to the root."""
        path: list[int] = []
        while idx in self.nodes:
            path.append(idx)
            if self.nodes[idx].parent == idx or self.nodes[idx].depth < 0:
                break
            idx = self.nodes[idx].parent
        return path

    def get_paths_to_leaves(self, idx: int, include_cuda_kernel: bool = False) -> list[list[int]]:
        """From an event down to each one below it that has nothing below.

        Args:
            include_cuda_kernel: whether device work itself has such a path.
        """
        paths, path = [], []  # type: list[list[int]], list[int]
        for event, enters in self._walk(idx if self._is_start(idx, include_cuda_kernel) else None):
            if not enters:
                path.pop()
                continue
            path.append(event)
            if not self.nodes[event].children:
                paths.append(path.copy())
        return paths

    def get_leaf_nodes(self, idx: int, include_gpu_kernel: bool = False) -> list[int]:
        """The events below one that have nothing below.

        Args:
            include_gpu_kernel: whether device work is its own leaf.
        """
        return [event for event in self.get_descendants(idx, include_gpu_kernel) if not self.nodes[event].children]

    def get_descendants(self, idx: int, include_gpu_kernel: bool = False) -> list[int]:
        """An event and all below it, each before what is below it.

        Args:
            include_gpu_kernel: whether device work is its own descendant.
        """
        start = idx if self._is_start(idx, include_gpu_kernel) else None
        return [event for event, enters in self._walk(start) if enters]

    def _is_start(self, idx: int, include_device: bool) -> bool:
        return idx in self.nodes and (include_device or self.nodes[idx].device is not DeviceType.GPU)

    def _walk(self, idx: int | None) -> Iterator[tuple[int, bool]]:
        """The events from one downwards, each when it is entered and when it is left."""
        todo = [] if idx is None else [(idx, True)]
        while todo:
            event, enters = todo.pop()
            yield event, enters
            if enters:
                todo.append((event, False))
                todo += [(child, True) for child in reversed(self.nodes[event].children)]

    def dfs_traverse(self, enter_func: DFSCallback, exit_func: DFSCallback) -> None:
        """Calls a function with the id and node of each event, from the root, before what is below it, and another one
        after."""
        for event, enters in self._walk(self.root_index if self.root_index in self.nodes else None):
            (enter_func if enters else exit_func)(event, self.nodes[event])

    def get_depth(self) -> pd.Series:
        """Of the thread's events: of those of `df` if `full_df` holds depths, else by event id."""
        if "depth" in self.full_df.columns:
            if self._df is None:
                return self.df["depth"]
            return self.full_df["depth"][self.full_df["index"].isin(self._df["index"]).to_numpy()]
        depths = {event: self.nodes[event].depth for event in self.df["index"].tolist() if event in self.nodes}
        return pd.Series(depths, dtype=pd.Int16Dtype(), name="depth")

    def update_parent_of_first_layer_nodes(self, new_parent_index: int) -> None:
        """Puts all that is directly below the root below another event, after what that has; the root goes.

        Raises:
            ValueError: there is no such event.
        """
        if new_parent_index not in self.nodes:
            raise ValueError(f"event {new_parent_index} is not in the call stacks of {self.identity}")
        moved = self.nodes.pop(self.root_index).children
        self.nodes[new_parent_index].children += moved
        for event in moved:
            self.nodes[event].parent = new_parent_index
        self.root_index = self.get_root(new_parent_index)
        self._measure(SpanTree.of_nodes(self.nodes, self.full_df))

    def _measure(self, tree: SpanTree) -> None:
        """Sets depths and heights anew."""
        for node, depth, height in zip(self.nodes.values(), tree.depth.tolist(), tree.height.tolist()):
            node.depth, node.height = depth, height

    def save_call_stack_to_dataframe(self, apply_whole_graph: bool = False) -> None:
        """Puts parents, depths, heights and what is known of the device work into those of these columns that `full_df` has.

        Args:
            apply_whole_graph: for all threads that share the nodes, and not for this one alone.
        """
        names = [name for name in STACK_COLUMNS if name in self.full_df.columns]
        if not names or self.root_index not in self.nodes:
            return
        tree = SpanTree.of_nodes(self.nodes, self.full_df)
        self._measure(tree)
        rows = np.arange(len(tree.ids))
        if not apply_whole_graph:
            root = tree.row_of(self.root_index)
            assert root is not None
            rows = np.array(tree.below(root), dtype=np.int64)
        rows = rows[tree.places[rows] >= 0]
        columns = tree.columns(self.full_df)
        for name in names:
            old = self.full_df[name].to_numpy()
            new = old.astype(np.result_type(old.dtype, columns[name].dtype))
            new[tree.places[rows]] = columns[name][rows]
            self.full_df[name] = narrowed(new)


STACK_COLUMNS = (
    "depth",
    "height",
    "parent",
    "num_kernels",
    "kernel_dur_sum",
    "kernel_span",
    "first_kernel_start",
    "last_kernel_end",
)


def _has_stack(df: pd.DataFrame) -> bool:
    """Whether a graph has been put into the frame."""
    return {"parent", "depth", "height"} <= set(df.columns) and bool((df["parent"] != NULL_NODE_INDEX).any())


def _nodes_of_columns(df: pd.DataFrame, root: int) -> dict[int, CallStackNode]:
    on_host = df[df["stream"] < 0] if "stream" in df.columns else df
    on_host = on_host.sort_values(["ts", "depth"], kind="stable")
    nodes = {root: CallStackNode(height=1)}
    columns = (on_host[name].tolist() for name in ("index", "parent", "depth", "height"))
    nodes.update({event: CallStackNode(parent, depth, height) for event, parent, depth, height in zip(*columns)})
    for event, node in list(nodes.items())[1:]:
        if node.parent in nodes:
            nodes[node.parent].children.append(event)
        if node.parent == root:
            nodes[root].height = max(nodes[root].height, node.height + 1)
    return nodes


def _tree_of_thread(df: pd.DataFrame, root: int, correlation: pd.DataFrame, full_df: pd.DataFrame) -> SpanTree:
    """The tree of a thread, and of the device work of its launches that `full_df` has; its places are those of `full_df`, if
    that has the thread's rows."""
    device = full_df[full_df["index"].isin(correlation["gpu_index"]) & ~full_df["index"].isin(df["index"])]
    both = pd.concat([df[["index", "ts", "dur"]], device[["index", "ts", "dur"]]])
    thread = np.full(len(both), -1, dtype=np.int64)
    thread[: len(df)] = np.where(df["stream"].to_numpy() < 0, 0, -1)
    places = pd.Index(both["index"])
    launches = places.get_indexer(pd.Index(correlation["cpu_index"]))
    kernels = places.get_indexer(pd.Index(correlation["gpu_index"]))
    is_pair = (launches >= 0) & (kernels >= len(df))
    return SpanTree.of_frame(both, thread, [root], launches[is_pair], kernels[is_pair])


def sort_events(a: np.ndarray) -> None:
    """Sorts the beginnings and ends of events in place, so that each event lies between those of what is around it.

    Args:
        a: a row for each beginning and end: event, duration, OPEN_END or CLOSE_END, time.
    """
    a[:] = a[_order(a)]


def is_events_sorted(arr: np.ndarray) -> bool:
    """Whether `sort_events` would change nothing."""
    return bool((_order(arr) == np.arange(len(arr))).all())


def _less_than(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether one row comes before another one."""
    return bool(_order(np.stack([x, y]))[0] == 0)


def _order(a: np.ndarray) -> np.ndarray:
    """The order of rows. At the same time ends come first, then beginnings, then events without duration. If nothing begins,
    events without duration come first, so that they lie in what ends."""
    event, dur, kind, time = a[:, 0], a[:, 1], a[:, 2], a[:, 3]
    lasts, opens = dur > 0, kind == OPEN_END
    phase = np.where(opens, 2, 1)
    phase[~lasts] = np.where(np.isin(time[~lasts], time[lasts & opens]), 3, 0)
    length = np.where(lasts, kind * dur, kind)
    return np.lexsort((np.where(opens, event, -event), length, phase, time))
