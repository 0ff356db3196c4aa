"""The call stacks of all threads of a trace, and the device work below them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from spotter.hta._frames import narrowed
from spotter.hta._span_tree import SpanTree, durations
from spotter.hta.common.trace import Trace
from spotter.hta.common.trace_call_stack import CallStackGraph, CallStackIdentity, CallStackNode
from spotter.hta.common.trace_symbol_table import TraceSymbolTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

_STEP, _BACKWARD, _AUTOGRAD = "ProfilerStep#", "## backward ##", "autograd::"
_NO_STACK = {"depth": -1, "height": -1, "parent": -1, "first_kernel_start": -1.0, "last_kernel_end": -1.0}
_MAPPING = ["rank", "pid", "tid", "label", "stack_index", "stack_root", "count"]


class CallGraph:
    """The call stacks of ranks. Making one adds columns to the ranks' frames: `parent` (event id; that of a thread's root is
    negative), `depth`, `height`, and of the device work at or below each event `num_kernels`, `kernel_dur_sum`,
    `first_kernel_start`, `last_kernel_end` and `kernel_span` (us).

    Where a rank has one thread with steps (`ProfilerStep#N`) and one of autograd, the outermost spans of the latter become
    children of the `## backward ##` that they lie in, or of the step if there are no such annotations.

    Attributes: `trace_data`, `ranks`, `call_stacks` (a list), `rank_to_stacks` (of each rank by `CallStackIdentity`), and
    `mapping`, a frame with a row for each stack: rank, pid, tid, label ("main", "bwd" or the thread's first event),
    stack_index (in `call_stacks`), stack_root (event id), count (which of the rank's stacks with that root it is).
    """

    stack_columns: list[str] = [
        "parent",
        "depth",
        "height",
        "first_kernel_start",
        "last_kernel_end",
        "num_kernels",
        "kernel_dur_sum",
        "kernel_span",
    ]

    def __init__(self, trace: Trace, ranks: list[int] | None = None) -> None:
        """Args:
            ranks: all if None; ranks that the trace has not are left out.

        Raises:
            ValueError: no rank is left.
        """
        there = list(trace.get_all_traces())
        self.trace_data = trace
        self.ranks = there if not ranks else [rank for rank in ranks if rank in there]
        if not self.ranks:
            raise ValueError(f"the trace has none of the ranks {ranks}, but {there}" if ranks else "the trace has no ranks")
        self.call_stacks: list[CallStackGraph] = []
        self.rank_to_stacks: dict[int, dict[CallStackIdentity, CallStackGraph]] = {}
        self._trees: dict[int, SpanTree] = {}
        self._last_rank = self.ranks[0]
        rows: list[tuple] = []
        for rank in self.ranks:
            rows += self._add(rank)
        self.mapping = pd.DataFrame(rows, columns=_MAPPING)

    @staticmethod
    def from_dataframe(df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None, rank: int = -1) -> CallGraph:
        """The call stacks of one frame, of which a copy gets the columns (`trace_data.get_trace(rank)`).

        Args:
            symbol_table: of the ids in `cat` and `name`; None if these are texts.

        Raises:
            ValueError: they are neither.
        """
        df = df.copy()
        if symbol_table is None:
            symbol_table = TraceSymbolTable.create_from_df(df)
            symbol_table.encode_df(df)
        trace = Trace(trace_files={})
        trace.symbol_table = symbol_table
        trace.traces[rank] = df
        return CallGraph(trace, ranks=[rank])

    def _add(self, rank: int) -> list[tuple]:
        """Builds the stacks of a rank; their rows of `mapping`."""
        df = self.trace_data.get_trace(rank)
        symbols = self.trace_data.symbols_of(rank)
        threads, group = _threads(df, rank)
        thread = np.where(df["stream"].to_numpy() < 0, group, -1)
        kernels, launches = _launched(df)
        tree = SpanTree.of_frame(df, thread, _roots(threads), launches, kernels)
        labels = _labels(df, symbols, thread, len(threads))
        roots = tree.ids[: len(threads)].tolist()
        main, backward = ([one for one, label in enumerate(labels) if label == kind] for kind in ("main", "bwd"))
        if len(main) == 1 and len(backward) == 1 and _link(tree, df, symbols, main[0], backward[0]):
            roots[backward[0]] = roots[main[0]]
        _write(df, tree)
        self._trees[rank], self.rank_to_stacks[rank] = tree, {}
        ids, rows = df["index"].to_numpy(), []
        correlations = pd.DataFrame({"gpu_index": ids[kernels], "cpu_index": ids[launches]})
        order = np.argsort(group, kind="stable")
        places = np.split(order, np.searchsorted(group[order], np.arange(len(threads) + 1)))[1:-1]
        for one, identity in enumerate(threads):
            stack = CallStackGraph._of_tree(tree, places[one], roots[one], identity, correlations, df, symbols)
            rows.append((*identity, labels[one], len(self.call_stacks), roots[one], roots[: one + 1].count(roots[one])))
            self.call_stacks.append(stack)
            self.rank_to_stacks[rank][identity] = stack
        return rows

    @property
    def rank_to_nodes(self) -> dict[int, dict[int, CallStackNode]]:
        """The nodes of each rank, by event id."""
        return {rank: tree.nodes for rank, tree in self._trees.items()}

    def get_call_stacks(
        self, rank: int | None = None, pid: int | None = None, tid: int | None = None, stack_index: int | None = None
    ) -> Generator[CallStackGraph, None, None]:
        """The stacks for which all of this holds; None: whatever it is."""
        wanted = {"rank": rank, "pid": pid, "tid": tid, "stack_index": stack_index}
        rows = self.mapping
        for column, value in wanted.items():
            if value is not None:
                rows = rows[rows[column] == value]
        for place in rows["stack_index"].tolist():
            yield self.call_stacks[place]

    def get_node_attributes(self, index: int, rank: int | None = None) -> pd.Series:
        """The row of an event.

        Args:
            rank: None: the one that was asked for last, at first the first.

        Raises:
            ValueError: there is no such event, or no such rank.
        """
        df = self.trace_data.get_trace(self._rank(rank))
        places = np.flatnonzero(df["index"].to_numpy() == index)
        if not len(places):
            raise ValueError(f"rank {self._last_rank} has no event {index}")
        return df.iloc[places[0]]

    def get_csg_of_node(self, index: int, rank: int | None = None) -> CallStackGraph:
        """The stack of the thread on which an event is, or by which it was launched.

        Args:
            rank: as in `get_node_attributes`.

        Raises:
            ValueError: the event is in no stack, or there is no such rank.
        """
        tree, row = self._find(index, rank)
        return list(self.rank_to_stacks[self._last_rank].values())[tree.thread[row]]

    def get_stack_of_node(self, index: int, rank: int | None = None, skip_ancestors: bool = False) -> pd.DataFrame:
        """The rows of an event, of those around it and of those below it, by start.

        Args:
            rank: as in `get_node_attributes`.
            skip_ancestors: without those around it.

        Raises:
            ValueError: the event is in no stack, or there is no such rank.
        """
        tree, row = self._find(index, rank)
        rows = np.array(([] if skip_ancestors else tree.above(row)) + tree.below(row))
        df = self.trace_data.get_trace(self._last_rank)
        places = tree.places[rows]
        return df.iloc[places[np.lexsort((tree.depth[rows], df["ts"].to_numpy()[places]))]]

    def get_gpu_kernels(self, rank: int | None = None) -> pd.DataFrame:
        """The rows on streams of devices.

        Args:
            rank: as in `get_node_attributes`.

        Raises:
            ValueError: there is no such rank.
        """
        df = self.trace_data.get_trace(self._rank(rank))
        return df[df["stream"] >= 0]

    def _rank(self, rank: int | None) -> int:
        if rank is not None:
            if rank not in self._trees:
                raise ValueError(f"the call graph has no rank {rank}, but {self.ranks}")
            self._last_rank = rank
        return self._last_rank

    def _find(self, index: int, rank: int | None) -> tuple[SpanTree, int]:
        tree = self._trees[self._rank(rank)]
        row = tree.row_of(index)
        if row is None or tree.places[row] < 0:
            raise ValueError(f"event {index} of rank {self._last_rank} is in no call stack")
        return tree, row


def _threads(df: pd.DataFrame, rank: int) -> tuple[list[CallStackIdentity], np.ndarray]:
    """The threads on the host by pid and tid, and for each row the number of its thread (-1: of none). Process 0 and thread
    0 stand for devices."""
    process, pids = pd.factorize(df["pid"].to_numpy())
    inner, tids = pd.factorize(df["tid"].to_numpy())
    pair = np.where((process < 0) | (inner < 0), -1, process * len(tids) + inner)
    pairs = np.unique(pair[(df["stream"].to_numpy() < 0) & (pair >= 0)]).tolist()
    names = {one: (pids[one // len(tids)], tids[one % len(tids)]) for one in pairs}
    names = {one: name for one, name in names.items() if 0 not in name}
    pairs = sorted(names, key=lambda one: [(isinstance(value, str), value) for value in names[one]])
    group = pd.Index(pairs, dtype=np.int64).get_indexer(pair)
    return [CallStackIdentity(rank, *(_plain(value) for value in names[one])) for one in pairs], group


def _plain(value: object) -> int:
    return value.item() if isinstance(value, np.generic) else value  # type: ignore[return-value]


def _roots(threads: list[CallStackIdentity]) -> list[int]:
    """An id for the root of each thread: -tid, or a lower one if another thread has that."""
    roots: list[int] = []
    for place, thread in enumerate(threads):
        root = -abs(thread.tid) if isinstance(thread.tid, (int, float)) else -(1 << 40) - place
        while root in roots:
            root -= 1 << 32
        roots.append(int(root))
    return roots


def _launched(df: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The places of device work and of its launches."""
    partner = df["index_correlation"].to_numpy()
    kernels = np.flatnonzero((df["stream"].to_numpy() >= 0) & (partner > 0))
    launches = pd.Index(df["index"]).get_indexer(partner[kernels])
    return kernels[launches >= 0], launches[launches >= 0]


def _labels(df: pd.DataFrame, symbols: TraceSymbolTable, thread: np.ndarray, count: int) -> list[str]:
    """What each thread does: main if it has steps, bwd if it has autograd's spans, else how its first event is called."""
    host = np.flatnonzero(thread >= 0)
    thread, names = thread[host], df["name"].to_numpy()[host]
    first = np.unique(thread, return_index=True)[1]
    labels = [symbols.get_sym_table()[name] for name in names[first].tolist()]
    for label, is_sign in (("bwd", _which(symbols, _AUTOGRAD)), ("main", _which(symbols, _STEP, starts=True))):
        for one in np.unique(thread[is_sign[names]]).tolist():
            labels[one] = label
    return labels


def _which(symbols: TraceSymbolTable, text: str, starts: bool = False) -> np.ndarray:
    """For each symbol, whether it contains a text, or starts with it."""
    return np.array([name.startswith(text) if starts else text in name for name in symbols.get_sym_table()], dtype=bool)


def _link(tree: SpanTree, df: pd.DataFrame, symbols: TraceSymbolTable, main: int, backward: int) -> bool:
    """Puts the outermost spans of the backward thread into the main thread's annotations that they lie in.

    Returns:
        Whether that were all of them.
    """
    names, start = df["name"].to_numpy(), df["ts"].to_numpy()
    end = start + durations(df)
    on_main = np.flatnonzero((tree.thread == main) & ~tree.is_device & (tree.places >= 0))
    around = on_main[_which(symbols, _BACKWARD)[names[tree.places[on_main]]]]
    if not len(around):
        around = on_main[_which(symbols, _STEP, starts=True)[names[tree.places[on_main]]]]
    until = np.maximum.accumulate(end[tree.places[around]])
    around = around[np.concatenate([[True], until[1:] > until[:-1]])[: len(around)]]
    outermost = np.flatnonzero(tree.parent == backward)
    places = tree.places[outermost]
    before = np.searchsorted(start[tree.places[around]], start[places], side="right") - 1
    inside = (before >= 0) & (end[places] <= end[tree.places[around[before]]]) if len(around) else before >= 0
    tree.move(outermost[inside], around[before[inside]])
    return bool(inside.all())


def _write(df: pd.DataFrame, tree: SpanTree) -> None:
    """Adds the columns to the frame."""
    if "end" not in df.columns:
        df["end"] = df["ts"] + df["dur"]
    rows = tree.places >= 0
    for name, values in tree.columns(df).items():
        column = np.full(len(df), _NO_STACK.get(name, 0), dtype=values.dtype)
        column[tree.places[rows]] = values[rows]
        df[name] = narrowed(column)
