"""`TraceAnalysis`: the analyses of a job's traces as HTA has them."""

from __future__ import annotations

import os
from enum import Flag
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple, Union

import pandas as pd

from spotter.hta.analyzers.breakdown_analysis import BreakdownAnalysis
from spotter.hta.analyzers.communication_analysis import CommunicationAnalysis
from spotter.hta.analyzers.cuda_kernel_analysis import CudaKernelAnalysis
from spotter.hta.analyzers.straggler import find_stragglers_with_late_start_comm_kernels
from spotter.hta.analyzers.straggler_analysis import StragglerAnalysis
from spotter.hta.analyzers.trace_counters import TraceCounters
from spotter.hta._spellings import accepts
from spotter.hta.common.constants import CUDA_MAX_LAUNCH_QUEUE_PER_STREAM
from spotter.hta.common.trace import Trace
from spotter.hta.configs.config import logger
from spotter.hta.configs.default_values import DEFAULT_TRACE_DIR

if TYPE_CHECKING:
    from spotter.hta.analyzers.critical_path_analysis import CPGraph


class TimeSeriesTypes(Flag):
    QUEUE_LENGTH = 1
    MEMCPY_BANDWIDTH = 2


class TraceAnalysis:
    """The traces of a job, and HTA's questions to them. Files are read when a question needs them; numbers are those of `compat="hta"`.

    `t` is the `Trace`; scripts may change its frames, as described there. `ranks=None` is rank 0, but where a method has no
    parameter `ranks`: then it is of all.

    Args:
        trace_files: paths by rank; None: those of `trace_dir`.
        trace_dir: a folder of traces, or what the paths are relative to.
        include_last_profiler_step: False leaves out the last step of a rank that has two or more, which often is not whole.

    Raises:
        ValueError: there are no traces there, or one cannot be read.
    """

    def __init__(
        self,
        trace_files: Optional[Dict[int, str]] = None,
        trace_dir: str = DEFAULT_TRACE_DIR,
        include_last_profiler_step: Optional[bool] = False,
    ) -> None:
        self.t = Trace(trace_files, trace_dir)
        self.t.load_traces(include_last_profiler_step=include_last_profiler_step)

    def get_temporal_breakdown(self, visualize: bool = True) -> pd.DataFrame:
        return BreakdownAnalysis.get_temporal_breakdown(self.t, visualize)

    def get_comm_comp_overlap(self, visualize: bool = True) -> pd.DataFrame:
        return CommunicationAnalysis.get_comm_comp_overlap(self.t, visualize)

    def get_gpu_kernel_breakdown(
        self,
        visualize: bool = True,
        duration_ratio: float = 0.8,
        num_kernels: int = 10,
        include_memory_kernels: bool = True,
        image_renderer: str = "",
    ) -> Tuple[pd.DataFrame, pd.DataFrame]:
        return BreakdownAnalysis.get_gpu_kernel_breakdown(
            self.t, visualize, duration_ratio, num_kernels, include_memory_kernels, image_renderer
        )

    def get_gpu_user_annotation_breakdown(
        self,
        use_gpu_annotation: bool = True,
        visualize: bool = True,
        duration_ratio: float = 0.8,
        num_kernels: int = 1000,
        allowlist_patterns: Optional[List[str]] = None,
        image_renderer: Optional[str] = None,
    ) -> Optional[pd.DataFrame]:
        return BreakdownAnalysis.get_gpu_user_annotation_breakdown(
            self.t, use_gpu_annotation, visualize, duration_ratio, num_kernels, allowlist_patterns, image_renderer
        )

    @accepts(shorten_names="shortern_names")
    def get_gpu_kernels_with_user_annotations(
        self, rank: int, expand_names: bool = True, shortern_names: bool = True
    ) -> Optional[pd.DataFrame]:
        return BreakdownAnalysis.get_gpu_kernels_with_user_annotations(self.t, rank, expand_names, shortern_names)

    def get_idle_time_breakdown(
        self,
        ranks: Optional[List[int]] = None,
        streams: Optional[List[int]] = None,
        visualize: bool = True,
        visualize_pctg: bool = True,
        show_idle_interval_stats: bool = False,
        consecutive_kernel_delay: int = 30,
    ) -> Tuple[pd.DataFrame, Optional[pd.DataFrame]]:
        """The ranks' frames, one below the other."""
        parts = [
            BreakdownAnalysis.get_idle_time_breakdown(
                self.t, consecutive_kernel_delay, rank, streams, visualize, visualize_pctg, show_idle_interval_stats
            )
            for rank in self.t.chosen(ranks)
        ]
        statistics = [part for _, part in parts if part is not None]
        return pd.concat([times for times, _ in parts]), pd.concat(statistics) if statistics else None

    def get_cuda_kernel_launch_stats(
        self,
        ranks: Optional[List[int]] = None,
        runtime_cutoff: int = 50,
        launch_delay_cutoff: int = 100,
        include_memory_events: bool = True,
        visualize: bool = True,
    ) -> Dict[int, pd.DataFrame]:
        return CudaKernelAnalysis.cuda_kernel_launch_stats(
            self.t, ranks, runtime_cutoff, launch_delay_cutoff, include_memory_events, visualize
        )

    def get_aten_op_kernels_and_delay(
        self, ranks: Optional[List[int]] = None, sort_by: Optional[List[str]] = None
    ) -> Dict[int, pd.DataFrame]:
        return CudaKernelAnalysis.get_aten_op_kernels_and_delay(self.t, ranks, sort_by)

    def get_frequent_cuda_kernel_sequences(
        self,
        operator_name: str,
        output_dir: str,
        min_pattern_len: int = 3,
        rank: int = 0,
        top_k: int = 5,
        visualize: bool = False,
        compress_other_kernels: bool = True,
    ) -> pd.DataFrame:
        return CudaKernelAnalysis.get_frequent_cuda_kernel_sequences(
            self.t, operator_name, output_dir, min_pattern_len, rank, top_k, visualize, compress_other_kernels
        )

    def get_queue_length_time_series(self, ranks: Optional[List[int]] = None) -> Dict[int, pd.DataFrame]:
        return TraceCounters.get_queue_length_time_series(self.t, ranks)

    def get_queue_length_summary(self, ranks: Optional[List[int]] = None) -> Optional[pd.DataFrame]:
        return TraceCounters.get_queue_length_summary(self.t, ranks)

    def get_queue_length_summary_from_time_series(
        self, queue_length_dict: Dict[int, pd.DataFrame]
    ) -> Optional[pd.DataFrame]:
        return TraceCounters.get_queue_length_summary_from_time_series(queue_length_dict)

    def get_time_spent_blocked_on_full_queue(
        self, queue_length_dict: Dict[int, pd.DataFrame], max_queue_length: int = CUDA_MAX_LAUNCH_QUEUE_PER_STREAM
    ) -> Optional[pd.DataFrame]:
        return TraceCounters.get_time_spent_blocked_on_full_queue(self.t, queue_length_dict, max_queue_length)

    def get_memory_bw_time_series(self, ranks: Optional[List[int]] = None) -> Dict[int, pd.DataFrame]:
        return TraceCounters.get_memory_bw_time_series(self.t, ranks)

    def get_memory_bw_summary(self, ranks: Optional[List[int]] = None) -> Optional[pd.DataFrame]:
        return TraceCounters.get_memory_bw_summary(self.t, ranks)

    def generate_trace_with_counters(
        self,
        time_series: Optional[TimeSeriesTypes] = None,
        ranks: Optional[List[int]] = None,
        output_suffix: str = "_with_counters",
    ) -> None:
        """Writes the ranks' traces with counter events, compressed, beside their files: `.json` in the name becomes `SUFFIX.json`. None:
        both kinds of counters. A folder that has such a file has two of the rank. `spotter.export()` draws the same curves, and more.

        Raises:
            ValueError: the name would be that of a trace.
        """
        wanted = TimeSeriesTypes.QUEUE_LENGTH | TimeSeriesTypes.MEMCPY_BANDWIDTH if time_series is None else time_series
        for rank in self.t.chosen(ranks):
            path = self._beside(rank, output_suffix or "_with_counters")
            events: List[Dict[str, Any]] = []
            if TimeSeriesTypes.QUEUE_LENGTH in wanted:
                for queues in self.get_queue_length_time_series([rank]).values():
                    counters = self.t.convert_time_series_to_events(queues, "Queue Length", "queue_length")
                    events += [{**counter, "id": stream} for counter, stream in zip(counters, queues["stream"].tolist())]
            if TimeSeriesTypes.MEMCPY_BANDWIDTH in wanted:
                for bandwidths in self.get_memory_bw_time_series([rank]).values():
                    events += self.t.convert_time_series_to_events(bandwidths, "Memcpy BW", "memory_bw_gbps")
            if not events:
                logger.warning("rank %d has no launches and no copies of which there could be counters", rank)
                continue
            contents = self.t.get_raw_trace_for_one_rank(rank)
            contents["traceEvents"].extend(events)
            self.t.write_raw_trace(path, contents)

    def _beside(self, rank: int, suffix: str) -> str:
        folder, name = os.path.split(self.t.trace_files[rank])
        begin = name.find(".json") if ".json" in name else name.rfind(".")
        path = os.path.join(folder, name[:begin] + suffix + name[begin:])
        if any(os.path.exists(path) and os.path.samefile(path, file) for file in self.t.trace_files.values()):
            raise ValueError(f"output_suffix={suffix!r}: {path} is one of the traces; choose another suffix")
        return path

    def get_profiler_steps(self) -> List[int]:
        return StragglerAnalysis.get_profiler_steps(self.t)

    def get_potential_stragglers(
        self,
        profiler_steps: Optional[List[int]] = None,
        num_candidates: int = 2,
        visualize: bool = False,
        straggler_identification_impl: Callable[..., pd.Series] = find_stragglers_with_late_start_comm_kernels,
    ) -> List[int]:
        return StragglerAnalysis.get_potential_stragglers(
            self.t, profiler_steps, num_candidates, visualize, straggler_identification_impl
        )

    def get_cupti_counter_data_with_operators(self, ranks: Optional[List[int]] = None) -> List[pd.DataFrame]:
        """Per rank a frame of the kernels of which hardware counters were taken, with the operators that launched them: see
        `CuptiCounterAnalysis.get_counter_data_with_operators`."""
        from spotter.hta.analyzers.cupti_counter_analysis import CuptiCounterAnalysis

        return CuptiCounterAnalysis.get_counter_data_with_operators(self.t, ranks)

    @accepts(data_load_events=None)
    def critical_path_analysis(
        self, rank: int, annotation: str, instance_id: Union[int, None, Tuple[int, int]]
    ) -> Tuple[CPGraph, bool]:
        """The critical path of the given instance (its number, the first and last of several, or None: the first) of an annotation, and
        whether there is one. `spotter.critical_path` is of every step, with the definition of docs/hta.md (B26, B44)."""
        from spotter.hta.analyzers.critical_path_analysis import CriticalPathAnalysis

        return CriticalPathAnalysis.critical_path_analysis(self.t, rank, annotation, instance_id)

    def overlay_critical_path_analysis(
        self,
        rank: int,
        critical_path_graph: CPGraph,
        output_dir: str,
        only_show_critical_events: bool = True,
        show_all_edges: bool = False,
    ) -> str:
        """Writes the rank's trace with the critical path marked and drawn as arrows; its path."""
        from spotter.hta.analyzers.critical_path_analysis import CriticalPathAnalysis

        return CriticalPathAnalysis.overlay_critical_path_analysis(
            self.t, rank, critical_path_graph, output_dir, only_show_critical_events, show_all_edges
        )


def _document() -> None:
    """What only hands its question on says what that says."""
    for name, method in vars(TraceAnalysis).items():
        for analyzer in (BreakdownAnalysis, CommunicationAnalysis, CudaKernelAnalysis, TraceCounters, StragglerAnalysis):
            answering = getattr(analyzer, name, None) or getattr(analyzer, name.removeprefix("get_"), None)
            if answering is not None and not name.startswith("_") and not method.__doc__:
                method.__doc__ = answering.__doc__


_document()
