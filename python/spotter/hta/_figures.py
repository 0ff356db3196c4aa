"""HTA's figures. Each is shown by plotly's own renderer."""

from __future__ import annotations

from typing import Any, List, Optional

import pandas as pd

from spotter.hta.configs.config import logger

_MOST = 50  # figures of one call
_is_missing_told = False


def graph_objects() -> Any:
    """plotly.graph_objects; None, and a word once, where it is not installed."""
    global _is_missing_told
    try:
        import plotly.graph_objects
    except ImportError:
        if not _is_missing_told:
            logger.warning("figures need plotly: pip install spotter-trace[hta]; visualize=False asks for none")
            _is_missing_told = True
        return None
    return plotly.graph_objects


def temporal_breakdown(frame: pd.DataFrame) -> None:
    if (go := graph_objects()) is None:
        return
    figure = go.Figure()
    for part in ("idle", "compute", "non_compute"):
        shares = frame[f"{part}_time_pctg"] / 100
        figure.add_bar(name=f"{part}_time", x=frame["rank"], y=shares, text=_percents(shares))
    figure.update_layout(
        barmode="stack", title="Temporal breakdown across ranks", xaxis_title="Rank", yaxis_title="Percentage", yaxis_tickformat=".2%"
    )
    figure.show()


def comm_comp_overlap(frame: pd.DataFrame) -> None:
    if (go := graph_objects()) is None:
        return
    shares = frame["comp_comm_overlap_pctg"] / 100
    figure = go.Figure(go.Bar(x=frame["rank"], y=shares, text=_percents(shares)))
    figure.update_layout(
        title="Computation-Communication Overlap", xaxis_title="Rank", yaxis_title="Percentage", yaxis_tickformat=".2%"
    )
    figure.show()


def kernel_breakdown(types: pd.DataFrame, kernels: pd.DataFrame, renderer: Optional[str]) -> None:
    if (go := graph_objects()) is None:
        return
    pie = go.Figure(go.Pie(labels=types["kernel_type"], values=types["percentage"]))
    pie.update_layout(title="Kernel Type Percentage Across All Ranks", height=500)
    figures = [pie]
    for kind, of_kind in kernels.groupby("kernel_type", sort=False):
        figures.append(_pies_per_rank(of_kind, f'Kernel type "{kind}"'))
        figures += [_bars_of_ranks(of_name, f'Kernel type "{kind}" - {name}') for name, of_name in _named(of_kind)]
    _show_all(figures, renderer)


def annotation_breakdown(frame: pd.DataFrame, on_device: bool, renderer: Optional[str]) -> None:
    if graph_objects() is None:
        return
    what = "GPU user annotations" if on_device else "User annotations"
    figures = [_pies_per_rank(frame, what), *(_bars_of_ranks(of_name, f"{what} - {name}") for name, of_name in _named(frame))]
    _show_all(figures, renderer)


def idle_time(frame: pd.DataFrame, rank: int, as_share: bool) -> None:
    if (go := graph_objects()) is None:
        return
    column = "idle_time_ratio" if as_share else "idle_time"
    figure = go.Figure()
    for wait, of_wait in frame.groupby("idle_category", sort=False):
        figure.add_bar(name=str(wait), x=of_wait["stream"], y=of_wait[column])
    figure.update_layout(
        barmode="stack", title=f"Idle time breakdown on rank {rank} per CUDA stream", xaxis_title="stream", yaxis_title=column,
        yaxis_tickformat=".2%" if as_share else None,
    )  # fmt: skip
    figure.show()


def kernel_launches(frame: pd.DataFrame, rank: int, runtime_cutoff: int, delay_cutoff: int) -> None:
    short = frame[(frame["cpu_duration"] <= runtime_cutoff) & (frame["gpu_duration"] < frame["cpu_duration"])]
    _histogram(short["gpu_duration"], f"Rank {rank}: GPU kernels shorter than their launch", "gpu_duration (us)", None)
    slow = frame["cpu_duration"][frame["cpu_duration"] > runtime_cutoff]
    _histogram(slow, f"Rank {rank}: calls longer than {runtime_cutoff} us", "cpu_duration (us)", 300)
    late = frame["launch_delay"][frame["launch_delay"] > delay_cutoff]
    _histogram(late, f"Rank {rank}: launch delays longer than {delay_cutoff} us", "launch_delay (us)", 300)


def operator_kernels(frame: pd.DataFrame, rank: int) -> None:
    if (go := graph_objects()) is None:
        return
    cells = [frame[column].tolist() for column in frame.columns]
    figure = go.Figure(go.Table(header={"values": list(frame.columns)}, cells={"values": cells}))
    figure.update_layout(title=f"ATen operators and their kernels on rank {rank}", width=1500, height=1500)
    figure.show()


def sequences(frame: pd.DataFrame) -> None:
    if (go := graph_objects()) is None:
        return
    figure = go.Figure(go.Bar(x=list(range(len(frame))), y=frame["count"], hovertext=frame["pattern"]))
    figure.update_layout(title="Frequent sequences of kernels", xaxis_title="pattern", yaxis_title="count")
    figure.show()


def _histogram(values: pd.Series, title: str, axis: str, bins: Optional[int]) -> None:
    if (go := graph_objects()) is None:
        return
    figure = go.Figure(go.Histogram(x=values, nbinsx=bins))
    figure.update_layout(title=title, xaxis_title=axis, yaxis_title="count")
    figure.show()


def _named(frame: pd.DataFrame) -> List[tuple]:
    return [(name, of_name) for name, of_name in frame.groupby("name", sort=False) if name != "others"]


def _pies_per_rank(frame: pd.DataFrame, title: str) -> Any:
    """Two in a row, by place: a job may have any ranks."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    ranks = frame["rank"].unique().tolist()
    height = (len(ranks) + 1) // 2
    titles = [f"Rank {rank}" for rank in ranks]
    figure = make_subplots(rows=height, cols=2, specs=[[{"type": "domain"}] * 2] * height, subplot_titles=titles)
    for place, rank in enumerate(ranks):
        rows = frame[frame["rank"] == rank]
        figure.add_trace(go.Pie(labels=rows["name"], values=rows["sum (us)"]), place // 2 + 1, place % 2 + 1)
    return figure.update_layout(title=title, height=max(500, 400 * height))


def _bars_of_ranks(frame: pd.DataFrame, title: str) -> Any:
    import plotly.graph_objects as go

    above, below = frame["max (us)"] - frame["mean (us)"], frame["mean (us)"] - frame["min (us)"]
    figure = go.Figure(go.Bar(x=frame["rank"], y=frame["mean (us)"], error_y={"array": above, "arrayminus": below}))
    return figure.update_layout(title=title, xaxis_title="Rank", yaxis_title="Mean duration (us)")


def _show_all(figures: List[Any], renderer: Optional[str]) -> None:
    for figure in figures[:_MOST]:
        figure.show(renderer=renderer or None)
    if len(figures) > _MOST:
        logger.warning("%d of %d figures are shown; fewer kernels (num_kernels) make fewer figures", _MOST, len(figures))


def _percents(shares: pd.Series) -> List[str]:
    return [f"{share:.2%}" for share in shares]
