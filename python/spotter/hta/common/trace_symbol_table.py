"""The names and categories of events, which frames hold as numbers (symbol ids)."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from spotter.hta.common.types import (
    CPU_EVENTS_CATEGORY_PATTERN,
    KERNEL_CATEGORY_PATTERN,
    KERNEL_LAUNCH_CATEGORY_PATTERN,
    GroupingPattern,
    MemoryKernelGroupingPattern,
    ProfilerStepGroupingPattern,
)
from spotter.hta.utils.utils import shorten_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_HOST_CATEGORIES = ("cpu_op", "cuda_driver", "cuda_runtime")
_LAUNCHES = (
    "cudaMemsetAsync",
    "cudaMemcpyAsync",
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "runFunction - job_prep_and_submit_for_execution",
    "hipLaunchKernel",
    "hipExtModuleLaunchKernel",
    "hipMemcpyAsync",
    "hipMemsetAsync",
    "hipMemcpyWithStream",
)


class TraceSymbolTable:
    """Symbols by id (`sym_table`), and ids by symbol (`sym_index`). An id is a position, and never changes."""

    NULL: int = -128
    """An id that no symbol has."""

    def __init__(self) -> None:
        self.sym_table: list[str] = []
        self.sym_index: dict[str, int] = {}

    def is_empty(self) -> bool:
        return not self.sym_table

    def add_symbols(self, symbols: Iterable[str]) -> None:
        """Gives those that are new the next ids."""
        for symbol in symbols:
            if symbol not in self.sym_index:
                self.sym_index[symbol] = len(self.sym_table)
                self.sym_table.append(symbol)

    def add_symbols_mp(self, symbols_list: list[Iterable[str]]) -> None:
        """`add_symbols` of each."""
        for symbols in symbols_list:
            self.add_symbols(symbols)

    def get_sym_table(self) -> list[str]:
        """The symbols by id: the list itself."""
        return self.sym_table

    def get_sym_index(self) -> dict[str, int]:
        """The ids by symbol: the dict itself."""
        return self.sym_index

    def get_sym_id_map(self) -> dict[str, int]:
        """As `get_sym_index`."""
        return self.sym_index

    def get_sym_table_series(self) -> pd.Series:
        """The symbols; the index is the id."""
        return pd.Series(self.sym_table, dtype=None if self.sym_table else object)

    def get_sym_index_series(self) -> pd.Series:
        """The ids (int64); the index is the symbol."""
        return pd.Series(self.sym_index, dtype=np.int64)

    def find_matches(self, patterns: list[str]) -> list[int]:
        """Ids of the symbols that contain one of the texts."""
        contains = re.compile("|".join(map(re.escape, patterns))).search
        return [place for place, symbol in enumerate(self.sym_table) if contains(symbol)]

    def find_matched_symbols(self, patterns: list[str]) -> list[str]:
        """The symbols that contain one of the texts."""
        return [self.sym_table[place] for place in self.find_matches(patterns)]

    def get_symbol_ids(self, symbol_pattern: GroupingPattern) -> dict[str, int]:
        """The symbols of a group with their ids."""
        return {symbol: place for symbol, place in self.sym_index.items() if symbol_pattern.match(symbol)}

    def get_symbol_names(self, symbol_ids: list[int]) -> dict[int, str]:
        """The symbols of ids; ids that no symbol has are left out."""
        return {place: self.sym_table[place] for place in symbol_ids if 0 <= place < len(self.sym_table)}

    def get_cpu_event_cat_ids(self) -> list[int]:
        """Categories of host events."""
        return list(self.get_symbol_ids(CPU_EVENTS_CATEGORY_PATTERN).values())

    def get_gpu_kernel_cat_ids(self) -> list[int]:
        """Categories of what a device does."""
        return list(self.get_symbol_ids(KERNEL_CATEGORY_PATTERN).values())

    def get_profiler_step_ids(self) -> list[int]:
        """The names of the profiler's steps."""
        return list(self.get_symbol_ids(ProfilerStepGroupingPattern).values())

    def get_memory_name_ids(self) -> list[int]:
        """The names of copies and fills."""
        return list(self.get_symbol_ids(MemoryKernelGroupingPattern).values())

    def get_kernel_launch_ids(self) -> list[int]:
        """The names of calls that launch kernels."""
        return list(self.get_symbol_ids(KERNEL_LAUNCH_CATEGORY_PATTERN).values())

    def get_operator_or_cuda_runtime_query(self) -> str:
        """For `DataFrame.query`: operators and calls of CUDA."""
        return f"({' or '.join(f'cat == {self._id_or_null(cat)}' for cat in _HOST_CATEGORIES)})"

    def get_runtime_launch_events_query(self) -> str:
        """For `DataFrame.query`: calls that launch a kernel, a copy or a fill which the trace has."""
        names = " or ".join(f"(name == {self._id_or_null(name)})" for name in _LAUNCHES)
        return f"({names}) and (index_correlation > 0)"

    def encode_df(self, df: pd.DataFrame) -> None:
        """Replaces the texts in `cat` and `name` by ids (int64). A column that is missing or holds no texts is passed over.

        Raises:
            KeyError: a text is not a symbol of this table.
        """
        for column in ("cat", "name"):
            if not _has_texts(df, column):
                continue
            places, texts = pd.factorize(df[column], use_na_sentinel=False)
            missing = [text for text in texts if text not in self.sym_index]
            if missing:
                raise KeyError(f"{missing[0]!r} of column {column} is not a symbol of this table")
            df[column] = np.array([self.sym_index[text] for text in texts], dtype=np.int64).take(places)

    def decode_df(self, df: pd.DataFrame, create_new_columns: bool = True) -> None:
        """Adds the texts of the ids in `name` and `cat` as `s_name` and `s_cat`, or puts them in place of the ids.
        A column that is missing or holds no numbers is passed over.

        Raises:
            IndexError: an id is not of this table.
        """
        for column in ("name", "cat"):
            if _has_ids(df, column):
                df[f"s_{column}" if create_new_columns else column] = _decoded(df[column], self.sym_table)

    def add_symbols_to_trace_df(self, trace_df: pd.DataFrame, col: str) -> None:
        """Puts the symbols in place of a column's ids; "" where an id is not of this table.

        Raises:
            KeyError: there is no such column.
        """
        ids = pd.to_numeric(trace_df[col], errors="coerce").fillna(-1).to_numpy(dtype=np.int64)
        ids = np.where((ids < 0) | (ids >= len(self.sym_table)), len(self.sym_table), ids)
        trace_df[col] = _texts([*self.sym_table, ""]).take(ids)

    def update_encoded_df(self, df: pd.DataFrame, old_symbol_table: TraceSymbolTable) -> None:
        """Replaces the ids of another table in `cat` and `name` by this table's.

        Raises:
            KeyError: a symbol is not of this table.
            IndexError: an id is not of the other table.
        """
        ids = np.array([self.sym_index.get(symbol, -1) for symbol in old_symbol_table.sym_table], dtype=np.int64)
        for column in ("cat", "name"):
            old = _checked(df[column], len(ids))
            new = ids.take(old)
            if (new < 0).any():
                missing = old_symbol_table.sym_table[old[new < 0][0]]
                raise KeyError(f"{missing!r} of column {column} is not a symbol of this table")
            df[column] = new

    @staticmethod
    def combine_symbol_tables(tables: list[TraceSymbolTable]) -> TraceSymbolTable:
        """All of their symbols; those of the first table keep their ids."""
        combined = TraceSymbolTable()
        for table in tables:
            combined.add_symbols(table.sym_table)
        return combined

    @staticmethod
    def clone(symbol_table: TraceSymbolTable) -> TraceSymbolTable:
        """A copy."""
        return TraceSymbolTable.combine_symbol_tables([symbol_table])

    @staticmethod
    def create_from_df(df: pd.DataFrame) -> TraceSymbolTable:
        """The texts of `cat`, then of `name`, in the order of the rows.

        Raises:
            ValueError: one of the columns is not there or holds no texts.
        """
        if not (_has_texts(df, "cat") and _has_texts(df, "name")):
            raise ValueError("the frame needs columns cat and name that hold texts")
        table = TraceSymbolTable()
        table.add_symbols(df["cat"].unique())
        table.add_symbols(df["name"].unique())
        return table

    @staticmethod
    def create_from_symbol_id_map(symbol_id_map: dict[str, int]) -> TraceSymbolTable:
        """Symbols with ids that are known; an id N that is left out goes to a symbol "Undefined-N".

        Raises:
            ValueError: an id is negative.
        """
        if min(symbol_id_map.values(), default=0) < 0:
            raise ValueError("symbol ids are positions, and not negative")
        symbols = {place: symbol for symbol, place in symbol_id_map.items()}
        table = TraceSymbolTable()
        table.add_symbols(symbols.get(place, f"Undefined-{place}") for place in range(max(symbols, default=-1) + 1))
        return table

    @staticmethod
    def from_csv_file(file_path: str) -> TraceSymbolTable:
        """Reads a table from a file with a column `symbol`, in the order of the ids."""
        table = TraceSymbolTable()
        table.add_symbols(pd.read_csv(file_path, usecols=["symbol"], dtype=str, keep_default_na=False)["symbol"])
        return table

    def _to_csv_file(self, file_path: str) -> None:
        self.get_sym_table_series().rename("symbol").to_csv(file_path)

    def _id_or_null(self, symbol: str) -> int:
        return self.sym_index.get(symbol, self.NULL)


