"""Sequences of device work that operators of a name launch, and the trace with them marked."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any, Dict, List

import numpy
import pandas as pd

from spotter.hta import _figures
from spotter.hta.common.trace_call_graph import CallGraph

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spotter.hta.common.trace import Trace

_COLUMNS = ["pattern", "count", "GPU kernel duration (us)", "CPU op duration (us)"]


class Sequences:
    """Of one rank. Sequences are equal if their whole lists of names are."""

    def __init__(self, t: Trace, rank: int, operator: str, least: int) -> None:
        self._trace, self._rank = t, rank
        CallGraph(t, ranks=[rank])
        frame = t.get_trace(rank).set_index("index", drop=False)
        self._names = numpy.array([*t.symbols_of(rank).get_sym_table(), ""], dtype=object)
        found = [number for number, name in enumerate(self._names) if operator in name]
        candidates = frame[frame["name"].isin(found)]
        candidates = candidates[candidates["depth"] == candidates["depth"].min()]
        self._operators = candidates[candidates["num_kernels"] >= least]
        self._owners = _owners(frame, self._operators.index)
        self._rows = frame
        self._patterns = self._find()

    def table(self) -> pd.DataFrame:
        """A row for each pattern, the most frequent first."""
        if self._patterns.empty:
            return pd.DataFrame()
        groups = self._patterns.groupby("pattern").agg(count=("dur", "size"), device=("kernel_dur_sum", "sum"), host=("dur", "sum"))
        table = groups.reset_index().sort_values(["count", "pattern"], ascending=[False, True], ignore_index=True)
        return table.set_axis(_COLUMNS, axis=1)

    def write(self, table: pd.DataFrame, folder: str, top: int, compress: bool) -> None:
        """The rank's trace with the events of the first patterns marked."""
        patterns = list(table["pattern"][:top]) if len(table) else []
        marked = self._marks(patterns)
        trace = self._trace.get_raw_trace_for_one_rank(self._rank)
        for place, counts in marked.items():
            trace["traceEvents"][place].setdefault("args", {})["Patterns"] = dict(counts)
        if compress:
            _compress(trace["traceEvents"], marked, self._trace.symbols_of(self._rank).get_sym_id_map())
        path = os.path.join(folder, f"overlaid_{os.path.basename(self._trace.trace_files[self._rank])}")
        self._trace.write_raw_trace(path, trace)

    def show(self, table: pd.DataFrame, top: int) -> None:
        _figures.sequences(table[:top])

    def _find(self) -> pd.DataFrame:
        work = self._rows[(self._rows["stream"] != -1).to_numpy() & (self._owners >= 0)]
        work = work.assign(owner=self._owners[self._rows.index.get_indexer(work.index)]).sort_values(["owner", "ts"], kind="stable")
        names = pd.Series(self._names[work["name"]], index=work["owner"].to_numpy(), dtype=object)
        launched = names.groupby(level=0, sort=False).agg("|".join)
        operators = self._operators.loc[launched.index]
        pattern = [f"{self._names[name]}|{kernels}" for name, kernels in zip(operators["name"], launched)]
        return operators.assign(pattern=pattern)

    def _marks(self, patterns: List[str]) -> Dict[int, Counter]:
        """Of each event below an operator of these patterns, how often it is in which."""
        pattern_of = self._patterns[self._patterns["pattern"].isin(patterns)]["pattern"].to_dict()
        marks: Dict[int, Counter] = {}
        for place, owner in zip(self._rows.index.tolist(), self._owners.tolist()):
            if owner in pattern_of:
                marks.setdefault(place, Counter())[pattern_of[owner]] += 1
        return marks


def _owners(frame: pd.DataFrame, operators: pd.Index) -> numpy.ndarray:
    """Of each row the operator that it is, or is below; -1: none. All rows climb to their parents at the same time."""
    parents = frame.index.get_indexer(frame["parent"].fillna(-1).astype(numpy.int64))
    is_operator = frame.index.isin(operators)
    owners = numpy.full(len(frame), -1, dtype=numpy.int64)
    rows = at = numpy.arange(len(frame))
    for _ in range(int(frame["depth"].max() if len(frame) else 0) + 2):
        is_there = is_operator[at]
        owners[rows[is_there]] = frame.index.to_numpy()[at[is_there]]
        rows, at = rows[~is_there], parents[at[~is_there]]
        rows, at = rows[at >= 0], at[at >= 0]
    return owners


def _compress(events: List[Dict[str, Any]], marked: Dict[int, Counter], numbers: Dict[str, int]) -> None:
    """Complete events that are in no pattern keep no arguments, and the number of their symbol in place of their name; what the numbers
    mean stands in the arguments of the profiler's own span."""
    used: Dict[str, str] = {}
    for place, event in enumerate(events):
        if event.get("ph") != "X" or place in marked:
            continue
        if event.get("args"):
            event["args"] = {}
        number = numbers.get(event.get("name", ""))
        if number is not None:
            used[str(number)] = event["name"]
            event["name"] = str(number)
    for event in events:
        if event.get("pid") == "Spans" and "PyTorch Profiler" in event.get("name", ""):
            event.setdefault("args", {})["symbols"] = used
