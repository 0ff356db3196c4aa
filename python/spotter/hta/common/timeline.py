"""Timelines of events as figures: a row for each stream, or for each level of the call stacks on the host."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
import pandas as pd

from spotter.hta import _figures
from spotter.hta.common.trace_df import (
    find_events_by_name_patterns_using_decoded_names,
    find_events_by_name_patterns_using_symbol_table,
)
from spotter.hta.configs.config import logger
from spotter.hta.utils.utils import get_symbol_column_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from spotter.hta.common.trace_filter import Filter
    from spotter.hta.common.trace_symbol_table import TraceSymbolTable

CPUStreamID = -1
AnnotationStreamID = 0
"""The stream of annotations that `align_module_with_kernels` puts over their kernels."""

DefaultMustHaveColumns = ["name", "ts", "dur"]
DefaultTaskLabelColumns = ["stream", "rank", "trace", "depth"]
DefaultHoverColumns = ["trace", "rank", "iteration", "stream", "cat", "index"]
DefaultCallStackHoverColumns = [
    "name", "cat", "index", "ts", "dur", "rank", "stream", "height", "depth", "tid", "index_correlation",
]  # fmt: skip
REQUIRED_COLUMNS_FOR_CPU_GPU_ALIGNMENT: set[str] = {
    "index", "stream", "ts", "dur", "name", "first_kernel_start", "kernel_span", "num_kernels",
}  # fmt: skip

_MANY_TASKS, _HEIGHT_OF_FEW = 20, 80


class EventType(Enum):
    """Of which kind the events of a timeline are."""

    GPUEvents = 0
    CPUEvents = 1
    AllEvents = 2


class PlotFormat(Enum):
    """What a plot becomes: a text of HTML, a figure that is shown, or a file alone."""

    HTML = "html"
    Inline = "inline"
    File = "file"


@dataclass
class TimelinePlotSetting:
    """How a timeline is drawn.

    `auto_detect`: find out event_type and multi_* from the events. `x_start_column`, `x_end_column`, `task_column`: what the
    columns that `prepare_timeline_events` adds are called; `color_column`: what has one colour. `task_height`: of a row in
    pixels; if there are few rows, they are higher. `amplify_short_events`: events are drawn at least
    `short_events_display_duration` us long. `use_global_time`: Unix time, and not us since the first event.
    `compress_threads`: no rows for single threads.
    """

    auto_detect: bool = True
    event_type: EventType = EventType.GPUEvents
    multi_ranks: bool = False
    multi_traces: bool = False
    multi_streams: bool = True
    x_start_column: str = "calibrated_start_global"
    x_end_column: str = "calibrated_end_global"
    task_column: str = "task"
    color_column: str = "name"
    task_height: int = 30
    amplify_short_events: bool = True
    short_events_display_duration: int = 1000
    use_global_time: bool = False
    plot_format: PlotFormat = PlotFormat.Inline
    compress_threads: bool = True


DefaultTimelinePlotSetting = TimelinePlotSetting()


class Timeline:
    """Events, and how to draw them. `timeline_events` are those that `prepare_timeline_events` makes."""

    def __init__(
        self,
        timeline_events: pd.DataFrame,
        symbol_table: TraceSymbolTable,
        filter_func: Filter | None = None,
        setting: TimelinePlotSetting = DefaultTimelinePlotSetting,
        hover_columns: list[str] | None = None,
    ) -> None:
        """Args:
            timeline_events: of a trace, or prepared ones.
            filter_func: which of them.
            hover_columns: what the figure says of an event; None: `DefaultHoverColumns`.
        """
        self.timeline_events = timeline_events
        self.symbol_table = symbol_table
        self.setting = replace(setting)
        self.hover_columns = DefaultHoverColumns if hover_columns is None else hover_columns
        self.prepare(filter_func)

    @staticmethod
    def is_timeline_events(df: pd.DataFrame, setting: TimelinePlotSetting) -> bool:
        """Whether events are prepared."""
        return {setting.x_start_column, setting.x_end_column, setting.task_column} <= set(df.columns)

    def prepare(self, filter_func: Filter | None = None) -> None:
        """Prepares the events that pass a filter, unless they are prepared."""
        if not self.is_timeline_events(self.timeline_events, self.setting):
            df = self.timeline_events
            df = df if filter_func is None else filter_func(df, self.symbol_table)
            self.timeline_events = prepare_timeline_events(df, self.setting, self.symbol_table, self.hover_columns)

    def plot(self, title: str, save_path: str | None = None) -> None:
        """Draws them, and writes the figure to a file (.html, or an image) if there is a path."""
        plot_events_timeline(title, self.timeline_events, self.setting, self.hover_columns, save_path)


def prepare_timeline_events(
    df: pd.DataFrame,
    setting: TimelinePlotSetting = DefaultTimelinePlotSetting,
    symbol_table: TraceSymbolTable | None = None,
    hover_columns: list[str] | None = None,
) -> pd.DataFrame:
    """What there is to draw of a trace's events: their short names, start, end and row (`setting` has the names of these
    columns), by row and time, with the columns that rows are made of (`DefaultTaskLabelColumns`) and those to be shown.
    Without events, or without columns name, ts and dur, a frame without columns, with a warning.

    Args:
        symbol_table: of the ids in `name` and `cat`; None: names are in `s_name`, else shown as they are.
        hover_columns: None: `DefaultHoverColumns`.
    """
    missing = [column for column in DefaultMustHaveColumns if column not in df.columns]
    if missing or df.empty:
        why = f"no columns {', '.join(missing)}" if missing else "there are no events"
        logger.warning("nothing for a timeline: %s", why)
        return pd.DataFrame()
    kept = DefaultMustHaveColumns + DefaultTaskLabelColumns + ([] if setting.compress_threads else ["tid"])
    kept += DefaultHoverColumns if hover_columns is None else hover_columns
    events = df[[column for column in dict.fromkeys(kept) if column in df.columns]].copy()
    for column in {"name", "cat"} & set(events.columns):
        events[column] = _texts(df, column, symbol_table)
    if not pd.api.types.is_numeric_dtype(events["name"]):
        events["name"] = _each(events["name"], _simplify_name)
    if setting.auto_detect:
        setting = replace(setting)
        auto_detect_setting(events, setting)
    if not setting.use_global_time:
        events["ts"] -= events["ts"].min()
    dur = events["dur"].clip(lower=setting.short_events_display_duration if setting.amplify_short_events else 0)
    begin, end = events["ts"], events["ts"] + dur
    if setting.use_global_time:
        begin, end = pd.to_datetime(begin, unit="us"), pd.to_datetime(end, unit="us")
    events[setting.x_start_column], events[setting.x_end_column] = begin, end
    events[setting.task_column] = _tasks(events, setting)
    return events.iloc[_order(events, setting)]


def auto_detect_setting(events: pd.DataFrame, setting: TimelinePlotSetting) -> None:
    """Sets event_type, multi_ranks, multi_traces and multi_streams to what the events are."""

    def count(column: str) -> int:
        return events[column].nunique() if column in events.columns else 0

    setting.multi_ranks, setting.multi_traces = count("rank") > 1, count("trace") > 1
    setting.multi_streams = count("stream") > 1
    if "stream" in events.columns:
        on_host = events["stream"] == CPUStreamID
        setting.event_type = EventType.AllEvents if on_host.any() else EventType.GPUEvents
        if on_host.all():
            setting.event_type = EventType.CPUEvents


def plot_events_timeline(
    title: str,
    events: pd.DataFrame,
    setting: TimelinePlotSetting = DefaultTimelinePlotSetting,
    hover_columns: list[str] | None = None,
    output_image_path: str | None = None,
) -> str | None:
    """Draws prepared events. Without plotly it only says what to install; events that are not prepared it does not draw,
    with a warning.

    Args:
        hover_columns: None: `DefaultHoverColumns`.
        output_image_path: a file for the figure too: .html, or an image (which needs kaleido).

    Returns:
        With `PlotFormat.HTML` the figure as a page, else None.
    """
    if events.empty or not Timeline.is_timeline_events(events, setting):
        logger.warning("no timeline of events that are not from prepare_timeline_events, or of none")
        return None
    if _figures.graph_objects() is None:
        return None
    figure = _figure(title, events, setting, DefaultHoverColumns if hover_columns is None else hover_columns)
    if output_image_path:
        is_page = output_image_path.endswith((".html", ".htm"))
        (figure.write_html if is_page else figure.write_image)(output_image_path)
    if setting.plot_format is PlotFormat.HTML:
        return figure.to_html(include_plotlyjs="cdn")
    if setting.plot_format is PlotFormat.Inline:
        figure.show()
    return None


def _figure(title: str, events: pd.DataFrame, setting: TimelinePlotSetting, hover_columns: list[str]) -> Any:
    tasks = events[setting.task_column].drop_duplicates().tolist()
    colours = events[setting.color_column].astype(str)
    figure = _plotly_express().timeline(
        events.assign(**{setting.color_column: colours}), x_start=setting.x_start_column, x_end=setting.x_end_column,
        y=setting.task_column, color=setting.color_column, title=title,
        category_orders={setting.task_column: tasks},
        hover_data=[column for column in hover_columns if column in events.columns],
    )  # fmt: skip
    begin, end = events[setting.x_start_column], events[setting.x_end_column]
    if not setting.use_global_time:  # plotly takes numbers for dates
        rows = colours.groupby(colours.to_numpy(), sort=False).indices
        for bars in figure.data:
            mine = rows.get(bars.name)
            if mine is not None:
                bars.base, bars.x = begin.iloc[mine].tolist(), (end - begin).iloc[mine].tolist()
    height = setting.task_height if len(tasks) >= _MANY_TASKS else max(setting.task_height, _HEIGHT_OF_FEW)
    figure.update_layout(
        height=50 + height * len(tasks), paper_bgcolor="rgba(0,0,0,0)",
        xaxis={"type": "date" if setting.use_global_time else "linear", "rangeslider": {"visible": True}, "showgrid": True,
               "range": [begin.min(), end.max()]},
    )  # fmt: skip
    return figure


def align_module_with_kernels(
    events_df: pd.DataFrame,
    module_list: list[str],
    sym_table: TraceSymbolTable | None = None,
    include_original_cpu_events: bool = False,
) -> pd.DataFrame:
    """Puts host events, of modules for example, over the device work that they launched: the rows on streams of devices,
    then a copy of each of these events on stream `AnnotationStreamID` that lasts from its first kernel's start to its last
    kernel's end.

    Args:
        events_df: with the columns of a `CallGraph` (`REQUIRED_COLUMNS_FOR_CPU_GPU_ALIGNMENT`).
        module_list: regular expressions for how names begin.
        sym_table: of the ids in `name`; None: names are in `s_name`, or `name` itself.
        include_original_cpu_events: keep all rows, and not those of devices alone.

    Raises:
        ValueError: a column is missing, or there are no names.
    """
    missing = REQUIRED_COLUMNS_FOR_CPU_GPU_ALIGNMENT - set(events_df.columns)
    if missing:
        raise ValueError(f"the events have no columns {', '.join(sorted(missing))}; a CallGraph adds those of kernels")
    patterns = [module_list] if isinstance(module_list, str) else list(module_list)
    name_column = get_symbol_column_names(events_df)[0]
    if sym_table is not None and pd.api.types.is_numeric_dtype(events_df["name"]):
        found = find_events_by_name_patterns_using_symbol_table(events_df, patterns, sym_table)
    elif name_column:
        found = find_events_by_name_patterns_using_decoded_names(events_df, patterns, name_column)
    else:
        raise ValueError("the events have no names as texts; give the symbol table of the ids")
    is_module = events_df["index"].isin(found) & (events_df["stream"] == CPUStreamID) & (events_df["num_kernels"] > 0)
    modules = events_df[is_module]
    first, span = modules["first_kernel_start"], modules["kernel_span"]
    modules = modules.assign(
        stream=AnnotationStreamID, ts=first.astype(events_df["ts"].dtype), dur=span.astype(events_df["dur"].dtype)
    )
    if "end" in modules.columns:
        modules["end"] = modules["ts"] + modules["dur"]
    rows = events_df if include_original_cpu_events else events_df[events_df["stream"] > CPUStreamID]
    return pd.concat([rows, modules], ignore_index=True)


def get_fig_title_from_fig_name(fig_name: str, sep: str = r"\s+|_+|-+") -> str:
    """A title of the name of a file: "my_figure" becomes "My Figure"."""
    return " ".join(word.capitalize() for word in re.split(sep, fig_name) if word) if fig_name else "Untitled Figure"


def get_fig_name_from_fig_title(title: str) -> str:
    """The name of a file for a title: "My Figure" becomes "my_figure"."""
    return "_".join(title.lower().split()) if title else "untitled_figure"


def _simplify_name(name: str, max_length: int = 45) -> str:
    """A name without return type, arguments and what is the same in many; one of that length or more is cut to it."""
    if not name.startswith(("## ", "<", "Memcpy", "Memset")):
        name = name.replace("(anonymous namespace)::", "anon::").removeprefix("void ")
        name = name.replace("autograd::engine::evaluate_function: ", "autograd::").partition("(")[0] or name
    return name if len(name) < max_length else f"{name[: max_length - 3]}..."


def _texts(df: pd.DataFrame, column: str, symbol_table: TraceSymbolTable | None) -> pd.Series:
    """`name` or `cat` as texts, if they are known."""
    if not pd.api.types.is_numeric_dtype(df[column]):
        return df[column]
    if symbol_table is not None:
        return _each(df[column], dict(enumerate(symbol_table.get_sym_table())).__getitem__)
    return df.get(f"s_{column}", df[column])


def _each(column: pd.Series, function: Callable[[Any], str]) -> pd.Series:
    """What a function makes of each value; it is called once for equal ones."""
    codes, values = pd.factorize(column)
    texts = pd.Series([function(value) for value in values], dtype=None if len(values) else object)
    return texts.take(codes).set_axis(column.index)


def _tasks(events: pd.DataFrame, setting: TimelinePlotSetting) -> pd.Series:
    """The label of the row in which each event is drawn."""
    labels = pd.Series("", index=events.index)
    if setting.multi_traces and "trace" in events.columns:
        labels += _numbered("trace", events["trace"]) + " "
    if setting.multi_ranks and "rank" in events.columns:
        labels += _numbered("rank", events["rank"]) + " "
    host = pd.Series("cpu events", index=events.index)
    if "depth" in events.columns:
        host = _numbered("cpu level", events["depth"])
    if not setting.compress_threads and "tid" in events.columns:
        host = _numbered("tid", events["tid"]) + " " + host
    if "stream" not in events.columns:
        return labels + host
    device = _numbered("gpu stream", events["stream"])
    if setting.event_type is EventType.AllEvents:
        device = device.where(events["stream"] != AnnotationStreamID, "gpu annotate")
    return labels + device.where(events["stream"] != CPUStreamID, host)


def _numbered(what: str, column: pd.Series) -> pd.Series:
    is_number = pd.api.types.is_integer_dtype(column)
    return _each(column, lambda value: f"{what} {int(value):03d}" if is_number else f"{what} {value!s:<5}")


def _order(events: pd.DataFrame, setting: TimelinePlotSetting) -> np.ndarray:
    """The rows by trace, rank, stream, thread, level (if there is the host alone) and time."""
    columns = ["ts"]
    columns += ["depth"] if setting.event_type is EventType.CPUEvents else []
    columns += [] if setting.compress_threads else ["tid"]
    columns += ["stream", "rank", "trace"]
    return np.lexsort([pd.factorize(events[column], sort=True)[0] for column in columns if column in events.columns])


def _plotly_express() -> ModuleType:
    import plotly.express

    return plotly.express


def __getattr__(name: str) -> ModuleType:
    """`px`: plotly.express, which is imported when it is used."""
    if name == "px":
        return _plotly_express()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
