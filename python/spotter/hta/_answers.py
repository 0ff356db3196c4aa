"""Spotter's tables of the rows that a `Trace` has, in HTA's units: us and percent."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import numpy
import pandas as pd

from spotter.frames import column_of
from spotter.hta import _engine
from spotter.tables import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spotter.hta._engine import Facts
    from spotter.hta.common.trace import Trace

LISTS_ALL = 0  # for the parameter `top`


class Answers:
    """Tables by name, and by rank what the frame of its file is like."""

    def __init__(self, t: Trace, ranks: List[int], names: List[str], wants_rows: bool = False, **params: Any) -> None:
        """wants_rows: for `places()`.

        Raises:
            ValueError: a rank is not loaded, or its frame was changed so that its file cannot answer.
        """
        if not ranks:
            raise ValueError("no trace is loaded")
        self.ranks = ranks
        tables, self.facts = _engine.run([t.rows_to_analyse(rank) for rank in dict.fromkeys(ranks)], names, params, wants_rows)
        t.know(self.facts)
        self._frames: Dict[str, pd.DataFrame] = {name: plain_frame(Table(table)) for name, table in zip(names, tables)}

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self._frames[name]

    def of_rank(self, name: str, rank: int) -> pd.DataFrame:
        frame = self._frames[name]
        return frame[frame["rank"] == rank].reset_index(drop=True)

    def has_whole_durations(self, rank: Optional[int] = None) -> bool:
        """HTA's durations are integers only in a file of which every event has a whole one."""
        ranks = self.facts if rank is None else [rank]
        return all(self.facts[rank].has_whole_durations for rank in ranks)

    def microseconds(self, times: pd.Series, rank: Optional[int] = None, whole: type = numpy.int64) -> pd.Series:
        """Of ns; `whole`: the type where durations are integers."""
        return (times // 1000).astype(whole) if self.has_whole_durations(rank) else times / 1000

    def stream_type(self) -> numpy.dtype:
        """Of the column `stream`, over the ranks."""
        return max((_narrowest(*facts.streams) for facts in self.facts.values()), default=numpy.dtype("int8"))

    def places(self, rank: int, events: pd.Series) -> numpy.ndarray:
        """Of events, as tables number them, the places in the file."""
        return numpy.frombuffer(self.facts[rank].rows, dtype=numpy.uint32)[events.to_numpy()]


def correlation_type(facts: Facts) -> numpy.dtype:
    return _narrowest(*facts.correlations)


def index_type(facts: Facts) -> numpy.dtype:
    return _narrowest(0, facts.last_row)


def plain_frame(table: Table) -> pd.DataFrame:
    """With texts as pandas has them, not as categories."""
    columns = {}
    for place, name in enumerate(table.columns):
        column = column_of(table, place, True, False)
        columns[name] = numpy.asarray(column, dtype=object) if isinstance(column, pd.Categorical) else column
    return pd.DataFrame(columns)


def text_column(values: Any) -> Any:
    """In the type that pandas gives to texts: object, from version 3 on str; also where there are none."""
    return pd.Series(values, dtype=pd.Series(["text"]).dtype).to_numpy() if len(values) == 0 else values


def _narrowest(least: int, most: int) -> numpy.dtype:
    return next(
        numpy.dtype(name)
        for name in ("int8", "int16", "int32", "int64")
        if numpy.iinfo(name).min <= least and most <= numpy.iinfo(name).max
    )
