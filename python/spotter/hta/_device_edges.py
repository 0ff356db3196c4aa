"""What the rows of devices wait for in a window of a trace: the edges of a critical path that begin or end at them."""

from __future__ import annotations

from typing import Any, Dict, List

import numpy as np
import pandas as pd

from spotter.hta._critical_path import KERNEL_KERNEL, LAUNCH, OPERATOR, SYNC, Edges, Nodes, id_of, ids_of
from spotter.hta.configs import env_options
from spotter.hta.configs.config import logger


def launches_in(full: pd.DataFrame, query: str) -> pd.DataFrame:
    """The calls that launched a kernel, a copy or a fill of the trace: `kernel` is its id, `stream` and `gpu` are where it
    ran."""
    calls = full.query(query)
    place = full.index.get_indexer(calls["index_correlation"])
    calls, device = calls[place >= 0], full.iloc[place[place >= 0]]
    return pd.DataFrame(
        {
            "launch": calls.index,
            "ts": calls["ts"].to_numpy(),
            "pid": calls["pid"].to_numpy(),
            "tid": calls["tid"].to_numpy(),
            "launch_correlation": calls["correlation"].to_numpy(),
            "kernel": device.index,
            "stream": device["stream"].to_numpy(np.int64),
            "gpu": device["pid"].to_numpy(),
        }
    ).sort_values("ts", kind="stable", ignore_index=True)


def _queue_lengths(full: pd.DataFrame, launches: pd.DataFrame) -> pd.Series:
    """How many rows of its stream had been launched and had not begun, by id: right after a launch, or right after a device
    row began."""
    by_number = launches[["launch_correlation", "launch", "ts"]].drop_duplicates("launch_correlation", keep="last")
    begun = full.loc[full["stream"] != -1, ["correlation", "ts", "stream"]].rename_axis("id").reset_index()
    pairs = begun.merge(by_number, left_on="correlation", right_on="launch_correlation", suffixes=("", "_of_launch"))
    ids = np.concatenate([pairs["launch"], pairs["id"]])
    at = np.concatenate([pairs["ts_of_launch"], pairs["ts"]])
    step = np.repeat([1, -1], len(pairs))
    stream = np.tile(pairs["stream"].to_numpy(), 2)
    order = np.lexsort((-step, at, stream))
    total = np.cumsum(step[order])
    lengths = pd.Series(total, index=ids[order])
    return lengths[~lengths.index.duplicated(keep="last")]


def event_records(full: pd.DataFrame, symbols: List[str], launches: pd.DataFrame) -> pd.DataFrame:
    """The calls of cudaEventRecord that something waited for, with the last launch before each on its event's stream:
    `correlation_launch_event`, `index_previous_launch` and `kernel` (NaN: none), sorted by `ts`."""
    correlation = _argument(full, "wait_on_cuda_event_record_corr_id").to_numpy(np.int64)
    stream, gpu = _argument(full, "wait_on_stream").to_numpy(np.int64), full["pid"].to_numpy()
    events = pd.DataFrame({"correlation": correlation, "stream": stream, "gpu": gpu})
    events = events[correlation > 0].drop_duplicates("correlation")
    records = full.loc[full["name"] == id_of(symbols, "cudaEventRecord"), ["pid", "tid", "ts", "correlation"]]
    records = records.astype({"correlation": np.int64}).merge(events, on="correlation")
    names = {"launch": "index_previous_launch", "launch_correlation": "correlation_launch_event"}
    return _with_launch(records, launches, ["stream", "gpu"], "backward").rename(columns=names)


def _with_launch(calls: pd.DataFrame, launches: pd.DataFrame, keys: List[str], direction: str) -> pd.DataFrame:
    """Each call with the nearest launch that has the same keys."""
    as_objects = dict.fromkeys(keys, object)  # ids of processes are numbers in one frame and texts in the other
    calls = calls.sort_values("ts", kind="stable").astype(as_objects)
    launches = launches[["ts", *keys, "launch", "launch_correlation", "kernel"]].astype(as_objects)
    return pd.merge_asof(calls, launches, on="ts", by=keys, direction=direction)


