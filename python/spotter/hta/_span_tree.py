"""Which span of a thread lies in which, and the device work below them: whole ranks, as arrays."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
import pandas as pd

from spotter.hta.common.types import DeviceType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from spotter.hta.common.trace_call_stack import CallStackNode


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
        parents = np.where(self.parent >= 0, self.ids[self.parent], -1)
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
        from spotter.hta.common.trace_call_stack import CallStackNode  # which needs this module

        order, begins = self._children
        children = self.ids[order].tolist()
        parents = np.where(self.parent >= 0, self.ids[self.parent], -1).tolist()
        devices = [DeviceType.GPU if is_device else DeviceType.CPU for is_device in self.is_device.tolist()]
        begin = begins.tolist()
        return {
            event: CallStackNode(parent, depth, height, device, children[first:end])
            for event, parent, depth, height, device, first, end in zip(
                self.ids.tolist(), parents, self.depth.tolist(), self.height.tolist(), devices, begin, begin[1:]
            )
            if depth >= 0 or end > first
        }
