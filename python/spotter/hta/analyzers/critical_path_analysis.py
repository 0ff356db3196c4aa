"""The critical path of a part of a trace: the longest chain of work on host and device in it."""

from __future__ import annotations

import copy
import os
import time
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, wraps
from typing import Any, Dict, List, Optional, Set, Tuple, Union

import numpy as np
import pandas as pd

from spotter.hta import _critical_path, _device_edges, _graph_file
from spotter.hta._critical_path import BLOCKING_CALLS, Edges, Stacks, along, check, clipped, counted, distinct
from spotter.hta._device_edges import event_records, launches_in
from spotter.hta._event_graph import EventGraph, nx
from spotter.hta._overlay import overlay
from spotter.hta._rows import by_id
from spotter.hta.common.trace_symbol_table import decode_symbol_id_to_symbol_name
from spotter.hta.configs import env_options
from spotter.hta.configs.config import logger
from spotter.hta.utils.utils import is_comm_kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
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


nodes_in, stacks_in, host_edges, device_edges, longest_path = (
    timeit(function)
    for function in (_critical_path.nodes_in, _critical_path.stacks_in, _critical_path.host_edges, _device_edges.device_edges, _critical_path.longest_path)
)


def _only(t: "Trace", rank: int, frame: pd.DataFrame) -> "Trace":
    """The trace with just this frame."""
    part = copy.copy(t)
    part.traces = {rank: frame}
    return part


class CPGraph(EventGraph):
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

    BLOCKING_SYNC_CALLS: List[str] = list(BLOCKING_CALLS)

    _edge_class, _edge_types = CPEdge, list(CPEdgeType)

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
        self.trace_df: pd.DataFrame = self.full_trace_df.iloc[:0] if t is None else t.get_trace(rank)
        if t is not None and G is None:
            self._build()

    def _build(self) -> None:
        self._ids = self.trace_df.index.to_numpy(np.int64)
        self._nodes = nodes_in(self.trace_df, self.sym_table)
        stacks = stacks_in(self.trace_df)
        self._name_callers(stacks)
        launches = launches_in(self.full_trace_df, self.symbol_table.get_runtime_launch_events_query())
        parts = (
            host_edges(self._nodes, stacks),
            device_edges(self.trace_df, self.full_trace_df, self.sym_table, self._nodes, launches),
        )
        self._take(distinct(Edges(*map(np.concatenate, zip(*parts)))))

    def _name_callers(self, stacks: Stacks) -> None:
        """Columns `depth` and `parent`: ids of callers on the host, of launches on the device."""
        on_device = (self.trace_df["stream"] != -1).to_numpy()
        parent = np.where(stacks.parent >= 0, self._ids[stacks.parent], -1) if len(self._ids) else stacks.parent
        if not env_options.disable_call_graph_depth():
            self.trace_df["depth"] = stacks.depth
        self.trace_df["parent"] = np.where(on_device, self.trace_df["index_correlation"].to_numpy(), parent)

    def _restore(self, arrays: Dict[str, np.ndarray]) -> None:
        self._ids = self.trace_df.index.to_numpy(np.int64)
        self._nodes = nodes_in(self.trace_df, self.sym_table)
        self._take(Edges(*(arrays[name] for name in Edges._fields)))
        if not np.array_equal(arrays["weight_now"], counted(self._found.weight)):
            for begin, end, weight in zip(*(arrays[name].tolist() for name in ("begin", "end", "weight_now"))):
                self._adj[begin][end]["weight"] = weight
        self.critical_path_nodes = arrays["path"].tolist()
        self._path = along(self.critical_path_nodes, self._found)

    @cached_property
    def node_list(self) -> List[CPNode]:
        nodes = self._nodes
        events = self._ids[nodes.row]
        columns = (column.tolist() for column in (events, nodes.ts, nodes.is_start, nodes.is_blocking))
        return [CPNode(number, *values) for number, values in enumerate(zip(*columns))]

    def critical_path(self) -> bool:
        """Finds it, again after weights were changed. False: nothing in the window is linked.

        Raises:
            ValueError: the graph has cycles, a stream waits for itself, or, if the environment forbids that
                (CRITICAL_PATH_STRICT_NEGATIVE_WEIGHT_CHECKS), something begins before what it waits for is over.
        """
        check(self._found, self._nodes, self.trace_df["stream"].to_numpy(), self._told)
        edges, weight = self._links()
        path = longest_path(list(self) if self._is_filled() else self._linked_nodes(), edges, weight)
        self.critical_path_nodes, self._path = path, along(path, edges)
        for name in ("critical_path_events_set", "critical_path_edges_set"):
            self.__dict__.pop(name, None)
        return bool(path)

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
        return self._objects(Edges(*(column[np.isin(self._found.event, row)] for column in self._found)))

    def get_critical_path_breakdown(self) -> Optional[pd.DataFrame]:
        """A row for each edge of the path, from its start: `event_idx` (NaN: no event's time), `duration` (us), `type`, of
        the event `s_name`, `cat`, `pid`, `tid`, `stream` and `index`, and `bound_by`. None: there is no path."""
        if not self.critical_path_nodes:
            return None
        if "s_name" not in self.trace_df.columns:
            decode_symbol_id_to_symbol_name(self.trace_df, self.symbol_table, use_shorten_name=False)
        row = self._path.event
        event = pd.Series(self._ids[row] if (row >= 0).all() else np.where(row >= 0, self._ids[row], np.nan))
        types = np.array([kind.value for kind in CPEdgeType], object)[self._path.type]
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
        edges, weight = self._links()
        arrays = {**edges._asdict(), "weight_now": weight, "path": np.array(self.critical_path_nodes, np.int64)}
        columns = [column for column in ("depth", "parent") if column in self.trace_df.columns]
        _graph_file.write(path, self.trace_df[columns], arrays)
        logger.info("saved the graph to %s", path)
        return path

    def _get_node_name(self, ev_id: int) -> str:
        """The name of an event."""
        return self.sym_table[self.trace_df["name"].loc[ev_id]]

    def _get_cuda_event_record_df(self) -> pd.DataFrame:
        launches = launches_in(self.full_trace_df, self.symbol_table.get_runtime_launch_events_query())
        return event_records(self.full_trace_df, self.sym_table, launches)