class _DeviceRows:
    """The rows of devices and the waits for them, in the order in which they began or were over."""

    def __init__(self, frame: pd.DataFrame, symbols: List[str], nodes: Nodes) -> None:
        stream, partner = frame["stream"].to_numpy(np.int64), frame["index_correlation"].to_numpy()
        is_wait = (frame["cat"] == id_of(symbols, "cuda_sync")).to_numpy()
        waits_on_host = frame["name"].isin(ids_of(symbols, ("Event Sync", "Context Sync"))).to_numpy()
        rows = np.flatnonzero(((stream != -1) | waits_on_host) & (partner >= 0))
        at = frame["ts"].to_numpy() + np.where(is_wait, frame["dur"].to_numpy(), 0)
        self.row = rows[np.argsort(at[rows], kind="stable")]
        self.partner = partner[self.row]
        """The id of the launch, or of the call that waited."""
        self.call = frame.index.get_indexer(self.partner)
        """Its row; -1: it is not in the frame."""
        self.name = frame["name"].to_numpy()[self.row]
        self.stream, self.streams = pd.factorize(stream[self.row])
        self.kernels = np.flatnonzero(~is_wait[self.row])
        """Places of what is no wait."""
        order = np.argsort(self.stream[self.kernels], kind="stable")
        self._keys = (self.stream[self.kernels] * self.row.size + self.kernels)[order]
        self._ends = nodes.end_of[self.row[self.kernels]][order]

    def last_end(self, stream: np.ndarray, place: np.ndarray) -> np.ndarray:
        """The end of a stream's last kernel before a place: a node; -1: none."""
        return _last_before(self._keys, self._ends, stream * self.row.size + place, self.row.size)


class _Found:
    """Edges of device rows, with the places of these."""

    def __init__(self) -> None:
        self._places: List[np.ndarray] = []
        self._edges: List[Edges] = []

    def add(self, place: np.ndarray, begin: np.ndarray, end: np.ndarray, weight: Any, kind: int, event: Any = -1) -> None:
        """Those that have two nodes."""
        is_edge = (begin >= 0) & (end >= 0)
        self._places.append(place[is_edge])
        columns = np.broadcast_arrays(begin, end, weight, kind, event)
        self._edges.append(Edges(*(column[is_edge] for column in columns)))

    def by_place(self) -> Edges:
        order = np.argsort(np.concatenate(self._places), kind="stable")
        return Edges(*(np.concatenate(column)[order] for column in zip(*self._edges)))


def device_edges(
    frame: pd.DataFrame, full: pd.DataFrame, symbols: List[str], nodes: Nodes, launches: pd.DataFrame
) -> Edges:
    """Of each device row, in order of time: how long it took, what it waited for, and its launch or the stream's one before
    it."""
    device, found = _DeviceRows(frame, symbols, nodes), _Found()
    waited_for = _waited_for(frame, device, nodes, event_records(full, symbols, launches))
    waits = {
        name: np.flatnonzero(device.name == id_of(symbols, name))
        for name in ("Stream Sync", "Context Sync", "Event Sync", "Stream Wait Event")
    }
    _add_waits_on_host(found, device, nodes, waits, waited_for)
    source = _sources(frame, full, device, waits["Stream Wait Event"], waited_for, launches)
    _add_kernels(found, frame, device, nodes, source, _queue_lengths(full, launches))
    return found.by_place()


def _waited_for(frame: pd.DataFrame, device: _DeviceRows, nodes: Nodes, records: pd.DataFrame) -> np.ndarray:
    """The node that ends the kernel before the cudaEventRecord that each device row waited for; -1: none."""
    ends = pd.Series(_at(nodes.end_of, frame.index.get_indexer(records["kernel"])), records["correlation"])
    record = _argument(frame, "wait_on_cuda_event_record_corr_id").to_numpy()[device.row]
    return ends[~ends.index.duplicated(keep="last")].reindex(record, fill_value=-1).to_numpy(np.int64)


