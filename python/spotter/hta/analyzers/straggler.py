"""Which ranks come late to communication, so that the others wait for them in it."""

from __future__ import annotations

import pandas as pd

from spotter.hta._figures import graph_objects
from spotter.hta.configs.config import logger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spotter.hta.common.trace import Trace
    from spotter.hta.common.trace_symbol_table import TraceSymbolTable

_KERNELS = ("ncclKernel", "ncclDevKernel", "void ncclDevKernel")
_MIN_SHARE = 0.01  # of a step's time, for a kernel to count


def find_stragglers_with_late_start_comm_kernels(
    df: pd.DataFrame, symbol_table: TraceSymbolTable, n_stragglers: int = 2, visualize: bool = False
) -> pd.Series:
    """Looks at the kernel of NCCL that differs the most between ranks in how long it takes: who starts it last has kept the
    others waiting in it. Only kernels count that last 1 % of a step or longer; of each step a name's last one on a stream.

    Args:
        df: events of all ranks: `rank`, `iteration`, `name`, `stream`, `ts`, `dur`, with one unit of time.
        symbol_table: of the names.
        n_stragglers: how many ranks are late in each step; more where several are equally late.
        visualize: draw all these kernels, those that were chosen, and their starts.

    Returns:
        By `rank`: in how many steps it was late. Empty where there is nothing to compare: one rank, or no such kernel.
    """
    kernels, indicator = _kernels_that_differ(df, symbol_table)
    if indicator.empty:
        logger.warning("no stragglers: no kernel of NCCL lasts 1 % of a step in two ranks or more")
        return pd.Series([], dtype="int64", name="is_straggler", index=pd.Index([], dtype="int64", name="rank"))
    start = indicator.groupby("iteration")["normalized_start_time"]
    is_late = start.rank(method="min", ascending=False) <= n_stragglers
    indicator = indicator.assign(is_straggler=is_late.astype("int64"))
    if visualize:
        _draw(kernels, indicator, symbol_table)
    return indicator.groupby("rank")["is_straggler"].sum()


def extract_iteration_info(trace: Trace) -> pd.DataFrame:
    """When the profiler's steps were: a row for each annotation of one in each rank, with columns `rank`, `iter`, `ts`,
    `dur` and `end`, in us."""
    ids = trace.symbol_table.get_profiler_step_ids()
    columns = ["rank", "iter", "ts", "dur"]
    ranks = trace.get_all_traces()
    frames = [df.loc[df["name"].isin(ids), ["name", "ts", "dur"]].assign(rank=rank) for rank, df in ranks.items()]
    steps = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=["name", *columns])
    names = trace.symbol_table.get_sym_table_series().reindex(steps["name"]).to_numpy()
    steps["iter"] = pd.Series(names, index=steps.index, dtype=object).str.extract(r"(\d+)", expand=False).astype("int64")
    return steps[columns].assign(end=steps["ts"] + steps["dur"])


def _kernels_that_differ(df: pd.DataFrame, symbol_table: TraceSymbolTable) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The long kernels of NCCL; and of the stream and name whose durations differ the most between ranks, the last one of
    each rank and step. Normalized times are in steps, from the first event on."""
    ids = [place for place, symbol in enumerate(symbol_table.get_sym_table()) if symbol.startswith(_KERNELS)]
    steps = df["iteration"][df["iteration"] >= 0].nunique()
    begin = df["ts"].min()
    step_time = ((df["ts"] + df["dur"]).max() - begin) / max(steps, 1)
    counts = df["name"].isin(ids) & (df["stream"] >= 0) & (df["iteration"] >= 0) & (df["dur"] >= _MIN_SHARE * step_time)
    kernels = df[counts]
    start, duration = (kernels["ts"] - begin) / step_time, kernels["dur"] / step_time
    kernels = kernels.assign(normalized_start_time=start, normalized_duration=duration)
    last = kernels.drop_duplicates(["rank", "stream", "iteration", "name"], keep="last")
    spread = last.groupby(["stream", "iteration", "name"])["normalized_duration"].std()
    means = spread.groupby(["stream", "name"]).mean().dropna()
    if means.empty:
        return kernels, last.iloc[:0]
    stream, name = means.idxmax()
    return kernels, last[(last["stream"] == stream) & (last["name"] == name)]


def _draw(kernels: pd.DataFrame, indicator: pd.DataFrame, symbol_table: TraceSymbolTable) -> None:
    go = graph_objects()
    if go is None:
        return
    from plotly.subplots import make_subplots

    from spotter.hta.analyzers.timeline import plot_timeline_gpu_kernels

    steps = sorted(indicator["iteration"].unique().tolist())
    title = f"Timeline of Communication Kernels Longer Than {_MIN_SHARE:.2%} of Iteration Time"
    plot_timeline_gpu_kernels(title, kernels, symbol_table, duration_threshold=0)
    title = f"Timeline of Candidate Kernels (Iterations={steps})"
    plot_timeline_gpu_kernels(title, indicator, symbol_table, duration_threshold=0)
    figure = make_subplots(1, len(steps), shared_yaxes=True, subplot_titles=[f"iteration={step}" for step in steps])
    for place, step in enumerate(steps, 1):
        rows = indicator[indicator["iteration"] == step]
        colors = rows["is_straggler"].map({1: "red", 0: "blue"})
        start = rows["normalized_start_time"]
        figure.add_bar(row=1, col=place, x=rows["rank"], y=start, marker_color=colors, showlegend=False)
    figure.update_layout(title="Potential Stragglers", width=max(300 * len(steps), 400), yaxis_title="normalized_start_time")
    figure.update_xaxes(title="rank", dtick=1)
    figure.show()
