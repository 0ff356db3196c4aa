"""The exact reference results (shared/golden/exact) and the traces they are of."""

import json

import harness

# Folder or file below traces/ of each reference. A folder holds exactly one trace.
TRACES = {
    "amd_trace": "hta/amd_trace",
    "call_stack": "hta/call_stack",
    "cpu_only": "hta/cpu_only",
    "critical_path_alexnet": "hta/critical_path/alexnet",
    "critical_path_cuda_event_sync": "hta/critical_path/cuda_event_sync",
    "critical_path_cuda_event_sync_multi_stream": "hta/critical_path/cuda_event_sync_multi_stream",
    "critical_path_simple_add": "hta/critical_path/end_to_end/simple_add/input",
    "critical_path_simple_add_overlaid": "hta/critical_path/end_to_end/simple_add/output",
    "cupti_profiler": "hta/cupti_profiler",
    "df_index_resolver": "hta/df_index_resolver",
    "distributed_info_unavailable": "hta/distributed_info_unavailable",
    "execution_trace": "hta/execution_trace/benchmark_simple_add_trace.json.gz",
    "mtia_inference_trace": "hta/mtia_inference_trace",
    "nccl_parser_config": "hta/nccl_parser_config",
    "negative_queue_length_values_check": "hta/negative_queue_length_values_check",
    "rank_non_gpu": "hta/rank_non_gpu",
    "rank_unavailable": "hta/rank_unavailable",
    "trace_compare_base": "hta/trace_compare/base",
    "trace_compare_test": "hta/trace_compare/test",
    "trace_diff_control": "hta/trace_diff/control",
    "trace_diff_test": "hta/trace_diff/test",
    "trace_file_list": "hta/trace_file_list",
    "trace_filter": ("hta/trace_filter/sampled_rank-0.json.gz", "hta/trace_filter/sampled_rank-1.json.gz"),
    "trace_filter_rank0": "hta/trace_filter/sampled_rank-0.json.gz",
    "trace_filter_rank1": "hta/trace_filter/sampled_rank-1.json.gz",
    "tracelens_b200_eager": "tracelens/b200",
    "tracelens_h100_qwen": "tracelens/h100",
    "tracelens_mi300_resnet_act_checkpoint": "tracelens/mi300",
    "tracelens_torch_compile_triton": "tracelens/torch_compile_triton",
    "tracelens_vllm_prefilldecode_piecewise": "tracelens/inference/vllm_prefilldecode_piecewise",
    "triton_example": "hta/triton_example",
}

HTA_ROWS = ".hta_rows.json"


def names():
    """Those in the folder, but not the variants with the rows that another tool selects."""
    folder = harness.SHARED / "golden" / "exact"
    return sorted(path.stem for path in folder.glob("*.json") if not path.stem.endswith(".hta_rows"))


def paths(name):
    """The trace files, in rank order."""
    places = TRACES[name]
    found = []
    for place in [places] if isinstance(places, str) else places:
        path = harness.SHARED / "traces" / place
        files = [path] if path.is_file() else sorted(p for p in path.iterdir() if p.is_file())
        assert len(files) == 1, f"{place}: {files}"
        found += files
    return found


def hta_rows():
    """Those that also have numbers of the rows that HTA selects."""
    return sorted(path.name.removesuffix(HTA_ROWS) for path in (harness.SHARED / "golden" / "exact").glob(f"*{HTA_ROWS}"))


def ranks(name):
    """{rank: numbers} of one reference."""
    document = json.loads((harness.SHARED / "golden" / "exact" / f"{name}.json").read_text())
    return {int(rank): numbers for rank, numbers in document["ranks"].items()}
