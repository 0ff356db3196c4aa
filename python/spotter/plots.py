"""Figures of the tables that are rather looked at than read. Each is a plotly figure, for changing and showing; plotly is
needed for them alone (`pip install spotter-trace[plots]`).

    spotter.temporal_breakdown("traces/").plot()
"""

from __future__ import annotations

from spotter.errors import Invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import plotly.graph_objects as go

    from spotter.tables import Table

_MS, _GB = 1e6, 1e9


def _figure(title: str, x: str, y: str, **layout: object) -> go.Figure:
    try:
        import plotly.graph_objects as go
    except ImportError:
        raise ImportError("figures need plotly: pip install spotter-trace[plots]") from None
    figure = go.Figure()
    figure.update_layout(
        title=title, xaxis_title=x, yaxis_title=y, legend_traceorder="normal", paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)", font_color="#7f7f7f", margin={"t": 60, "r": 20}, **layout,
    )  # fmt: skip
    figure.update_xaxes(gridcolor="rgba(128,128,128,.2)", zerolinecolor="rgba(128,128,128,.4)")
    figure.update_yaxes(gridcolor="rgba(128,128,128,.2)", zerolinecolor="rgba(128,128,128,.4)")
    return figure


def _labels(table: Table, *columns: str) -> list[str]:
    """What each row is about, in a few words."""
    return [" ".join(f"{column} {cell}" for column, cell in zip(columns, row) if cell is not None) or "file"
            for row in zip(*(table[column] for column in columns))]  # fmt: skip


def _stacked(figure: go.Figure, table: Table, x: Sequence, parts: dict[str, str], scale: float = 1) -> go.Figure:
    for column, name in parts.items():
        figure.add_bar(x=x, y=[None if v is None else v / scale for v in table[column]], name=name)
    return figure.update_layout(barmode="stack")


def temporal_breakdown(table: Table) -> go.Figure:
    """Shares of each rank's device time: idle, computing, and what else."""
    figure = _figure("Device time by rank", "", "share of the device's time", yaxis_tickformat=".0%")
    parts = {"compute_ratio": "compute", "non_compute_ratio": "no compute, but other work", "idle_ratio": "idle"}
    return _stacked(figure, table, _labels(table, "rank"), parts)


def comm_comp_overlap(table: Table) -> go.Figure:
    """Of the time in communication, the share in which kernels compute too."""
    figure = _figure("Communication behind compute", "", "overlapped share", yaxis_tickformat=".0%", yaxis_range=[0, 1])
    return figure.add_bar(x=_labels(table, "rank"), y=table["ratio"], name="overlap")


_IDLE = {"host_wait_ns": "waits for the host", "kernel_wait_ns": "between kernels", "other_ns": "other", "unknown_ns": "unknown"}


def device_idle_breakdown(table: Table) -> go.Figure:
    """Why each rank's devices stand still."""
    figure = _figure("Idle device time by cause", "", "ms")
    return _stacked(figure, table, _labels(table, "rank"), _IDLE, _MS)


def idle_time_breakdown(table: Table) -> go.Figure:
    """Why each stream stands still."""
    figure = _figure("Idle time of streams by cause", "", "ms")
    parts = {column: name for column, name in _IDLE.items() if column in table.columns}
    return _stacked(figure, table, _labels(table, "rank", "device", "stream"), parts, _MS)


def kernel_type_breakdown(table: Table) -> go.Figure:
    """Which kinds of device work run, alone or at the same time."""
    figure = _figure("Kinds of device work", "", "share of busy time", yaxis_tickformat=".0%", barmode="stack")
    ranks, kinds, ratios = _labels(table, "rank"), table["kernel_type"], table["ratio"]
    for kind in dict.fromkeys(kinds):
        rows = [i for i, one in enumerate(kinds) if one == kind]
        figure.add_bar(x=[ranks[i] for i in rows], y=[ratios[i] for i in rows], name=kind)
    return figure


