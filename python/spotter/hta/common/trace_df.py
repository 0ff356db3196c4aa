"""Look-ups in a trace's frame."""

from __future__ import annotations

import numpy as np
import pandas as pd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spotter.hta.common.trace_symbol_table import TraceSymbolTable


def get_iterations(df: pd.DataFrame) -> list[int]:
    """The numbers of the profiler's steps in the column `iteration`, ascending; -1 stands for none.

    Raises:
        TypeError: there is no such column, or it is not of numbers.
    """
    if "iteration" not in df.columns:
        raise TypeError("the frame has no column iteration")
    if not pd.api.types.is_numeric_dtype(df["iteration"]):
        raise TypeError(f"the column iteration is {df['iteration'].dtype}, and has to be of numbers")
    return [number for number in np.unique(df["iteration"].dropna().to_numpy()) if number != -1]


def find_op_occurrence(df: pd.DataFrame, op_name: str, position: int, name_column: str = "s_name") -> tuple[bool, pd.Series]:
    """One of the events of exactly this name, counted in order of `ts`: 0 the first, -1 the last.

    Returns:
        Whether there is one, and its row; an empty series if not.
    """
    if name_column in df.columns:
        events = df[df[name_column].eq(op_name)].sort_values("ts", kind="stable")
        if -len(events) <= position < len(events):
            return True, events.iloc[position]
    return False, pd.Series(dtype=object)


def find_events_by_name_patterns_using_symbol_table(
    df: pd.DataFrame, list_name_patterns: list[str], symbol_table: TraceSymbolTable
) -> pd.Series:
    """The event ids (column `index`) of the rows whose name begins as one of the regular expressions says. The column `name`
    holds symbol ids."""
    symbols = pd.Series(symbol_table.sym_table, dtype=object)
    return df.loc[df["name"].isin(_matching(symbols, list_name_patterns).index), "index"]


def find_events_by_name_patterns_using_decoded_names(
    df: pd.DataFrame, list_name_patterns: list[str], name_column: str = "s_name"
) -> pd.Series:
    """The same, where a column holds the names as texts."""
    names = pd.Series(df[name_column].unique(), dtype=object)
    return df.loc[df[name_column].isin(_matching(names, list_name_patterns)), "index"]


def _matching(names: pd.Series, patterns: list[str]) -> pd.Series:
    if not patterns or names.empty:
        return names.iloc[:0]
    return names[names.str.match("|".join(f"(?:{pattern})" for pattern in patterns), na=False)]
