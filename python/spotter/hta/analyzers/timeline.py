"""Timelines of device work on the streams of several ranks. `common.timeline` has timelines of all kinds of events."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from spotter.hta import _figures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spotter.hta.common.trace import Trace
    from spotter.hta.common.trace_symbol_table import TraceSymbolTable

_HOVER = ["rank", "stream", "iteration", "s_cat", "cat", "s_name", "name", "dur"]
_MOST = 42  # characters of a label
_BRACKETS = re.compile(r"\([^()]*\)|<[^<>]*>")


def plot_timeline(title: str, events: pd.DataFrame, ranks: list[int] | None = None) -> None:
    """Draws events, which need columns calibrated_start_global, calibrated_end_global, task and label, and shows the figure.
    Without plotly it only says what to install.

    Args:
        ranks: how many there are sets the height.
    """
    if _figures.graph_objects() is None:
        return
    import plotly.express

    figure = plotly.express.timeline(
        events, x_start="calibrated_start_global", x_end="calibrated_end_global", y="task", color="label", title=title,
        width=1600, height=200 + 120 * len(ranks or [0]),
        hover_data=[column for column in _HOVER if column in events.columns],
        category_orders={"task": events["task"].drop_duplicates().tolist()},
    )  # fmt: skip
    figure.show()


def plot_timeline_gpu_kernels(
    title: str,
    df: pd.DataFrame,
    symbol_table: TraceSymbolTable,
    ranks: list[int] | None = None,
    iterations: list[int] | None = None,
    streams: list[int] | None = None,
    duration_threshold: int = 1000,
) -> None:
    """Draws what `prepare_timeline_gpu_events` makes of the same arguments."""
    events = prepare_timeline_gpu_events(df, symbol_table, ranks, iterations, streams, duration_threshold)
    plot_timeline(title, events, events["rank"].unique().tolist())


def plot_timeline_gpu_kernels_from_trace(
    title: str,
    trace_data: Trace,
    ranks: list[int] | None = None,
    iterations: list[int] | None = None,
    streams: list[int] | None = None,
    duration_threshold: int = 1000,
) -> None:
    """The same of a trace. None is all: ranks, steps, streams.

    Raises:
        ValueError: there is no such rank.
    """
    chosen = trace_data.get_ranks() if ranks is None else ranks
    frames = [trace_data.get_trace(rank).assign(rank=rank) for rank in chosen]
    df = pd.concat(frames) if frames else pd.DataFrame()
    plot_timeline_gpu_kernels(title, df, trace_data.symbol_table, ranks, iterations, streams, duration_threshold)


def prepare_timeline_gpu_events(
    df: pd.DataFrame,
    symbol_table: TraceSymbolTable,
    ranks: list[int] | None = None,
    iterations: list[int] | None = None,
    streams: list[int] | None = None,
    duration_threshold: int = 1000,
) -> pd.DataFrame:
    """The device work of some ranks, steps and streams (None: of all; -1 is no step and no stream), by rank, stream and
    time, with start and end as dates (`calibrated_start_global`, `calibrated_end_global`), `label` (a short name) and `task`
    (rank and stream).

    Args:
        df: with columns rank, iteration, stream, name (ids), ts and dur.
        duration_threshold: how long events last at least in the figure, in us.

    Raises:
        ValueError: a column is missing.
    """
    missing = {"rank", "iteration", "stream", "name", "ts", "dur"} - set(df.columns)
    if missing:
        raise ValueError(f"the events have no columns {', '.join(sorted(missing))}")
    is_chosen = np.ones(len(df), dtype=bool)
    for column, chosen in (("rank", ranks), ("iteration", iterations), ("stream", streams)):
        is_chosen &= (df[column] != -1 if chosen is None else df[column].isin(chosen)).to_numpy()
    events = df[is_chosen].sort_values(["rank", "stream", "ts"], kind="stable")
    labels = np.array([_simplify_name(name) for name in symbol_table.get_sym_table()], dtype=object)
    end = events["ts"] + events["dur"].clip(lower=duration_threshold)
    return events.assign(
        calibrated_start_global=pd.to_datetime(events["ts"], unit="us"),
        calibrated_end_global=pd.to_datetime(end, unit="us"),
        label=labels[events["name"].to_numpy()].tolist(),
        task="rank " + events["rank"].astype(str) + " stream " + events["stream"].astype(str),
    )


def _simplify_name(name: str) -> str:
    """A name without what is in brackets and what is the same in many, without spaces, and not longer than 45 characters."""
    name = name.replace("(anonymous namespace)::", "").removeprefix("void ")
    name = name.replace("autograd::engine::evaluate_function: ", "")
    while (shorter := _BRACKETS.sub("", name)) not in ("", name):
        name = shorter
    name = "".join(name.split())
    return name if len(name) <= _MOST else f"{name[:_MOST]}..."
