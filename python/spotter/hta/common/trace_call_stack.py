"""The call stacks of threads: which span lies in which, and the device work that each has launched.

Whole ranks are kept as arrays (`SpanTree`); `CallStackNode`s are made of them when somebody asks for them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from spotter.hta.common.types import DeviceType, infer_device_type
from spotter.hta.configs.config import logger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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


def enclosing(starts: Iterable[float], ends: Iterable[float], zero_nests: bool = True) -> list[int]:
    """For each span of a thread the position of the innermost one that is open when it starts; -1 if there is none. So a
    span that overlaps another one in part counts as lying in it. A span without duration lies in what starts or, else, ends
    at its time.

    Args:
        starts: sorted; of several spans that start together the longer ones come first.
        zero_nests: whether of several spans without duration at the same time each lies in the one before.
    """
    parents: list[int] = []
    open_spans, open_ends = [-1], [math.inf]
    for position, (start, end) in enumerate(zip(starts, ends)):
        while (limit := open_ends[-1]) < start or (limit == start and start < end):
            open_ends.pop()
            open_spans.pop()
        parents.append(open_spans[-1])
        if zero_nests or start < end:
            open_spans.append(position)
            open_ends.append(end)
    return parents


def durations(df: pd.DataFrame) -> np.ndarray:
    """Of the rows; negative ones, which rounding makes of short spans, count as 0."""
    return np.maximum(df["dur"].to_numpy(), 0)


class SpanTree:
    """Spans of threads and the device work below them: row by row the event's `ids`, its place in the frame (`places`), the
    row of its `parent`, its `thread`, and whether it `is_device` work. The first rows are the roots of the threads, without
    a place in the frame and with negative ids; spans follow, thread by thread in the order in which they start, and then
    device work."""

    def __init__(
        self, ids: np.ndarray, places: np.ndarray, parent: np.ndarray, thread: np.ndarray, is_device: np.ndarray
    ) -> None:
        self.ids, self.places, self.parent, self.thread, self.is_device = ids, places, parent, thread, is_device

    @classmethod
    def of_frame(
        cls, df: pd.DataFrame, thread: np.ndarray, roots: Sequence[int], launches: np.ndarray, kernels: np.ndarray
    ) -> SpanTree:
        """Builds it.

        Args:
            thread: of each row of the frame, by number; -1 for rows that are no host spans.
            roots: a negative id for each thread.
            launches: for each piece of device work the place of its launch in the frame. If that is not a host span, the
                device work is left out.
            kernels: the places of the device work.
        """
        ids, start, dur = df["index"].to_numpy(), df["ts"].to_numpy(), durations(df)
        host = np.flatnonzero(thread >= 0)
        host = host[np.lexsort((ids[host], -dur[host], start[host], thread[host]))]
        bounds = np.searchsorted(thread[host], np.arange(len(roots) + 1))
        starts, ends = start[host], (start + dur)[host]
        parent = np.full(len(roots) + len(host), -1, dtype=np.int64)
        for one, (begin, end) in enumerate(zip(bounds[:-1], bounds[1:])):
            inner = np.array(enclosing(starts[begin:end].tolist(), ends[begin:end].tolist()), dtype=np.int64)
            parent[len(roots) + begin : len(roots) + end] = np.where(inner < 0, one, inner + begin + len(roots))
        row = np.full(len(df), -1, dtype=np.int64)
        row[host] = np.arange(len(roots), len(parent))
        known = row[launches] >= 0
        launched_by, kernels = row[launches[known]], kernels[known]
        of_host = np.concatenate([np.arange(len(roots)), thread[host]])
        return cls(
            np.concatenate([np.asarray(roots, dtype=np.int64), ids[host], ids[kernels]]),
            np.concatenate([np.full(len(roots), -1), host, kernels]),
            np.concatenate([parent, launched_by]),
            np.concatenate([of_host, of_host[launched_by]]),
            np.arange(len(parent) + len(kernels)) >= len(parent),
        )

    @classmethod
    def of_nodes(cls, nodes: dict[int, CallStackNode], df: pd.DataFrame) -> SpanTree:
        """Of nodes in any order. Those with a negative depth are roots; else depths and heights are not looked at."""
        ids = np.fromiter(nodes, dtype=np.int64, count=len(nodes))
        parents = np.fromiter((node.parent for node in nodes.values()), dtype=np.int64, count=len(nodes))
        is_root = np.array([node.depth < 0 for node in nodes.values()], dtype=bool)
        parent = np.where(is_root, -1, pd.Index(ids).get_indexer(parents))
        is_device = np.array([node.device is DeviceType.GPU for node in nodes.values()], dtype=bool)
        return cls(ids, pd.Index(df["index"]).get_indexer(ids), parent, np.zeros(len(ids), dtype=np.int64), is_device)

    def move(self, rows: np.ndarray, parents: np.ndarray) -> None:
        """Puts rows below other ones, after what they have; before anybody asks for nodes."""
        self.parent[rows] = parents
        for derived in ("depth", "height", "_children", "nodes"):
            self.__dict__.pop(derived, None)

    @cached_property
    def depth(self) -> np.ndarray:
        """How many spans each is in; -1 for roots."""
        depth, above = (self.parent >= 0).astype(np.int64), self.parent
        while (has_more := above >= 0).any():  # `above` is 1, 2, 4 ... levels above, and `depth` the levels up to there
            depth[has_more] += depth[above[has_more]]
            above = np.where(has_more, above[above], -1)
        return depth - 1

    @cached_property
    def height(self) -> np.ndarray:
        """How many levels are below each, one more for spans."""
        height = np.where(self.is_device, 0, 1)
        for rows in self._levels(np.flatnonzero(self.parent >= 0)):
            np.maximum.at(height, self.parent[rows], height[rows] + 1)
        return height

    def _levels(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        """These rows by depth, the deepest first."""
        rows = rows[np.argsort(-self.depth[rows], kind="stable")]
        bounds = np.flatnonzero(np.diff(self.depth[rows])) + 1
        return iter(np.split(rows, bounds))

    def kernel_sums(self, df: pd.DataFrame) -> dict[str, np.ndarray]:
        """Of the device work at or below each row: how many, their durations, and from when to when (us; -1 if there is
        none)."""
        count, total = np.zeros(len(self.ids), dtype=np.int64), np.zeros(len(self.ids))
        first, last = np.full(len(self.ids), np.inf), np.full(len(self.ids), -np.inf)
        places = self.places[self.is_device]
        dur = durations(df)[places]
        count[self.is_device], total[self.is_device] = 1, dur
        first[self.is_device] = df["ts"].to_numpy()[places]
        last[self.is_device] = first[self.is_device] + dur
        has_kernels = self.is_device.copy()
        for depth in range(int(self.depth.max(initial=-1)), -1, -1):
            rows = np.flatnonzero(has_kernels & (self.depth == depth))
            above = self.parent[rows]
            np.add.at(count, above, count[rows])
            np.add.at(total, above, total[rows])
            np.minimum.at(first, above, first[rows])
            np.maximum.at(last, above, last[rows])
            has_kernels[above] = True
        return {
            "num_kernels": count,
            "kernel_dur_sum": total,
            "kernel_span": np.where(count > 0, last - np.where(count > 0, first, 0), 0.0),
            "first_kernel_start": np.where(count > 0, first, -1.0),
            "last_kernel_end": np.where(count > 0, last, -1.0),
        }

    def columns(self, df: pd.DataFrame) -> dict[str, np.ndarray]:
        """What frames say of each event: a value for each row of the tree, for the rows of its frame."""
        parents = np.where(self.parent >= 0, self.ids[self.parent], NULL_NODE_INDEX)
        return {"depth": self.depth, "height": self.height, "parent": parents, **self.kernel_sums(df)}

    @cached_property
    def _children(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows by parent, and where each parent's begin."""
        order = np.argsort(self.parent, kind="stable")
        return order, np.searchsorted(self.parent[order], np.arange(len(self.ids) + 1))

    def row_of(self, event: int) -> int | None:
        """The row of an event, if it is in the tree."""
        row = self._index.get_indexer([event])[0]
        return None if row < 0 else int(row)

    @cached_property
    def _index(self) -> pd.Index:
        return pd.Index(self.ids)

    def above(self, row: int) -> list[int]:
        """The rows from its parent up to the outermost span."""
        rows = []
        while (row := int(self.parent[row])) >= 0 and self.parent[row] >= 0:
            rows.append(row)
        return rows

    def below(self, row: int) -> list[int]:
        """The row itself and all rows below it."""
        order, begins = self._children
        rows = [row]
        for one in rows:
            rows += order[begins[one] : begins[one + 1]].tolist()
        return rows

    @cached_property
    def nodes(self) -> dict[int, CallStackNode]:
        """A node for each row, by event id, but for roots with nothing below them."""
        order, begins = self._children
        children = self.ids[order].tolist()
        parents = np.where(self.parent >= 0, self.ids[self.parent], NULL_NODE_INDEX).tolist()
        devices = [DeviceType.GPU if is_device else DeviceType.CPU for is_device in self.is_device.tolist()]
        begin = begins.tolist()
        return {
            event: CallStackNode(parent, depth, height, device, children[first:end])
            for event, parent, depth, height, device, first, end in zip(
                self.ids.tolist(), parents, self.depth.tolist(), self.height.tolist(), devices, begin, begin[1:]
            )
            if depth >= 0 or end > first
        }


def narrowed(values: np.ndarray) -> np.ndarray:
    """Whole numbers in the smallest type that holds them."""
    if not np.issubdtype(values.dtype, np.integer):
        return values
    return np.asarray(pd.to_numeric(values, downcast="integer"))


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
