"""Hardware counters of kernels (CUPTI's range profiler), with the operators that launched the kernels."""

from __future__ import annotations

import numpy as np
import pandas as pd

from spotter.hta.common.trace_call_graph import CallGraph
from spotter.hta.configs.config import logger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spotter.hta._span_tree import SpanTree
    from spotter.hta.common.trace import Trace

_COUNTER = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"

CUDA_SASS_INSTRUCTION_COUNTER_FLOPS: dict[str, int] = {
    _COUNTER.format(operation): flops
    for operation, flops in [
        ("ffma", 2), ("fmul", 1), ("fadd", 1), ("hfma", 2), ("hmul", 1), ("hadd", 1), ("dfma", 2), ("dmul", 1), ("dadd", 1),
    ]
}  # fmt: skip
"""How many floating point operations one instruction of each counter is."""

_LAUNCHES = {"cuda_runtime": "cudaLaunch", "cuda_driver": "cuLaunch"}


class CuptiCounterAnalysis:
    """The analysis of `TraceAnalysis.get_cupti_counter_data_with_operators`, of a `Trace`."""

    cuda_profiler_cat: str = "cuda_profiler_range"

    @classmethod
    def get_counter_data_with_operators(cls, t: Trace, ranks: list[int] | None = None) -> list[pd.DataFrame]:
        """Per rank that has counters a frame with a row for each kernel, in order of time: the columns of the trace's frame,
        with `name` and `cat` as texts and a column for each counter, `index_runtime` (the event id of its launch),
        `op_stack` (names of the operators around that, the outermost first), `top_level_op` and `bottom_level_op` (the first
        and last of these).

        The profiler runs kernels one by one, so that kernels and launches belong together by their order; ranks that have
        not as many of one as of the other are left out, with an error in the log. `spotter.cupti_counters` has a row for
        each kernel and counter.

        Args:
            ranks: None: 0, or the first if there is no rank 0.
        """
        chosen = t.chosen(ranks)
        if not any(cls.cuda_profiler_cat in t.symbols_of(rank).get_sym_id_map() for rank in chosen):
            logger.warning("no events of category %s: CUPTI's range profiler did not run", cls.cuda_profiler_cat)
            return []
        graph = CallGraph(t, ranks=chosen)
        frames = [cls._of_rank(t, rank, graph) for rank in graph.ranks]
        return [frame for frame in frames if frame is not None]

    @classmethod
    def _of_rank(cls, t: Trace, rank: int, graph: CallGraph) -> pd.DataFrame | None:
        df, symbols = t.get_trace(rank), t.symbols_of(rank)
        ids, texts = symbols.get_sym_id_map(), np.array(symbols.get_sym_table(), dtype=object)
        counters = df[df["cat"] == ids[cls.cuda_profiler_cat]].sort_values("ts", kind="stable").reset_index(drop=True)
        launches = df[_is_launch(df, texts)].sort_values("ts", kind="stable")["index"].to_numpy()
        if len(counters) != len(launches):
            logger.error("rank %s has counters of %s kernels, but %s launches", rank, len(counters), len(launches))
            return None
        stacks = _operators_around(launches, graph._trees[rank], df, texts, ids.get("cpu_op"))
        counters = counters.drop(columns=["s_name", "s_cat"], errors="ignore")
        for column in ("cat", "name"):
            counters[column] = texts[counters[column].to_numpy()].tolist()
        counters["index_runtime"] = launches
        counters["op_stack"] = pd.Series(stacks, dtype=object)
        counters["top_level_op"] = [stack[0] if stack else None for stack in stacks]
        counters["bottom_level_op"] = [stack[-1] if stack else None for stack in stacks]
        return counters


def _is_launch(df: pd.DataFrame, texts: np.ndarray) -> np.ndarray:
    categories, names = df["cat"].to_numpy(), df["name"].to_numpy()
    is_launch = np.zeros(len(df), dtype=bool)
    for category, beginning in _LAUNCHES.items():
        is_launch |= _begins(texts, category)[categories] & _begins(texts, beginning)[names]
    return is_launch


def _begins(texts: np.ndarray, beginning: str) -> np.ndarray:
    return np.array([text.startswith(beginning) for text in texts], dtype=bool)


def _operators_around(
    events: np.ndarray, tree: SpanTree, df: pd.DataFrame, texts: np.ndarray, operator: int | None
) -> list[list[str]]:
    """Of each event the names of the operators that it lies in, the outermost first."""
    categories, names = df["cat"].to_numpy(), df["name"].to_numpy()
    stacks = []
    for event in events.tolist():
        row = tree.row_of(event)
        around = np.array([] if row is None else tree.above(row)[::-1], dtype=np.int64)
        places = tree.places[around]
        stacks.append(texts[names[places[categories[places] == operator]]].tolist())
    return stacks
