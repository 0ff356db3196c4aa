"""How the rows of a rank's frame belong together: launches and device work, steps and what is in them."""

from __future__ import annotations

import re

import numpy
import pandas as pd

from spotter.hta.common.trace_symbol_table import TraceSymbolTable

_STEP_NUMBER = re.compile(r"ProfilerStep\s*#\s*(\d+)")
_SYNCHRONISATIONS = ("Event Sync", "Context Sync")


def _is_on_device(df: pd.DataFrame, symbols: TraceSymbolTable) -> numpy.ndarray:
    synchronisations = [symbols.sym_index.get(name, TraceSymbolTable.NULL) for name in _SYNCHRONISATIONS]
    return (((df["stream"] >= 0) & (df["correlation"] >= 0)) | df["name"].isin(synchronisations)).to_numpy()


def partners(df: pd.DataFrame, symbols: TraceSymbolTable) -> numpy.ndarray:
    """What `transform_correlation_to_index` adds."""
    correlation, ids = df["correlation"].to_numpy(), df["index"].to_numpy().astype(numpy.int64)
    on_device, has_correlation = _is_on_device(df, symbols), correlation != -1
    found = numpy.where(correlation >= 0, 0, -1).astype(numpy.int64)
    for side in (on_device, ~on_device):
        here, there = numpy.flatnonzero(has_correlation & side), numpy.flatnonzero(has_correlation & ~side)
        if not len(here) or not len(there):
            continue
        order = there[numpy.argsort(correlation[there], kind="stable")]
        last = numpy.searchsorted(correlation[order], correlation[here], side="right") - 1
        is_found = (last >= 0) & (correlation[order[numpy.maximum(last, 0)]] == correlation[here])
        found[here[is_found]] = ids[order[last[is_found]]]
    return found


def steps_of(df: pd.DataFrame, symbols: TraceSymbolTable) -> numpy.ndarray:
    """What `add_iteration` adds."""
    numbers = {symbol: _STEP_NUMBER.match(name) for symbol, name in enumerate(symbols.get_sym_table()) if name.startswith("ProfilerStep")}
    ts, stream = df["ts"].to_numpy(), df["stream"].to_numpy()
    order = numpy.argsort(ts, kind="stable")
    sorted_ts = ts[order]
    during = numpy.full(len(df), -1.0)
    for _, step in df[df["name"].isin([symbol for symbol, number in numbers.items() if number])].iterrows():
        first, end = numpy.searchsorted(sorted_ts, [step["ts"], step["ts"] + step["dur"]])
        during[order[first:end]] = int(numbers[step["name"]].group(1))  # type: ignore[union-attr]
    steps = numpy.where(stream < 0, during, numpy.nan)
    on_device = numpy.flatnonzero(stream > 0)
    partner = df["index_correlation"].to_numpy()[on_device]
    place = pd.Index(df["index"]).get_indexer(partner)
    steps[on_device] = numpy.where((partner > 0) & (place >= 0), steps[place], -1)
    return steps if numpy.isnan(steps).any() else steps.astype(numpy.int64)


def kept_rows(frame: pd.DataFrame, symbols: TraceSymbolTable, with_last_step: bool) -> pd.DataFrame:
    """Of two steps or more: what begins on the host, but with the last step or later, and the device work that it launched, which comes
    first; else all rows. Indexed by their places in the file."""
    steps = [number for number, name in enumerate(symbols.get_sym_table()) if name.startswith("ProfilerStep")]
    on_device = _is_on_device(frame, symbols)
    is_step = frame["name"].isin(steps).to_numpy() & ~on_device
    if len(frame.loc[is_step, "name"].unique()) < 2:
        return _indexed(frame)
    host = ~on_device
    if not with_last_step:
        host &= (frame["ts"] < frame.loc[is_step, "ts"].max()).to_numpy()
    correlation = frame["correlation"]
    launched = correlation[host & (correlation != -1).to_numpy()]
    device = on_device & correlation.isin(launched).to_numpy()
    return _indexed(pd.concat([frame[device], frame[host]]))


def _indexed(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_axis(pd.Index(frame["index"].to_numpy()))
