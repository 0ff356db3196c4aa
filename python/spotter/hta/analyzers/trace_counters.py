"""Curves over time: queues of launched work, and bandwidth of copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Optional

import numpy
import pandas as pd

from spotter.hta._answers import Answers, index_type, text_column

if TYPE_CHECKING:
    from spotter.hta._engine import Facts
    from spotter.hta.common.trace import Trace

_POINTS = {"count": "count", "mean": "mean", "std": "std", "min": "min", "p25": "25%", "median": "50%", "p75": "75%", "max": "max"}


class TraceCounters:
    """The analyses of `TraceAnalysis` of the same names, of a `Trace`."""

    @classmethod
    def get_queue_length_time_series(cls, t: Trace, ranks: Optional[List[int]] = None) -> Dict[int, pd.DataFrame]:
        """By rank a row for each change of a stream's queue of launched work that has not begun, by stream and time, indexed by the row
        that changes it: `ts` (us), `pid`, `tid` and `stream` of the work, `queue_length` from then on. Ranks without launches are not
        there. By `spotter.queue_length_series`."""
        answers = Answers(t, t.chosen(ranks), ["queue_length_series"], wants_rows=True)
        found = {rank: _queues(t, answers, rank) for rank in answers.ranks}
        return {rank: frame for rank, frame in found.items() if len(frame)}

    @classmethod
    def get_queue_length_summary(cls, t: Trace, ranks: Optional[List[int]] = None) -> Optional[pd.DataFrame]:
        """Per rank and stream the statistics of the lengths after each change (not weighted by time); None without launches. By
        `spotter.queue_length`, which also has the mean over time."""
        answers = Answers(t, t.chosen(ranks), ["queue_length"])
        rows = answers["queue_length"]
        return _summary(rows, answers.ranks, "stream", "queue_length", {name: name for name in _POINTS}, answers.stream_type())

    @classmethod
    def get_queue_length_summary_from_time_series(cls, queue_length_dict: Dict[int, pd.DataFrame]) -> Optional[pd.DataFrame]:
        """The same, of what `get_queue_length_time_series` gave."""
        frames = [frame.assign(rank=rank) for rank, frame in queue_length_dict.items() if len(frame)]
        if not frames:
            return None
        return pd.concat(frames)[["rank", "stream", "queue_length"]].groupby(["rank", "stream"], sort=False).describe()

    @classmethod
    def get_time_spent_blocked_on_full_queue(
        cls, t: Trace, queue_length_dict: Dict[int, pd.DataFrame], max_queue_length: int
    ) -> Optional[pd.DataFrame]:
        """Per rank and stream for how long (us) its queue had at least so many entries, and that as a share of the rank's time; of streams
        that ever had. All of them (B22). `spotter.queue_blocked` has it, too."""
        rows = []
        for rank, frame in queue_length_dict.items():
            for stream, queue in frame.groupby("stream", sort=True):
                is_full = (queue["queue_length"] >= max_queue_length).to_numpy()
                if is_full.any():
                    until_next = numpy.append(numpy.diff(queue["ts"].to_numpy()), 0)
                    blocked = float(until_next[is_full].sum())
                    rows.append((rank, stream, blocked, blocked / t.get_trace_duration(rank)))
        columns = ["rank", "stream", "duration_at_max_queue_length", "relative_duration_at_max_queue_length"]
        result = pd.DataFrame(rows, columns=columns).astype({"rank": numpy.int64})
        if not rows:
            return result.astype({column: object for column in columns[1:]})
        return result.astype({"stream": next(iter(queue_length_dict.values()))["stream"].dtype})

    @classmethod
    def get_memory_bw_time_series(cls, t: Trace, ranks: Optional[List[int]] = None) -> Dict[int, pd.DataFrame]:
        """By rank a row for each change of the bandwidth of a type of copy or set, by type and time: `ts` (us), `pid`, `name`,
        `memory_bw_gbps` (GB/s) from then on. Ranks without copies are not there. By `spotter.memory_bandwidth_series`."""
        answers = Answers(t, t.chosen(ranks), ["memory_bandwidth_series"])
        found = {rank: _bandwidths(t, answers, rank) for rank in answers.ranks}
        return {rank: frame for rank, frame in found.items() if len(frame)}

    @classmethod
    def get_memory_bw_summary(cls, t: Trace, ranks: Optional[List[int]] = None) -> Optional[pd.DataFrame]:
        """Per rank and type of copy or set the statistics, in GB/s, of the bandwidths after each change, but those that are 0; None
        without copies. By `spotter.memory_bandwidth`, which also has what was achieved."""
        answers = Answers(t, t.chosen(ranks), ["memory_bandwidth"])
        rows = answers["memory_bandwidth"].rename(columns={"type": "name"})
        if len(rows) and not (rows["points"] > 0).any():  # nothing says how fast its copies were
            return pd.DataFrame(columns=pd.MultiIndex.from_product([["memory_bw_gbps"], _POINTS.values()]), dtype=float)
        rows = rows[rows["points"] > 0]
        points = {name: "points" if name == "count" else f"point_{name}_bytes_per_s" for name in _POINTS}
        return _summary(rows, answers.ranks, "name", "memory_bw_gbps", points, None, 1e9)


def _queues(t: Trace, answers: Answers, rank: int) -> pd.DataFrame:
    rows, facts = answers.of_rank("queue_length_series", rank), answers.facts[rank]
    if rows.empty:
        return pd.DataFrame()
    places = answers.places(rank, rows["event"])
    frame = t.get_trace(rank).set_index("index", drop=False)
    on_device = frame.loc[places, "stream"].to_numpy() >= 0
    work = numpy.where(on_device, places, frame.loc[places, "index_correlation"].to_numpy())
    result = pd.DataFrame(
        {
            "ts": _after_begin(t, rows["time_ns"], facts).astype(numpy.int64),
            "pid": frame.loc[work, "pid"].to_numpy(),
            "tid": frame.loc[work, "tid"].to_numpy(),
            "stream": rows["stream"].to_numpy().astype(answers.stream_type()),
            "queue_length": rows["queue_length"].to_numpy(),
        }
    )
    result.index = pd.Index(places.astype(index_type(facts)), name="index")
    return result.sort_values(["stream", "ts"], kind="stable")


def _bandwidths(t: Trace, answers: Answers, rank: int) -> pd.DataFrame:
    rows, facts = answers.of_rank("memory_bandwidth_series", rank), answers.facts[rank]
    pids = rows["device"].to_numpy()
    result = pd.DataFrame(
        {
            "ts": _after_begin(t, rows["time_ns"], facts),
            "pid": pids.astype(object) if facts.has_text_processes else pids.astype(numpy.int32),
            "name": text_column(rows["type"].to_numpy()),
            "memory_bw_gbps": rows["bytes_per_s"] / 1e9,
        }
    )
    result.index = pd.Index(numpy.arange(len(result)))
    return result.sort_values(["name", "ts"], kind="stable")


def _after_begin(t: Trace, times: pd.Series, facts: Facts) -> numpy.ndarray:
    """Unix times in ns as us after `min_ts`."""
    return (times.to_numpy() - facts.base_ns - round(1000 * t.min_ts)) / 1000


def _summary(
    rows: pd.DataFrame, ranks: List[int], key: str, value: str, points: Dict[str, str], key_type: Optional[numpy.dtype], unit: float = 1
) -> Optional[pd.DataFrame]:
    if rows.empty:
        return None
    rows = pd.concat([rows[rows["rank"] == rank] for rank in dict.fromkeys(ranks)])
    keys = [rows["rank"].astype(numpy.int64), rows[key].astype(key_type) if key_type is not None else rows[key]]
    index = pd.MultiIndex.from_arrays(keys, names=["rank", key])
    result = pd.DataFrame(index=index, columns=pd.MultiIndex.from_product([[value], _POINTS.values()]), dtype=float)
    for ours, theirs in _POINTS.items():
        column = rows[points[ours]].to_numpy().astype(float)
        result[(value, theirs)] = column if ours == "count" else column / unit
    result.loc[result[(value, "count")] == 1, (value, "std")] = numpy.nan
    return result