def _add_waits_on_host(
    found: _Found, device: _DeviceRows, nodes: Nodes, waits: Dict[str, np.ndarray], waited_for: np.ndarray
) -> None:
    call_ends = _at(nodes.end_of, device.call)
    place = waits["Stream Sync"]
    found.add(place, device.last_end(device.stream[place], place), call_ends[place], 0, SYNC)
    place = np.repeat(waits["Context Sync"], device.streams.size)
    stream = np.tile(np.arange(device.streams.size), waits["Context Sync"].size)
    found.add(place, device.last_end(stream, place), call_ends[place], 0, SYNC)
    place = waits["Event Sync"]
    found.add(place, waited_for[place], call_ends[place], 0, SYNC)


def _sources(
    frame: pd.DataFrame,
    full: pd.DataFrame,
    device: _DeviceRows,
    waits: np.ndarray,
    waited_for: np.ndarray,
    launches: pd.DataFrame,
) -> np.ndarray:
    """By kernel: the node that ends the one on another stream for which a cudaStreamWaitEvent held it up; -1: none. That
    call holds up what its thread launches next in its stream."""
    call = full.index.get_indexer(device.partner[waits])
    waits, call = waits[call >= 0], call[call >= 0]
    calls = full.iloc[call][["ts", "pid", "tid"]].assign(stream=device.streams[device.stream[waits]], place=waits)
    calls = _with_launch(calls, launches, ["pid", "tid", "stream"], "forward")
    waiting, place = frame.index.get_indexer(calls["kernel"]), calls["place"].to_numpy()
    is_known = (waiting >= 0) & (waited_for[place] >= 0)
    waiting, place = waiting[is_known], place[is_known]
    order = np.lexsort((place, waiting))
    size = device.row.size
    asked = device.row[device.kernels] * size + device.kernels
    return _last_before((waiting * size + place)[order], waited_for[place][order], asked, size)


def _add_kernels(
    found: _Found, frame: pd.DataFrame, device: _DeviceRows, nodes: Nodes, source: np.ndarray, lengths: pd.Series
) -> None:
    place = device.kernels
    row = device.row[place]
    start, end, launch = nodes.start_of[row], nodes.end_of[row], _at(nodes.start_of, device.call[place])
    before = device.last_end(device.stream[place], place)
    launched_at = np.where(launch >= 0, nodes.ts[launch], np.nan)
    freed_at = np.where(before >= 0, nodes.ts[before], -np.inf)
    ready_at = np.where(source >= 0, nodes.ts[source], -np.inf)
    was_idle = (lengths.reindex(device.partner[place]) == 1).to_numpy() & (lengths.reindex(frame.index[row]) == 0).to_numpy()
    by_launch = was_idle & (freed_at < launched_at) & (ready_at < launched_at)
    by_kernel = ~by_launch & (before >= 0) & (ready_at < freed_at)
    found.add(place, start, end, nodes.ts[end] - nodes.ts[start], OPERATOR, row)
    found.add(place, source, start, 0, SYNC)
    found.add(place, np.where(by_launch, launch, -1), start, nodes.ts[start] - launched_at, LAUNCH)
    found.add(place, np.where(by_kernel, before, -1), start, nodes.ts[start] - freed_at, KERNEL_KERNEL, nodes.row[before])
    if env_options.critical_path_add_zero_weight_launch_edges():
        found.add(place, np.where(by_launch, -1, launch), start, 0, LAUNCH)
    lonely = np.count_nonzero(~by_launch & ~by_kernel & (source < 0))
    if lonely:
        why = "when they were launched others waited, and the window has none before them on their streams"
        logger.warning("nothing leads to %d kernels: %s", lonely, why)


def _last_before(keys: np.ndarray, values: np.ndarray, asked: np.ndarray, size: int) -> np.ndarray:
    """The value of the last key below each of `asked` that is in the same multiple of `size`; -1: none. `keys` ascend."""
    place = np.searchsorted(keys, asked) - 1
    found = np.flatnonzero(place >= 0)
    found = found[keys[place[found]] // size == asked[found] // size]
    result = np.full(asked.size, -1)
    result[found] = values[place[found]]
    return result


def _at(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Of each place; -1 for place -1."""
    result = np.full(place.size, -1)
    result[place >= 0] = values[place[place >= 0]]
    return result


def _argument(frame: pd.DataFrame, name: str) -> pd.Series:
    """A column that frames have unless the parser was told to leave it out; then -1."""
    return frame[name] if name in frame.columns else pd.Series(-1, frame.index)
