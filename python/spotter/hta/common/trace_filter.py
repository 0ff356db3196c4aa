"""Filters: callables that take rows out of a trace's frame. What is left keeps its order and index.

A frame that lacks the column a filter looks at comes back as it is, with a warning in the log.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod

import pandas as pd

from spotter.hta.common.trace_symbol_table import TraceSymbolTable
from spotter.hta.configs.config import logger
from spotter.hta.utils.utils import get_symbol_column_names

_SYNCHRONIZATIONS = ("Event Sync", "Context Sync")


class Filter(ABC):
    """A callable from frame to frame. Some filters need the trace's symbol table to know the names."""

    @abstractmethod
    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        """The rows that pass."""


class CompositeFilter(Filter):
    """Rows that pass one filter after the other."""

    def __init__(self, filters: list[Filter]) -> None:
        """A filter that is none is a TypeError."""
        wrong = [type(one).__name__ for one in filters if not isinstance(one, Filter)]
        if wrong:
            raise TypeError(f"a composite filter is made of filters, not of {', '.join(wrong)}")
        self.filters = filters

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        for one in self.filters:
            df = one(df, symbol_table)
        return df


class QueryFilter(Filter):
    """Rows for which an expression of pandas' `query` holds."""

    def __init__(self, query_str: str) -> None:
        self.filter_query = query_str

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        return df.query(self.filter_query)


ZeroDurationFilter = QueryFilter("dur > 0")
"""Takes out the events without a duration."""


class IterationFilter(Filter):
    """Rows of profiler steps, by number."""

    def __init__(self, iterations: int | list[int]) -> None:
        """What is neither an integer nor a list is a TypeError."""
        self.iterations = _numbers("iterations", iterations)

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        return df if _lacks(df, "iteration") else df[df["iteration"].isin(self.iterations)]


class IterationIndexFilter(Filter):
    """Rows of profiler steps, by position: 0 is the first step of the frame. A frame without steps stays as it is;
    where no position is a step's, an empty frame comes back."""

    def __init__(self, iteration_index: int | list[int]) -> None:
        """What is neither an integer nor a list is a TypeError."""
        self.iteration_index = _numbers("iteration_index", iteration_index)

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        if _lacks(df, "iteration"):
            return df
        steps = sorted(number for number in df["iteration"].unique() if number >= 0)
        if not steps:
            return df
        chosen = [steps[place] for place in self.iteration_index if 0 <= place < len(steps)]
        if not chosen:
            logger.warning("no step has position %s: the frame has %d steps", self.iteration_index, len(steps))
            return pd.DataFrame()
        return df[df["iteration"].isin(chosen)]


class FirstIterationFilter(IterationIndexFilter):
    """Rows of the first profiler step."""

    def __init__(self) -> None:
        super().__init__(0)


class RankFilter(Filter):
    """Rows of ranks, by the column `rank`."""

    def __init__(self, ranks: int | list[int]) -> None:
        """What is neither an integer nor a list is a TypeError."""
        self.ranks = _numbers("ranks", ranks)

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        return df if _lacks(df, "rank") else df[df["rank"].isin(self.ranks)]


class TimeRangeFilter(Filter):
    """Events that begin and end within a range of time, both ends included; in the unit of `ts`, microseconds."""

    def __init__(self, time_range: tuple[int, int]) -> None:
        """What is no tuple of two integers, or ends before it starts, is a ValueError."""
        if not isinstance(time_range, tuple) or len(time_range) != 2 or not all(map(_is_integer, time_range)):
            raise ValueError(f"a time range is a tuple of two integers, not {time_range!r}")
        self.time_start, self.time_end = time_range
        if self.time_start > self.time_end:
            raise ValueError(f"the time range ends at {self.time_end}, before it starts at {self.time_start}")

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        if _lacks(df, "ts", "dur"):
            return df
        return df[df["ts"].ge(self.time_start) & (df["ts"] + df["dur"]).le(self.time_end)]


class NameIdColumnFilter(Filter):
    """Events whose name begins as a regular expression says; the column `name` holds symbol ids."""

    def __init__(self, name_pattern: str) -> None:
        self.name_pattern = name_pattern

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        if symbol_table is None:
            logger.warning("a filter by symbol ids needs the symbol table; nothing is filtered")
            return df
        symbols = pd.Series(symbol_table.sym_table, dtype=object)
        return df if _lacks(df, "name") else df[df["name"].isin(_beginning(symbols, self.name_pattern).index)]


