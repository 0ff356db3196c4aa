"""Where the device's time goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

import numpy
import pandas as pd

from spotter.hta import _figures
from spotter.hta._answers import LISTS_ALL, Answers, text_column
from spotter.hta._spellings import accepts
from spotter.hta.common.trace_symbol_table import decode_symbol_id_to_symbol_name
from spotter.hta.utils.utils import KernelType, shorten_name

if TYPE_CHECKING:
    from spotter.hta.common.trace import Trace

_OTHERS = "others"
_KINDS = {"compute": KernelType.COMPUTATION.name, "communication": KernelType.COMMUNICATION.name, "memory": KernelType.MEMORY.name}
_WAITS = ("host_wait", "kernel_wait", "other")
_POINTS = {"count": "count", "mean_ns": "mean", "std_ns": "std", "min_ns": "min", "p25_ns": "25%", "median_ns": "50%", "p75_ns": "75%",
           "max_ns": "max"}  # fmt: skip


class BreakdownAnalysis:
    """The analyses of `TraceAnalysis` of the same names, of a `Trace`."""

    @classmethod
    def get_temporal_breakdown(cls, t: Trace, visualize: bool = True) -> pd.DataFrame:
        """A row per rank: `idle_time(us)`, `compute_time(us)`, `non_compute_time(us)`, `kernel_time(us)` of the device from its first work
        to its last, and the first three in percent of the fourth. Ranks without device work have no row. By
        `spotter.temporal_breakdown`."""
        answers = Answers(t, t.get_ranks(), ["temporal_breakdown"])
        rows = answers["temporal_breakdown"]
        parts = ("idle", "compute", "non_compute")
        result = pd.DataFrame({"rank": rows["rank"]})
        for part in (*parts, "kernel_time"):
            result[f"{part.removesuffix('_time')}_time(us)"] = answers.microseconds(rows[f"{part}_ns"])
        for part in parts:
            result[f"{part}_time_pctg"] = (100 * rows[f"{part}_ratio"]).astype(float).round(2)
        if visualize:
            _figures.temporal_breakdown(result)
        return result

    @classmethod
    def get_gpu_kernel_breakdown(
        cls,
        t: Trace,
        visualize: bool = True,
        duration_ratio: float = 0.8,
        num_kernels: int = 10,
        include_memory_kernels: bool = False,
        image_renderer: str = "notebook",
    ) -> Tuple[pd.DataFrame, pd.DataFrame]:
        """Of all ranks the time of each kind of work and of each overlap of them (`kernel_type`, `sum` in us, `percentage`); and per rank
        and kind the statistics of kernels by name. Where a rank has more than `num_kernels` names of a kind, those whose running sum,
        the largest first, is over the quantile `duration_ratio` of the running sums, and those from `num_kernels` on, become `others`.
        By `spotter.kernel_type_breakdown` and `spotter.kernel_breakdown`, with statistics of events in all rows (B7)."""
        _check_share(duration_ratio)
        answers = Answers(t, t.get_ranks(), ["kernel_type_breakdown", "kernel_breakdown"], top=LISTS_ALL)
        kinds = [kind for kind in _KINDS if include_memory_kernels or kind != "memory"]
        types = _types(answers, kinds)
        rows = answers["kernel_breakdown"]
        rows = rows[rows["kind"].isin(kinds)].assign(kernel_type=lambda frame: frame["kind"].map(_KINDS))
        kernels = _cut(rows, ["kernel_type", "rank"], duration_ratio, num_kernels)
        kernels = kernels.sort_values(["kernel_type", "name", "rank"], ignore_index=True)
        result = _statistics(answers, kernels, ["kernel_type", "rank"])
        if visualize:
            _figures.kernel_breakdown(types, result, image_renderer)
        return types, result

    @classmethod
    def get_gpu_user_annotation_breakdown(
        cls,
        t: Trace,
        use_gpu_annotation: bool = True,
        visualize: bool = True,
        duration_ratio: float = 0.8,
        num_kernels: int = 1000,
        allowlist_patterns: Optional[List[str]] = None,
        image_renderer: Optional[str] = None,
    ) -> Optional[pd.DataFrame]:
        """Per rank the statistics of annotations by name, on the device or on the host; None where there are none. What becomes `others`
        is as for kernels, but for names that contain one of `allowlist_patterns`. By `spotter.user_annotation_breakdown`."""
        _check_share(duration_ratio)
        answers = Answers(t, t.get_ranks(), ["user_annotation_breakdown"], top=LISTS_ALL)
        rows = answers["user_annotation_breakdown"]
        rows = rows[rows["side"] == ("device" if use_gpu_annotation else "host")]
        if rows.empty:
            category = "gpu_user_annotation" if use_gpu_annotation else "user_annotation"
            if not any(category in t.symbols_of(rank).get_sym_id_map() for rank in t.get_ranks()):
                return None
        allowed = rows["name"].map(lambda name: any(pattern in name for pattern in allowlist_patterns or []))
        kept = _cut(rows, ["rank"], duration_ratio, num_kernels, allowed)
        result = _statistics(answers, kept.sort_values(["rank", "name"], ignore_index=True), ["rank"])
        if visualize:
            _figures.annotation_breakdown(result, use_gpu_annotation, image_renderer)
        return result

    @classmethod
    @accepts(shorten_names="shortern_names")
    def get_gpu_kernels_with_user_annotations(
        cls, t: Trace, rank: int, expand_names: bool = True, shortern_names: bool = True
    ) -> Optional[pd.DataFrame]:
        """The rows of device work of a rank, with the number of the symbol of the annotation that they are in on the device
        (`user_annotation`; the shortest one; -1: in none), and with `expand_names` the texts `s_name`, `s_cat`, `s_user_annotation`. None
        where the rank has no such annotations. `spotter.kernels_by_annotation` has sums."""
        frame, symbols = t.get_trace(rank), t.symbols_of(rank)
        category = symbols.sym_index.get("gpu_user_annotation")
        if category is None:
            return None
        on_device = (frame["stream"] >= 0) & (frame["correlation"] >= 0)
        kernels = frame[on_device].copy()
        kernels["user_annotation"] = _innermost(kernels, frame[frame["cat"] == category])
        kernels = kernels.reset_index(drop=True)
        if expand_names:
            kernels = kernels.drop(columns=[name for name in ("s_name", "s_cat") if name in kernels.columns])
            decode_symbol_id_to_symbol_name(kernels, symbols, shortern_names)
            names = [shorten_name(name) if shortern_names else name for name in symbols.get_sym_table()]
            kernels["s_user_annotation"] = numpy.array([*names, ""], dtype=object)[kernels["user_annotation"]]
        return kernels

    @classmethod
    def get_idle_time_breakdown(
        cls,
        t: Trace,
        consecutive_kernel_delay: int,
        rank: int = 0,
        streams: Optional[List[int]] = None,
        visualize: bool = True,
        visualize_pctg: bool = True,
        show_idle_interval_stats: bool = False,
    ) -> Tuple[pd.DataFrame, Optional[pd.DataFrame]]:
        """Per stream of a rank the time between its work: `host_wait` (the launch came late), `kernel_wait` (shorter than
        `consecutive_kernel_delay` us) and `other`, in us and as a share of the stream's idle time; and statistics of the intervals. By
        `spotter.idle_time_breakdown` and `spotter.idle_interval_statistics`."""
        names = ["idle_time_breakdown", *(["idle_interval_statistics"] if show_idle_interval_stats else [])]
        answers = Answers(t, [rank], names, consecutive_kernel_delay_ns=max(0, int(1000 * consecutive_kernel_delay)))
        order = answers.facts[rank].order_of_streams if not streams else streams
        rows = answers["idle_time_breakdown"]
        rows = rows.set_index("stream").loc[[stream for stream in order if stream in set(rows["stream"])]].reset_index()
        result = _idle_times(rows, answers.stream_type())
        statistics = None
        if show_idle_interval_stats:
            statistics = _idle_statistics(result, answers["idle_interval_statistics"], answers.stream_type())
        if visualize:
            result["stream"] = result["stream"].astype(str)
            _figures.idle_time(result, rank, visualize_pctg)
        return result, statistics


def _check_share(duration_ratio: float) -> None:
    if not 0 <= duration_ratio <= 1:
        raise ValueError(f"duration_ratio={duration_ratio}: a number from 0 to 1 is wanted")


def _types(answers: Answers, kinds: List[str]) -> pd.DataFrame:
    sums: Dict[str, int] = {}
    for label, time in zip(answers["kernel_type_breakdown"]["kernel_type"], answers["kernel_type_breakdown"]["time_ns"]):
        parts = [kind for kind in label.split("+") if kind in kinds]
        if parts:
            key = " overlapping ".join(_KINDS[kind] for kind in parts)
            sums[key] = sums.get(key, 0) + int(time) // 1000
    order = sorted((key for key in sums if sums[key]), key=lambda key: -sums[key])
    total = sum(sums.values())
    return pd.DataFrame(
        {
            "kernel_type": text_column(order),
            "sum": numpy.array([sums[key] for key in order], dtype=numpy.int64),
            "percentage": numpy.array([100 * sums[key] / total for key in order], dtype=numpy.float64).round(1),
        }
    )


def _cut(rows: pd.DataFrame, within: List[str], ratio: float, most: int, allowed: Optional[pd.Series] = None) -> pd.DataFrame:
    """Of each group the largest rows, and what the others are together."""
    kept: List[pd.DataFrame] = []
    for _, group in rows.groupby(within, sort=False):
        group = group.sort_values("sum_ns", ascending=False, kind="stable")
        if len(group) <= most:
            kept.append(group)
            continue
        running = group["sum_ns"].cumsum()
        is_other = (running > running.quantile(ratio)).to_numpy() | (numpy.arange(len(group)) >= most)
        if allowed is not None:
            is_other &= ~allowed[group.index].to_numpy()
        kept.append(group[~is_other])
        if is_other.any():
            kept.append(pd.DataFrame([_together(group[is_other])]))
    return pd.concat(kept, ignore_index=True) if kept else rows


def _together(rows: pd.DataFrame) -> Dict[str, Any]:
    """One row of the events of all: sums of squares add up around the common mean."""
    count, mean = rows["count"].sum(), rows["sum_ns"].sum() / rows["count"].sum()
    squares = ((rows["count"] - 1) * rows["std_ns"] ** 2 + rows["count"] * (rows["mean_ns"] - mean) ** 2).sum()
    return {
        **rows.iloc[0].to_dict(),
        "name": _OTHERS,
        "count": count,
        "sum_ns": rows["sum_ns"].sum(),
        "max_ns": rows["max_ns"].max(),
        "min_ns": rows["min_ns"].min(),
        "mean_ns": mean,
        "std_ns": numpy.sqrt(squares / (count - 1)) if count > 1 else 0.0,
    }


def _statistics(answers: Answers, rows: pd.DataFrame, keys: List[str]) -> pd.DataFrame:
    result = pd.DataFrame({"name": text_column(rows["name"].to_numpy())})
    for name in ("sum", "max", "min"):
        result[f"{name} (us)"] = answers.microseconds(rows[f"{name}_ns"].astype(numpy.int64))
    result["stddev"], result["mean (us)"] = rows["std_ns"].astype(float) / 1000, rows["mean_ns"].astype(float) / 1000
    for key in keys:
        result[key] = rows[key].astype(numpy.int64) if key == "rank" else text_column(rows[key].to_numpy())
    return result


def _innermost(kernels: pd.DataFrame, annotations: pd.DataFrame) -> numpy.ndarray:
    """Of each kernel the name of the shortest annotation of its process and thread that overlaps it, or -1."""
    found = pd.Series(-1, index=kernels.index, dtype=numpy.int64)
    by_track = dict(list(annotations.groupby(["pid", "tid"], sort=False)))
    for track, group in kernels.groupby(["pid", "tid"], sort=False):
        if track not in by_track:
            continue
        group = group.sort_values("ts", kind="stable")
        start, end = group["ts"].to_numpy(), (group["ts"] + group["dur"]).to_numpy()
        latest_end = numpy.maximum.accumulate(end)
        names = numpy.full(len(group), -1, dtype=numpy.int64)
        own = by_track[track].sort_values("dur", ascending=False, kind="stable")
        for begin, dur, name in zip(own["ts"].to_numpy(), own["dur"].to_numpy(), own["name"].to_numpy()):
            first, last = numpy.searchsorted(latest_end, begin, side="right"), numpy.searchsorted(start, begin + dur, side="left")
            names[first:last][end[first:last] > begin] = name
        found[group.index] = names
    return found.to_numpy()


def _idle_times(rows: pd.DataFrame, stream_type: numpy.dtype) -> pd.DataFrame:
    """A stream's first work follows nothing and counts as `other`, which therefore is always there."""
    found = []
    for row in rows.to_dict("records"):
        idle = sum(row[f"{wait}_ns"] for wait in _WAITS)
        for wait in _WAITS:
            if row[f"{wait}_count"] or wait == "other":
                time = row[f"{wait}_ns"]
                found.append((row["rank"], row["stream"], wait, time / 1000, time / idle if idle else numpy.nan))
    result = pd.DataFrame(found, columns=["rank", "stream", "idle_category", "idle_time", "idle_time_ratio"])
    result = result.astype({"rank": numpy.int64, "stream": stream_type, "idle_time": float, "idle_time_ratio": float})
    result["idle_category"] = text_column(result["idle_category"].tolist())
    return result.round({"idle_time": 2, "idle_time_ratio": 2})


def _idle_statistics(times: pd.DataFrame, rows: pd.DataFrame, stream_type: numpy.dtype) -> pd.DataFrame:
    """In the rows of the times; one interval has no deviation, none has nothing."""
    keys = ["rank", "stream", "idle_category"]
    found = times[keys].astype({"stream": numpy.int64}).merge(rows.astype({"stream": numpy.int64}), on=keys, how="left")
    found["count"] = found["count"].fillna(0)
    found.loc[found["count"] == 1, "std_ns"] = numpy.nan
    result = found[keys].astype({"stream": stream_type})
    for ours, theirs in _POINTS.items():
        result[theirs] = (found[ours] / (1000 if ours.endswith("_ns") else 1)).astype(float).round(2)
    return result.set_index("idle_category")