def kernel_breakdown(table: Table, top: int = 20) -> go.Figure:
    """The kernels that take the most time, over all ranks."""
    sums: dict[tuple, int] = {}
    for kind, name, time in zip(table["kind"], table["name"], table["sum_ns"]):
        sums[kind or "", name] = sums.get((kind or "", name), 0) + time
    largest = sorted(sums.items(), key=lambda item: -item[1])[:top]
    figure = _figure("Kernels", "ms in all", "", yaxis_autorange="reversed", height=160 + 24 * len(largest))
    for kind in dict.fromkeys(kind for (kind, _), _ in largest):
        mine = [(name, time) for (k, name), time in largest if k == kind]
        figure.add_bar(
            x=[time / _MS for _, time in mine], y=[_short(name) for name, _ in mine], name=kind or "others", orientation="h",
            hovertext=[name for name, _ in mine],
        )  # fmt: skip
    return figure.update_yaxes(categoryorder="array", categoryarray=[_short(name) for (_, name), _ in largest])


def _short(name: str, most: int = 60) -> str:
    return name if len(name) <= most else name[: most // 2] + "…" + name[-(most // 2 - 1) :]


_BUDGET = {
    "kernel_ns": "kernels", "copy_ns": "copies", "set_ns": "sets", "communication_ns": "communication", "runtime_ns": "runtime",
    "data_loader_ns": "data loader", "host_ns": "host", "other_ns": "other",
}  # fmt: skip


def step_budget(table: Table) -> go.Figure:
    """What each step of the job is made of, on its critical rank."""
    rows = [row for row in table if row["of"] == "job"] or list(table)
    figure = _figure("What a step is made of", "step", "ms", barmode="stack")
    for column, name in _BUDGET.items():
        figure.add_bar(x=[str(row["number"]) for row in rows], y=[(row[column] or 0) / _MS for row in rows], name=name)
    return figure


def rank_steps(table: Table) -> go.Figure:
    """How long each step took on each rank: one slow rank is a row, one slow step a column."""
    rows = [row for row in table if row.get("of", "rank") == "rank"]
    ranks = list(dict.fromkeys(row["rank"] for row in rows))
    steps = sorted({row["number"] for row in rows})
    times = {(row["rank"], row["number"]): row["dur_ns"] / _MS for row in rows}
    figure = _figure("Steps by rank", "step", "rank", yaxis_autorange="reversed")
    figure.add_heatmap(
        x=[str(step) for step in steps], y=[str(rank) for rank in ranks], colorbar_title="ms", colorscale="Viridis",
        z=[[times.get((rank, step)) for step in steps] for rank in ranks],
    )  # fmt: skip
    return figure.update_xaxes(type="category").update_yaxes(type="category")


def memory_timeline_series(table: Table) -> go.Figure:
    """What is allocated on each device of each rank, and what the allocator holds."""
    figure = _figure("Memory", "s", "GB")
    lines: dict[str, list] = {}
    for label, row in zip(_labels(table, "rank", "device_type", "device_id"), table):
        lines.setdefault(label, []).append(row)
    first = min((row["time_ns"] for rows in lines.values() for row in rows), default=0)
    for label, rows in lines.items():
        seconds = [(row["time_ns"] - first) / 1e9 for row in rows]
        for column, name, dash in (("allocated_bytes", "allocated", "solid"), ("reserved_bytes", "held", "dot")):
            values = [None if row[column] is None else row[column] / _GB for row in rows]
            if any(value is not None for value in values):
                figure.add_scatter(x=seconds, y=values, name=f"{label}: {name}", line={"shape": "hv", "dash": dash})
    return figure


_PLOTS: dict[str, Callable[..., go.Figure]] = {
    "temporal_breakdown": temporal_breakdown,
    "comm_comp_overlap": comm_comp_overlap,
    "device_idle_breakdown": device_idle_breakdown,
    "idle_time_breakdown": idle_time_breakdown,
    "kernel_type_breakdown": kernel_type_breakdown,
    "kernel_breakdown": kernel_breakdown,
    "step_budget": step_budget,
    "steps": rank_steps,
    "memory_timeline_series": memory_timeline_series,
}


def plot(table: Table, **options: object) -> go.Figure:
    """The figure of a table.

    Raises:
        Invalid: there is none of such tables.
        ImportError: plotly is not installed.
    """
    if table.name not in _PLOTS:
        raise Invalid(f"there is no figure of {table.name}; there are of {', '.join(_PLOTS)}")
    return _PLOTS[table.name](table, **options)