def decode_symbol_id_to_symbol_name(df: pd.DataFrame, symbol_table: TraceSymbolTable, use_shorten_name: bool) -> None:
    """Adds the texts of the ids in `name` and `cat` as `s_name` and `s_cat`. Columns without numbers are passed over.

    Args:
        use_shorten_name: names without arguments and template parameters.

    Raises:
        IndexError: an id is not of this table.
    """
    symbols = symbol_table.sym_table
    if _has_ids(df, "name"):
        df["s_name"] = _decoded(df["name"], [shorten_name(symbol) for symbol in symbols] if use_shorten_name else symbols)
    if _has_ids(df, "cat"):
        df["s_cat"] = _decoded(df["cat"], symbols)


def _has_ids(df: pd.DataFrame, column: str) -> bool:
    return column in df.columns and pd.api.types.is_numeric_dtype(df[column])


def _has_texts(df: pd.DataFrame, column: str) -> bool:
    return column in df.columns and pd.api.types.is_string_dtype(df[column])


def _texts(symbols: list[str]) -> pd.api.extensions.ExtensionArray | np.ndarray:
    """An array of the type that frames have texts in: `str` with pandas 3, `object` with pandas 2."""
    return pd.Series(symbols, dtype=None if symbols else object).array


def _decoded(ids: pd.Series, texts: list[str]) -> pd.api.extensions.ExtensionArray | np.ndarray:
    """The text of each id."""
    return _texts(texts).take(_checked(ids, len(texts)))


def _checked(ids: pd.Series, size: int) -> np.ndarray:
    """Them as int64.

    Raises:
        IndexError: one is not in 0 ... size - 1.
    """
    places = ids.to_numpy(dtype=np.int64)
    if len(places) and (places.min() < 0 or places.max() >= size):
        raise IndexError(f"column {ids.name} holds ids that are not of this symbol table, which has {size} symbols")
    return places
