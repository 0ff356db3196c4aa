"""What HTA's calls answer, told so that two packages can be held against each other: types, index, columns, kinds of dtypes, and of
each column a digest. Runs with HTA itself (tools/hta_record.py) and with spotter.hta in its place."""

import hashlib
import os
import tempfile


def _kind(dtype):
    """Widths follow the data, and texts the version of pandas."""
    return {"i": "integer", "u": "integer", "f": "real", "b": "flag"}.get(dtype.kind, "text")


def _digest(values):
    """Of numbers how many there are, and their sum; else of the different ones."""
    if _kind(values.dtype) in ("integer", "real"):
        return f"{int(values.notna().sum())} {float(values.sum()):.9g}"
    return hashlib.sha1("\n".join(sorted({str(value) for value in values})).encode()).hexdigest()[:8]


def described(value):
    import pandas

    if isinstance(value, pandas.DataFrame):
        index = value.index
        kinds = [_kind(level.dtype) for level in index.levels] if isinstance(index, pandas.MultiIndex) else [_kind(index.dtype)]
        return {
            "type": "DataFrame",
            "index": [[str(name) for name in index.names], kinds],
            "columns": [[str(name), _kind(dtype)] for name, dtype in zip(value.columns, value.dtypes)],
            "rows": len(value),
            "digests": [_digest(value.iloc[:, place]) for place in range(value.shape[1])],
        }
    if isinstance(value, dict):
        return {"type": "dict", "of": {str(key): described(item) for key, item in value.items()}}
    if isinstance(value, (tuple, list)):
        return {"type": type(value).__name__, "of": {str(place): described(item) for place, item in enumerate(value)}}
    return {"type": "number" if hasattr(value, "item") else type(value).__name__, "is": str(value)}


def _decoded(frame, symbols):
    """Numbers of symbols differ from run to run."""
    table = symbols.get_sym_table()
    return frame.assign(cat=[table[number] for number in frame["cat"]], name=[table[number] for number in frame["name"]])


def _without_numbers(frame):
    return None if frame is None else frame.drop(columns=["name", "cat", "user_annotation"])


def calls(path):
    """By name."""
    from hta.common.trace import Trace
    from hta.trace_analysis import TraceAnalysis

    files = {"trace_dir": path} if os.path.isdir(path) else {"trace_files": {0: path}, "trace_dir": ""}
    t = TraceAnalysis(**files)
    rank = min(t.t.traces)
    quiet = {"visualize": False}

    def parsed():
        trace = Trace(**files)
        trace.parse_traces(use_multiprocessing=False)
        return _decoded(trace.get_trace(rank), trace.symbol_table)

    series = lambda: t.get_queue_length_time_series(ranks=[rank])  # noqa: E731
    return {
        "parsed frame": parsed,
        "frame": lambda: _decoded(t.t.get_trace(rank), t.t.symbol_table),
        "facts": lambda: (t.t.get_ranks(), t.t.get_iterations(rank), t.t.get_trace_duration(rank), t.t.min_ts, sorted(t.t.meta_data)),
        "temporal_breakdown": lambda: t.get_temporal_breakdown(**quiet),
        "comm_comp_overlap": lambda: t.get_comm_comp_overlap(**quiet),
        "gpu_kernel_breakdown": lambda: t.get_gpu_kernel_breakdown(**quiet),
        "gpu_kernel_breakdown, all": lambda: t.get_gpu_kernel_breakdown(**quiet, num_kernels=10**6),
        "gpu_kernel_breakdown, no memory": lambda: t.get_gpu_kernel_breakdown(
            **quiet, num_kernels=3, duration_ratio=0.5, include_memory_kernels=False
        ),
        "gpu_user_annotation_breakdown": lambda: t.get_gpu_user_annotation_breakdown(**quiet),
        "gpu_user_annotation_breakdown, host": lambda: t.get_gpu_user_annotation_breakdown(use_gpu_annotation=False, **quiet),
        "gpu_user_annotation_breakdown, 3": lambda: t.get_gpu_user_annotation_breakdown(
            use_gpu_annotation=False, **quiet, num_kernels=3, allowlist_patterns=["Optim"]
        ),
        "idle_time_breakdown": lambda: t.get_idle_time_breakdown(ranks=[rank], show_idle_interval_stats=True, **quiet),
        "idle_time_breakdown, shown": lambda: t.get_idle_time_breakdown(ranks=[rank], visualize_pctg=False),
        "cuda_kernel_launch_stats": lambda: t.get_cuda_kernel_launch_stats(ranks=[rank], **quiet),
        "cuda_kernel_launch_stats, no memory": lambda: t.get_cuda_kernel_launch_stats(ranks=[rank], include_memory_events=False, **quiet),
        "aten_op_kernels_and_delay": lambda: t.get_aten_op_kernels_and_delay(ranks=[rank]),
        "queue_length_time_series": series,
        "queue_length_summary": lambda: t.get_queue_length_summary(ranks=[rank]),
        "queue_length_summary_from_time_series": lambda: t.get_queue_length_summary_from_time_series(series()),
        "time_spent_blocked_on_full_queue": lambda: t.get_time_spent_blocked_on_full_queue(series(), 2),
        "memory_bw_time_series": lambda: t.get_memory_bw_time_series(ranks=[rank]),
        "memory_bw_summary": lambda: t.get_memory_bw_summary(ranks=[rank]),
        "profiler_steps": t.get_profiler_steps,
        "potential_stragglers": lambda: t.get_potential_stragglers(num_candidates=1),
        "cupti_counter_data_with_operators": lambda: TraceAnalysis(**files).get_cupti_counter_data_with_operators(ranks=[rank]),
        "frequent_cuda_kernel_sequences": lambda: t.get_frequent_cuda_kernel_sequences("aten::", tempfile.mkdtemp(), rank=rank, min_pattern_len=2),
        # Of frames to which the others have added no columns.
        "gpu_kernels_with_user_annotations": lambda: _without_numbers(TraceAnalysis(**files).get_gpu_kernels_with_user_annotations(rank)),
    }  # fmt: skip


def answers(path):
    """What each call gives, or which exception it raises."""
    try:
        plotted = __import__("plotly.graph_objects").graph_objects.Figure
        plotted.show = lambda *args, **kwargs: None
    except ImportError:
        pass
    found = {}
    for name, call in calls(path).items():
        try:
            found[name] = described(call())
        except Exception as error:  # noqa: BLE001
            found[name] = {"raises": type(error).__name__}
    return found
