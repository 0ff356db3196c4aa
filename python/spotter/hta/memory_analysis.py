"""What a process had allocated over time, by purpose, from PyTorch's `export_memory_timeline`.

The memory events in a trace itself are another thing: `spotter.memory_timeline(path)` is about those.
"""

from __future__ import annotations

import enum
import json
import os

import numpy as np

from spotter.hta._figures import graph_objects
from spotter.hta.common.trace_file import open_text

CATEGORIES = ["Parameter", "Optimizer state", "Input", "Temporary", "Activation", "Gradient", "Autograd", "Unknown"]
"""By the number that the file has for each."""

_COLORS = ["#66c5cc", "#f6cf71", "#f89c74", "#dcb0f2", "#87c55f", "#9eb9f3", "#fe88b1", "#c9db74"]
_IMAGE = os.path.join("images", "memory_plot.png")
_NS_PER_MS, _BYTES_PER_GIB = 1e6, 1024**3


class Category(enum.Enum):
    """Purposes of memory, by the numbers of PyTorch's profiler."""

    INPUT = 1
    TEMPORARY = 2
    ACTIVATION = 3
    GRADIENT = 4
    AUTOGRAD_DETAIL = 5
    PARAMETER = 6
    OPTIMIZER_STATE = 7


class MemoryAnalysis:
    """A file that ends in `.raw.json.gz`: a list of [time in ns, action, bytes, category], where bytes are negative for what
    is released, and time is -1 for what was there before."""

    def __init__(self, path: str) -> None:
        """The file is read when something is drawn."""
        self.path = path

    def plot_memory_timeline(self, save_graph: bool = False) -> None:
        """Draws the memory in use by category, one on top of the other: GiB over ms since the first event.

        Args:
            save_graph: write images/memory_plot.png instead (needs the package kaleido).

        Raises:
            OSError: the file cannot be read.
            ValueError: it is no memory timeline, or has no event.
        """
        times, sizes = self._timeline()
        if len(times) == 0:
            raise ValueError(f"{self.path}: there is no memory event in it")
        go = graph_objects()
        if go is None:
            return
        figure = go.Figure()
        milliseconds = (times - times[0]) / _NS_PER_MS
        tops = sizes.cumsum(axis=1) / _BYTES_PER_GIB
        for name, color, top in zip(CATEGORIES, _COLORS, tops.T):
            line = {"color": color, "shape": "hv"}
            figure.add_scatter(x=milliseconds, y=top, name=name, mode="lines", line=line, fill="tonexty", fillcolor=color)
        figure.data[0].fill = "tozeroy"
        axes = {"xaxis_title": "Time (ms)", "yaxis_title": "Memory (GB)"}
        figure.update_layout(title="Memory timeline", width=1200, height=800, **axes)
        if save_graph:
            os.makedirs(os.path.dirname(_IMAGE), exist_ok=True)
            figure.write_image(_IMAGE)
        else:
            figure.show()

    def _process_raw_events(self) -> tuple[list[int], list[list[int]]]:
        """Times, and of each the bytes in use by category."""
        times, sizes = self._timeline()
        return times.tolist(), sizes.tolist()

    def _timeline(self) -> tuple[np.ndarray, np.ndarray]:
        """Times in ns, one for each run of events of the same time, and bytes in use after it: time x category."""
        events = self._events()
        if len(events) == 0:
            return np.zeros(0, dtype=np.int64), np.zeros((0, len(CATEGORIES)), dtype=np.int64)
        change = np.zeros((len(events), len(CATEGORIES)), dtype=np.int64)
        change[np.arange(len(events)), events[:, 3]] = events[:, 2]
        time = events[:, 0]
        is_last = np.append(time[1:] != time[:-1], True)
        times, sizes = time[is_last], change.cumsum(axis=0)[is_last]
        begins = times[times >= 0]
        return np.where(times < 0, begins.min() if len(begins) else times, times), sizes

    def _events(self) -> np.ndarray:
        """Rows of four integers."""
        try:
            with open_text(self.path) as file:
                events = np.array(json.load(file) or np.zeros((0, 4)), dtype=np.int64)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{self.path}: a list of [time, action, bytes, category] is wanted: {error}") from None
        if events.ndim != 2 or events.shape[1] != 4 or not ((events[:, 3] >= 0) & (events[:, 3] < len(CATEGORIES))).all():
            raise ValueError(f"{self.path}: a list of [time, action, bytes, category from 0 to 7] is wanted")
        return events
