"""Which tables of HTA differ from ours with --compat hta, and by which of HTA's rules (docs/hta.md). What is not listed is
equal. test_hta.py proves each entry: with these rules, and with no fewer, hta_model.py gives HTA's numbers.

python3 tests/conformance/hta_differences.py --write puts the table of results into docs/hta.md."""

import sys

import harness
import references

DOCS = harness.ROOT / "docs" / "hta.md"
BEGIN, END = "<!-- results: written by tests/conformance/hta_differences.py -->\n", "<!-- end of results -->\n"

NO_DEVICE_WORK = ("cpu_only", "cupti_profiler", "distributed_info_unavailable", "rank_non_gpu", "rank_unavailable")

DIFFERENT = {
    "comm_comp_overlap": dict.fromkeys(NO_DEVICE_WORK, "B19"),
    "temporal_breakdown": {
        "critical_path_alexnet": "B3",
        "critical_path_cuda_event_sync": "B3",
        "critical_path_cuda_event_sync_multi_stream": "B3",
        "critical_path_simple_add": "B3",
        "critical_path_simple_add_overlaid": "B3",
        "mtia_inference_trace": "B1 B3 B16",
        "tracelens_b200_eager": "B4 B16",
        "tracelens_mi300_resnet_act_checkpoint": "B1",
        "tracelens_torch_compile_triton": "B4",
        "triton_example": "B4",
    },
    "gpu_kernel_breakdown.type_df": {
        "mtia_inference_trace": "B1 B3 B16",
        "tracelens_b200_eager": "B4 B16",
        "tracelens_mi300_resnet_act_checkpoint": "B1",
        "tracelens_torch_compile_triton": "B4",
        "triton_example": "B4",
    },
    "gpu_kernel_breakdown.kernel_df_full": {
        "mtia_inference_trace": "B3 B16",
        "tracelens_b200_eager": "B4 B16",
        "tracelens_torch_compile_triton": "B4",
        "triton_example": "B4",
    },
    "gpu_kernel_breakdown.kernel_df": {
        "amd_trace": "B7 B8",
        "critical_path_alexnet": "B7 B8",
        "critical_path_simple_add": "B7 B8",
        "critical_path_simple_add_overlaid": "B7 B8",
        "df_index_resolver": "B7 B8",
        "mtia_inference_trace": "B3 B16",
        "nccl_parser_config": "B7 B8",
        "negative_queue_length_values_check": "B7 B8",
        "trace_diff_control": "B7 B8",
        "trace_diff_test": "B7 B8",
        "trace_filter": "B7 B8",
        "trace_filter_rank0": "B7 B8",
        "trace_filter_rank1": "B7 B8",
        "tracelens_b200_eager": "B4 B7 B8 B16",
        "tracelens_h100_qwen": "B7 B8",
        "tracelens_mi300_resnet_act_checkpoint": "B7 B8",
        "tracelens_torch_compile_triton": "B4",
        "tracelens_vllm_prefilldecode_piecewise": "B7 B8",
        "triton_example": "B4",
    },
    "idle_time_breakdown": {
        "mtia_inference_trace": "B3",
        "negative_queue_length_values_check": "B10",
        "trace_diff_test": "B10",
        "tracelens_b200_eager": "B10",
        "tracelens_h100_qwen": "B12",
    },
    "idle_time_breakdown.interval_stats": {
        "mtia_inference_trace": "B3",
        "negative_queue_length_values_check": "B10",
        "trace_diff_test": "B10",
        "tracelens_b200_eager": "B10",
        "tracelens_h100_qwen": "B12",
    },
    "cuda_kernel_launch_stats": {
        "amd_trace": "B6",
        "mtia_inference_trace": "B5",
        "negative_queue_length_values_check": "B5",
        "trace_diff_test": "B5",
        "tracelens_b200_eager": "B6",
        "tracelens_h100_qwen": "B6",
        "tracelens_mi300_resnet_act_checkpoint": "B6",
        "tracelens_torch_compile_triton": "B6",
        "tracelens_vllm_prefilldecode_piecewise": "B6",
        "triton_example": "B6",
    },
    "cuda_kernel_launch_stats.no_memory_events": {
        "amd_trace": "B6",
        "mtia_inference_trace": "B5",
        "negative_queue_length_values_check": "B5",
        "trace_diff_test": "B5",
        "tracelens_b200_eager": "B6",
        "tracelens_h100_qwen": "B6",
        "tracelens_mi300_resnet_act_checkpoint": "B6",
        "tracelens_torch_compile_triton": "B6",
        "tracelens_vllm_prefilldecode_piecewise": "B6",
        "triton_example": "B6",
    },
    "queue_length_summary.stable": {
        "mtia_inference_trace": "B5",
        "negative_queue_length_values_check": "B5",
        "trace_diff_test": "B5",
        "trace_file_list": "B12",
        "tracelens_mi300_resnet_act_checkpoint": "B5",
        "tracelens_torch_compile_triton": "B5",
        "tracelens_vllm_prefilldecode_piecewise": "B5",
    },
    "time_spent_blocked_on_full_queue": {
        "critical_path_alexnet": "B22",
        "critical_path_cuda_event_sync_multi_stream": "B22",
        "critical_path_simple_add": "B22",
        "critical_path_simple_add_overlaid": "B22",
        "df_index_resolver": "B22",
        "mtia_inference_trace": "B5 B22",
        "nccl_parser_config": "B22",
        "negative_queue_length_values_check": "B5 B22",
        "trace_diff_control": "B22",
        "trace_diff_test": "B5 B22",
        "trace_file_list": "B12",
        "trace_filter": "B22",
        "trace_filter_rank0": "B22",
        "trace_filter_rank1": "B22",
        "tracelens_mi300_resnet_act_checkpoint": "B5",
        "tracelens_torch_compile_triton": "B5",
        "tracelens_vllm_prefilldecode_piecewise": "B5",
    },
    "memory_bw_summary.stable": {
        "trace_diff_test": "B23",
        "tracelens_h100_qwen": "B1",
    },
    "aten_op_kernels_and_delay": {
        "critical_path_alexnet": "scope",
        "critical_path_cuda_event_sync": "scope",
        "critical_path_cuda_event_sync_multi_stream": "scope",
        "critical_path_simple_add": "scope",
        "critical_path_simple_add_overlaid": "scope",
        "df_index_resolver": "scope",
        "mtia_inference_trace": "scope B20",
        "nccl_parser_config": "scope",
        "negative_queue_length_values_check": "scope B20",
        "trace_diff_control": "scope",
        "trace_diff_test": "scope",
        "trace_filter": "scope B20 B21",
        "trace_filter_rank0": "scope B20",
        "trace_filter_rank1": "scope B20",
        "tracelens_b200_eager": "scope",
        "tracelens_h100_qwen": "scope",
    },
    "frequent_cuda_kernel_sequences": {
        "amd_trace": "B13",
        "critical_path_alexnet": "B40",
        "critical_path_cuda_event_sync": "B40",
        "critical_path_simple_add": "B40",
        "critical_path_simple_add_overlaid": "B40",
        "trace_file_list": "B40",
        "triton_example": "B4",
    },
}