class NameStringColumnFilter(Filter):
    """Events whose name begins as a regular expression says; the column `s_name`, or else `name`, holds texts."""

    def __init__(self, name_pattern: str) -> None:
        self.name_pattern = name_pattern

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        column, _ = get_symbol_column_names(df)
        if not column:
            logger.warning("the frame has no column that holds names as texts; nothing is filtered")
            return df
        return _with_text(df, column, self.name_pattern)


class NameFilter(Filter):
    """Events whose name begins as a regular expression says."""

    def __init__(
        self, name_pattern: str, symbol_table: TraceSymbolTable | None = None, name_column: str | None = None
    ) -> None:
        """Args:
            symbol_table: for frames that hold names as symbol ids; None: the one that comes with the frame.
            name_column: where the names are as texts; None: `s_name` or `name`.
        """
        self.name_pattern = name_pattern
        self.symbol_table = symbol_table
        self.name_column = name_column

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        column = self.name_column
        if column is not None and column in df.columns and pd.api.types.is_string_dtype(df[column]):
            return _with_text(df, column, self.name_pattern)
        table = symbol_table if self.symbol_table is None else self.symbol_table
        if table is not None and "name" in df.columns and pd.api.types.is_numeric_dtype(df["name"]):
            return NameIdColumnFilter(self.name_pattern)(df, table)
        return NameStringColumnFilter(self.name_pattern)(df)


class GPUKernelFilter(Filter):
    """Events of devices: those with stream and correlation, and if the symbol table is there, synchronizations."""

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        return df if _lacks(df, "stream", "correlation") else df[_on_device(df, symbol_table)]


class CPUOperatorFilter(Filter):
    """Events of the host: all that `GPUKernelFilter` leaves out; without symbol table, those without stream."""

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        if symbol_table is None:
            return df if _lacks(df, "stream") else df[df["stream"].eq(-1)]
        return df if _lacks(df, "stream", "correlation") else df[~_on_device(df, symbol_table)]


class MemCopyEventFilter(Filter):
    """Copies of one kind, by their full name; where names cannot be known, a frame without columns."""

    def __init__(self, memory_copy_type: str, symbol_table: TraceSymbolTable | None = None) -> None:
        """Args:
            memory_copy_type: as "Memcpy HtoD (Pinned -> Device)".
            symbol_table: for frames that hold names as symbol ids; None: the one that comes with the frame.
        """
        self.memory_copy_type = memory_copy_type
        self.symbol_table = symbol_table

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        table = symbol_table if self.symbol_table is None else self.symbol_table
        if table is not None and not pd.api.types.is_string_dtype(df["name"]):
            name, category = table.sym_index.get(self.memory_copy_type), table.sym_index.get("gpu_memcpy")
            copies = df[df["name"].eq(name) & df["cat"].eq(category)] if None not in (name, category) else df[:0]
        else:
            name_column, category_column = get_symbol_column_names(df)
            if not (name_column and category_column):
                logger.warning("a filter of copies needs the symbol table, or names and categories as texts")
                return pd.DataFrame()
            copies = df[df[name_column].eq(self.memory_copy_type) & df[category_column].eq("gpu_memcpy")]
        return copies


def _is_integer(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _numbers(what: str, value: int | list[int]) -> list[int]:
    if isinstance(value, list):
        return value
    if not _is_integer(value):
        raise TypeError(f"{what} is an integer or a list of integers, not {value!r}")
    return [value]


def _lacks(df: pd.DataFrame, *columns: str) -> bool:
    missing = [column for column in columns if column not in df.columns]
    if missing:
        logger.warning("the frame has no column %s; nothing is filtered", " and ".join(missing))
    return bool(missing)


def _beginning(texts: pd.Series, pattern: str) -> pd.Series:
    return texts[texts.str.match(pattern, na=False)] if len(texts) else texts


def _with_text(df: pd.DataFrame, column: str, pattern: str) -> pd.DataFrame:
    return df[df[column].isin(_beginning(pd.Series(df[column].unique(), dtype=object), pattern))]


def _on_device(df: pd.DataFrame, symbol_table: TraceSymbolTable | None) -> pd.Series:
    on_stream = df["stream"].ge(0) & df["correlation"].ge(0)
    if symbol_table is None or "name" not in df.columns:
        return on_stream
    if pd.api.types.is_string_dtype(df["name"]):
        return on_stream | df["name"].isin(_SYNCHRONIZATIONS)
    return on_stream | df["name"].isin([symbol_table.sym_index.get(name, -1) for name in _SYNCHRONIZATIONS])