def restore_cpgraph(zip_filename: str, t_full: "Trace", rank: int) -> CPGraph:
    """What `CPGraph.save` wrote.

    Args:
        t_full: the trace that the graph was made of, loaded in the same way.

    Raises:
        ValueError: it is no such file, or of another trace.
    """
    rows, arrays = _graph_file.read(zip_filename)
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
        window = clipped(df, symbols, annotation, instance_id)
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
        path_edges = critical_path_graph._objects(critical_path_graph._path)
        if show_all_edges and not only_show_critical_events:
            shows_zero = env_options.critical_path_show_zero_weight_launch_edges()
            objects = (data["object"] for _, _, data in critical_path_graph.edges(data=True))
            edges = [edge for edge in objects if shows_zero or not cls._is_zero_weight_launch_edge(edge)]
        else:
            edges = [edge for edge in path_edges if edge.type in types]

        content = t.get_raw_trace_for_one_rank(rank)
        overlay(content, critical_path_graph, edges, only_show_critical_events)
        os.makedirs(output_dir or ".", exist_ok=True)
        output = os.path.join(output_dir, f"overlaid_critical_path_{os.path.basename(t.trace_files[rank])}")
        t.write_raw_trace(output, content)
        return output

    @staticmethod
    def _is_zero_weight_launch_edge(edge: CPEdge) -> bool:
        return edge.type == CPEdgeType.KERNEL_LAUNCH_DELAY and edge.weight == 0