# Where HTA raises an exception; here the answer is clean, and mostly empty.
RAISED = {
    "temporal_breakdown": dict.fromkeys(NO_DEVICE_WORK, "B19") | {"tracelens_h100_qwen": "B1"},
    "idle_time_breakdown": dict.fromkeys(NO_DEVICE_WORK, "B19"),
    "idle_time_breakdown.interval_stats": dict.fromkeys(NO_DEVICE_WORK, "B19"),
    "aten_op_kernels_and_delay": dict.fromkeys((
        *NO_DEVICE_WORK, "amd_trace", "trace_compare_base", "trace_compare_test", "trace_file_list",
        "tracelens_mi300_resnet_act_checkpoint", "tracelens_torch_compile_triton",
        "tracelens_vllm_prefilldecode_piecewise", "triton_example"), "B19"),
    "frequent_cuda_kernel_sequences": dict.fromkeys((
        "mtia_inference_trace", "nccl_parser_config", "tracelens_b200_eager", "tracelens_h100_qwen",
        "tracelens_mi300_resnet_act_checkpoint", "tracelens_torch_compile_triton",
        "tracelens_vllm_prefilldecode_piecewise"), "B17"),
}


def result(table, trace):
    if trace in RAISED.get(table, {}):
        return f"fails {RAISED[table][trace]}"
    rules = DIFFERENT.get(table, {}).get(trace)
    return ", ".join(rules.split()) if rules else "="


def results(tables):
    """One row per trace, one column per table, as Markdown."""
    lines = ["| trace | " + " | ".join(map(str, range(1, len(tables) + 1))) + " |", "|---" * (len(tables) + 1) + "|"]
    for trace in references.names():
        lines.append(f"| {trace} | " + " | ".join(result(table, trace) for table in tables) + " |")
    lines += ["", *(f"{n}. `{table}`" for n, table in enumerate(tables, 1))]
    return "\n".join(lines) + "\n"


def documented(text, tables):
    """The documentation with the results of today."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + results(tables) + END + rest.split(END)[1]


if __name__ == "__main__":
    import hta_tables
    new = documented(DOCS.read_text(), hta_tables.TABLES)
    if sys.argv[1:] == ["--write"]:
        DOCS.write_text(new)
    else:
        print(new)
