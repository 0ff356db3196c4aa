"""Filters by where events are from one occurrence of an operator: in it, after it or before it."""

from __future__ import annotations

from enum import Enum

import pandas as pd

from spotter.hta.common.trace_df import find_op_occurrence
from spotter.hta.common.trace_filter import Filter, FirstIterationFilter
from spotter.hta.configs.config import logger
from spotter.hta.utils.utils import get_symbol_column_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spotter.hta.common.trace_symbol_table import TraceSymbolTable


class OperatorFilterMethod(Enum):
    """Where events are from an operator."""

    Under = 0
    After = 1
    Before = 2
    Ancestors = 3
    Stack = 4


class OperatorFilter(Filter):
    """Rows of an operator's stream that are in it (with itself), begin when it has ended, or have ended when it begins. Of a
    frame without such an operator no row passes; one without names (`Trace.decode_symbol_ids`) comes back as it is, with a
    warning.

    Raises, when it is called:
        NotImplementedError: the method is Ancestors or Stack.
    """

    def __init__(
        self,
        op_name: str,
        position: int,
        method: OperatorFilterMethod,
        include_gpu_kernels: bool = False,
        name_column: str | None = None,
    ) -> None:
        """Args:
            op_name: the whole name.
            position: which one, counted in order of `ts`: 0 the first, -1 the last.
            include_gpu_kernels: add the device work that these rows launched.
            name_column: where names are as texts; None: `s_name`, else `name`.
        """
        self.op_name = op_name
        self.position = position
        self.method = method
        self.include_gpu_kernels = include_gpu_kernels
        self.name_column = name_column or ""

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        if self.method not in _METHODS:
            raise NotImplementedError(
                f"there is no operator filter {self.method.name}; spotter.call_tree(path) has each event's parent and "
                "depth, and CallGraph.get_stack_of_node its whole stack"
            )
        name_column = self.name_column or get_symbol_column_names(df)[0]
        if name_column not in df.columns:
            logger.warning("not filtered by %s: the frame has no names, see Trace.decode_symbol_ids", self.op_name)
            return df
        is_found, operator = find_op_occurrence(df, self.op_name, self.position, name_column)
        if not is_found:
            logger.warning("there is no occurrence %s of %s", self.position, self.op_name)
            return df.iloc[:0]
        rows = _METHODS[self.method](df[df["stream"] == operator["stream"]], operator)
        return pd.concat([rows, _launched_by(rows, df)]) if self.include_gpu_kernels else rows


class UnderOperatorFilter(OperatorFilter):
    """Rows within one occurrence of an operator. Arguments as of `OperatorFilter`."""

    def __init__(
        self, op_name: str, position: int, include_gpu_kernels: bool = False, name_column: str | None = None
    ) -> None:
        super().__init__(op_name, position, OperatorFilterMethod.Under, include_gpu_kernels, name_column)


class AfterOperatorFilter(OperatorFilter):
    """Rows after one occurrence of an operator. Arguments as of `OperatorFilter`."""

    def __init__(
        self, op_name: str, position: int, include_gpu_kernels: bool = False, name_column: str | None = None
    ) -> None:
        super().__init__(op_name, position, OperatorFilterMethod.After, include_gpu_kernels, name_column)


class BeforeOperatorFilter(OperatorFilter):
    """Rows before one occurrence of an operator. Arguments as of `OperatorFilter`."""

    def __init__(
        self, op_name: str, position: int, include_gpu_kernels: bool = False, name_column: str | None = None
    ) -> None:
        super().__init__(op_name, position, OperatorFilterMethod.Before, include_gpu_kernels, name_column)


class CombinedOperatorFilter(Filter):
    """Rows of the first profiler step within an operator, after the last occurrence in it of a second one, and before the
    first occurrence after that of a third one. Operators that are not there, or are "", set no limit."""

    def __init__(
        self,
        root_op_name: str,
        preceding_op_name: str,
        following_op_name: str,
        include_gpu_kernels: bool = False,
        stack_depths: list[int] | None = None,
    ) -> None:
        """Args:
            include_gpu_kernels: the device work that these rows launched comes first.
            stack_depths: of the rows on the host only those with these depths, which a `CallGraph` puts into the frame.
        """
        self.root_op_name = root_op_name
        self.preceding_op_name = preceding_op_name
        self.following_op_name = following_op_name
        self.include_gpu_kernels = include_gpu_kernels
        self.stack_depths = stack_depths or []

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        step = FirstIterationFilter()(df, symbol_table)
        rows = step
        for limit in (
            UnderOperatorFilter(self.root_op_name, 0),
            AfterOperatorFilter(self.preceding_op_name, -1),
            BeforeOperatorFilter(self.following_op_name, 0),
        ):
            if find_op_occurrence(rows, limit.op_name, limit.position, get_symbol_column_names(rows)[0])[0]:
                rows = limit(rows, symbol_table)
        rows = rows[rows["stream"] < 0]
        kernels = _launched_by(rows, step)
        if self.stack_depths:
            if "depth" in rows.columns:
                rows = rows[rows["depth"].isin(self.stack_depths)]
            else:
                logger.warning("not filtered by depth: the frame has no depths; making a CallGraph adds them")
        return pd.concat([kernels, rows]) if self.include_gpu_kernels else rows


def get_matching_kernels(df_ops: pd.DataFrame, df_both: pd.DataFrame, cat_column: str) -> pd.DataFrame:
    """The rows of device work in `df_both` that calls in `df_ops` launched, whatever the calls' categories are."""
    return _launched_by(df_ops, df_both)


def _launched_by(rows: pd.DataFrame, df: pd.DataFrame) -> pd.DataFrame:
    return df[(df["stream"] >= 0) & (df["index_correlation"] > 0) & df["index_correlation"].isin(rows["index"])]


def _end(row: pd.DataFrame | pd.Series) -> pd.Series:
    return row["ts"] + row["dur"]


_METHODS = {
    OperatorFilterMethod.Under: lambda rows, op: rows[(rows["ts"] >= op["ts"]) & (_end(rows) <= _end(op))],
    OperatorFilterMethod.After: lambda rows, op: rows[rows["ts"] >= _end(op)],
    OperatorFilterMethod.Before: lambda rows, op: rows[_end(rows) <= op["ts"]],
}
