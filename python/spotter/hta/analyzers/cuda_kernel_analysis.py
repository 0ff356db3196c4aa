"""Launches, and the kernels that operators launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Optional

import numpy
import pandas as pd

from spotter.hta import _figures
from spotter.hta._answers import LISTS_ALL, Answers, correlation_type, text_column
from spotter.hta._sequences import Sequences
from spotter.hta.configs.config import logger
from spotter.hta.utils.checker import is_valid_directory

if TYPE_CHECKING:
    from spotter.hta.common.trace import Trace

_MEMORY_CALL = "Memcpy|Memset"


class CudaKernelAnalysis:
    """The analyses of `TraceAnalysis` of the same names, of a `Trace`."""

    @classmethod
    def cuda_kernel_launch_stats(
        cls,
        t: Trace,
        ranks: Optional[List[int]] = None,
        runtime_cutoff: int = 50,
        launch_delay_cutoff: int = 100,
        include_memory_events: bool = True,
        visualize: bool = True,
    ) -> Dict[int, pd.DataFrame]:
        """By rank a row for each launch, in the order of the calls: `correlation`, `cpu_duration`, `gpu_duration` and `launch_delay` (from the
        end of the call to the start of the work, not below 0) in us. The cutoffs are of the histograms. By `spotter.kernel_launches`."""
        answers = Answers(t, t.chosen(ranks), ["kernel_launches"])
        result = {rank: _launches(t, answers, rank, include_memory_events) for rank in answers.ranks}
        for rank, frame in result.items() if visualize else ():
            cls.visualize_cuda_launch_kernel_info(rank, frame, runtime_cutoff, launch_delay_cutoff)
        return result

    @classmethod
    def visualize_cuda_launch_kernel_info(
        cls, rank: int, df: pd.DataFrame, runtime_cutoff: int, launch_delay_cutoff: int
    ) -> None:
        """Histograms of short kernels, of slow calls and of long delays."""
        _figures.kernel_launches(df, rank, runtime_cutoff, launch_delay_cutoff)

    @classmethod
    def get_aten_op_kernels_and_delay(
        cls, trace: Trace, ranks: Optional[List[int]] = None, sort_by: Optional[List[str]] = None
    ) -> Dict[int, pd.DataFrame]:
        """By rank a row for each ATen operator and sequence of kernels that it launches: `aten_op_name`, `kernel_sequence` (joined by
        " -> "), `occurrence_count`, `avg_aten_op_launch_delay` (from the operator to its first launch) and `avg_runtime_delay` (from that
        launch to its kernel) in us; the largest first by `sort_by`. By `spotter.operator_kernels`."""
        answers = Answers(trace, trace.chosen(ranks), ["operator_kernels"], top=LISTS_ALL)
        result = {}
        for rank in answers.ranks:
            rows = answers.of_rank("operator_kernels", rank)
            rows = rows[rows["operator"].astype(str).str.startswith("aten::")]
            frame = pd.DataFrame(
                {
                    "aten_op_name": text_column(rows["operator"].to_numpy()),
                    "kernel_sequence": text_column(rows["kernels"].to_numpy()),
                    "occurrence_count": rows["calls"].to_numpy(),
                    "avg_aten_op_launch_delay": (rows["mean_operator_delay_ns"].astype(float) / 1000).round(3).to_numpy(),
                    "avg_runtime_delay": (rows["mean_call_to_start_ns"].astype(float) / 1000).round(3).to_numpy(),
                }
            )
            frame = frame.sort_values(["aten_op_name", "kernel_sequence"], ignore_index=True)
            by = sort_by or ["occurrence_count"]
            if not set(by) <= set(frame.columns):
                raise ValueError(f"sort_by={sort_by}: there are the columns {', '.join(frame.columns)}")
            result[rank] = frame.sort_values(by, ascending=False, kind="stable")
            cls.visualize_aten_op_kernels_and_overhead(rank, result[rank])
        return result

    @classmethod
    def visualize_aten_op_kernels_and_overhead(cls, rank: int, df: pd.DataFrame) -> None:
        _figures.operator_kernels(df, rank)

    @classmethod
    def get_frequent_cuda_kernel_sequences(
        cls,
        t: Trace,
        operator_name: str,
        output_dir: str,
        min_pattern_len: int = 3,
        rank: int = 0,
        top_k: int = 5,
        visualize: bool = True,
        compress_other_kernels: bool = True,
    ) -> pd.DataFrame:
        """What the operators whose name contains `operator_name`, at the smallest depth at which such ones launch at least
        `min_pattern_len` pieces of device work, launch: `pattern` (the operator and its device work, joined by "|"), `count`, and the
        sums `GPU kernel duration (us)` and `CPU op duration (us)`. Writes the trace into `output_dir` with the `top_k` patterns marked;
        `compress_other_kernels`: the names and arguments of all else are left out. `spotter.frequent_kernel_sequences` also finds
        sequences without naming an operator, and what fusing them would save."""
        outcome = is_valid_directory(output_dir, must_be_writable=True)
        if not operator_name or not outcome.success:
            logger.error(outcome.reason if operator_name else "the name of an operator is wanted")
            return pd.DataFrame()
        sequences = Sequences(t, rank, operator_name, min_pattern_len)
        table = sequences.table()
        sequences.write(table, output_dir, top_k, compress_other_kernels)
        if visualize and len(table):
            sequences.show(table, top_k)
        return table


def _launches(t: Trace, answers: Answers, rank: int, with_memory: bool) -> pd.DataFrame:
    rows, facts = answers.of_rank("kernel_launches", rank), answers.facts[rank]
    if not with_memory:
        rows = rows[~rows["api"].astype(str).str.contains(_MEMORY_CALL)]
    frame = t.get_trace(rank)
    calls = frame["correlation"][(frame["stream"] < 0) & (frame["correlation"] >= 0)].drop_duplicates(keep="last")
    order = pd.Series(numpy.arange(len(calls)), index=calls.to_numpy()).reindex(rows["correlation"]).to_numpy()
    rows = rows.iloc[numpy.argsort(order, kind="stable")].reset_index(drop=True)
    return pd.DataFrame(
        {
            "correlation": rows["correlation"].astype(correlation_type(facts)),
            "cpu_duration": answers.microseconds(rows["host_ns"], rank, numpy.int32),
            "gpu_duration": answers.microseconds(rows["device_ns"], rank, numpy.int32),
            "launch_delay": answers.microseconds(rows["launch_delay_ns"], rank),
        }
    )
