"""What torch-tb-profiler 0.4.3, the TensorBoard plugin, shows of the same traces (docs/tb_plugin.md says where it is not what is right)."""

import gzip
import itertools
import json
import re

import pytest

import harness
from harness import SHARED
from test_exact import base_ns
from test_memory import path_of

pytestmark = harness.needs_shared()

GOLDEN = SHARED / "golden" / "tb_plugin"
# Its own samples: whole microseconds, launches of the runtime alone, no copies of annotations on the device's timeline.
SAMPLES = {
    "resnet50_num_workers_0/span1": "tb_plugin/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz",
    "resnet50_num_workers_4/span1": "tb_plugin/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz",
}
TRACES = SAMPLES | {
    "tl_h100_qwen": "tracelens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    "hta_df_index_resolver": "hta/df_index_resolver/df_index_resolver.json.gz",
    "tl_mi300_resnet_act_checkpoint": "tracelens/mi300/resnet_act_checkpoint.json.gz",
    "hta_nccl_data": "hta/nccl_parser_config/nccl_data.json.gz",
}
PARTS = {"Kernel": "kernel_ns", "Memcpy": "copy_ns", "Memset": "set_ns", "Communication": "communication_ns", "Runtime": "runtime_ns",
         "DataLoader": "data_loader_ns", "CPU Exec": "host_ns", "Other": "other_ns"}


def steps_of(golden):
    """{step: {part: us}}: each second column is a tooltip."""
    shown = json.loads((GOLDEN / golden / "overview.json").read_text())["steps"]
    names = [column.get("name") for column in shown["columns"]]
    return {int(row[0]): {name: value for name, value in zip(names[1:], row[1:], strict=True) if name} for row in shown["rows"]}


@pytest.mark.parametrize("golden", SAMPLES)
def test_the_overviews_steps(golden):
    rows = {row["number"]: row for row in harness.analyze(SHARED / "traces" / TRACES[golden], tables=["step_breakdown"], top=None)["step_breakdown"]}
    expected = steps_of(golden)
    assert set(rows) == set(expected)
    for step, parts in expected.items():
        row = rows[step]
        assert {part: row[column] for part, column in PARTS.items() if part in parts} == {
            part: 1000 * us for part, us in parts.items()}, step
        assert row["dur_ns"] == sum(1000 * us for us in parts.values()), step


def shown(golden, view):
    return json.loads((GOLDEN / golden / f"{view}.json").read_text())


def analyzed(golden, table, *options, top=0):
    return harness.analyze(SHARED / "traces" / TRACES[golden], tables=[table], top=top, options=options)[table]


def percent(ratio):
    return None if ratio is None else pytest.approx(100 * ratio, abs=0.005001)


@pytest.mark.parametrize("golden", SAMPLES)
def test_the_overviews_devices(golden):
    [row] = analyzed(golden, "device_summary", top=None)
    told = {line["title"]: line["value"] for line in shown(golden, "overview")["gpu_metrics"]["data"]}
    assert told.pop("GPU 0:") == "" and row["device"] == 0
    assert told == {"Name": row["name"], "Memory": f"{row['memory_bytes'] / 2**30:.2f} GB", "Compute Capability": row["compute_capability"],
                    "GPU Utilization": f"{round(100 * row['utilization_ratio'], 2)} %", "Est. SM Efficiency": f"{round(100 * row['sm_efficiency_ratio'], 2)} %",
                    "Est. Achieved Occupancy": f"{round(100 * row['occupancy_ratio'], 2)} %",
                    "Kernel Time using Tensor Cores": f"{float(round(100 * row['tensor_core_ratio'], 2))} %"}


@pytest.mark.parametrize("golden", SAMPLES)
def test_the_overviews_recommendations(golden):
    html = shown(golden, "overview")["recommendations"]
    found = {row["mechanism"]: row for row in analyzed(golden, "findings", top=None)}
    steps = analyzed(golden, "step_breakdown", top=None)
    loading = re.search(r"([0-9.]+)% of the step time is in DataLoader", html)
    # The plugin tells it from 5 % of the step on, the table from 1 %.
    assert ("data_loading" in found and found["data_loading"]["share"] >= 0.05) == bool(loading)
    if loading:
        waits, length = (sum(row[name] for row in steps) for name in ("data_loader_ns", "dur_ns"))
        assert round(100 * waits / length, 1) == float(loading[1])
        # What a step would gain: some of the wait hides device work.
        assert 0.5 * waits / length < found["data_loading"]["share"] <= waits / length
    # The plugin's share, 68 %, is of kernels alone; here copies that operators start are device time, too.
    share = int(re.search(r"but ([0-9]+) % of the operators' device time", found["no_tensor_cores"]["finding"])[1])
    assert "Automatic Mixed Precision" in html and 60 < share < 68


@pytest.mark.parametrize(("view", "arguments"), [("Operation", ("--by-shapes", "0")), ("OperationAndInputShape", ())])
@pytest.mark.parametrize("golden", SAMPLES)
def test_the_operators(golden, view, arguments):
    rows = {(row["name"], row["shapes"] or "[]"): row for row in analyzed(golden, "operator_groups", *arguments)}
    told = {(row["name"], row.get("input_shape", "[]")): row for row in shown(golden, f"operation_table.{view}")["data"]}
    assert set(rows) == set(told)
    for key, row in rows.items():
        expected = told[key]
        assert {"calls": row["calls"], "device_self_duration": row["device_self_ns"] / 1000, "device_total_duration": row["device_total_ns"] / 1000,
                "host_self_duration": row["host_self_ns"] / 1000, "host_total_duration": row["host_total_ns"] / 1000,
                "tc_eligible": "Yes" if row["may_use_tensor_cores"] else "No", "tc_self_ratio": 100 * (row["tensor_self_ratio"] or 0),
                "tc_total_ratio": 100 * (row["tensor_total_ratio"] or 0)} == {
                    column: value for column, value in expected.items() if column not in ("name", "input_shape", "has_call_stack")}, key


# Columns in which an operator differs: driver calls (Q1), and annotations of collectives, which are nodes of the plugin's tree.
DIFFERENT = {
    "tl_h100_qwen": {"aten::bmm": {"host_self", "device_self", "device_total"}, "aten::matmul": {"device_total"}},
    "hta_nccl_data": {"aten::cudnn_batch_norm_backward": {"host_self"}, "record_param_comms": {"host_self"}},
}


@pytest.mark.parametrize("golden", DIFFERENT)
def test_operators_of_new_traces(golden):
    """To the microsecond, to which the plugin rounds."""
    rows = {row["name"]: row for row in analyzed(golden, "operator_groups", "--by-shapes", "0")}
    told = {row["name"]: row for row in shown(golden, "operation_table.Operation")["data"]}
    assert set(rows) == set(told)
    different = {}
    for name, row in rows.items():
        assert row["calls"] == told[name]["calls"], name
        for column in ("host_self", "host_total", "device_self", "device_total"):
            if abs(row[f"{column}_ns"] / 1000 - told[name][f"{column}_duration"]) > 0.51:
                different.setdefault(name, set()).add(column)
    assert different == DIFFERENT[golden]


def is_rounded(exact, shown_value, unit):
    return abs(exact - shown_value) <= 0.51 * unit


@pytest.mark.parametrize("golden", TRACES)
def test_kernels_by_name(golden):
    table = shown(golden, "kernel_table.Kernel")["data"]
    columns = [column["name"] for column in table["columns"]]
    told = {row[0]: dict(zip(columns, row, strict=True)) for row in table["rows"]}
    rows = analyzed(golden, "kernel_groups")
    assert {row["name"] for row in rows} == set(told)
    for row in rows:
        expected = told[row["name"]]
        assert row["calls"] == expected["Calls"], row
        for column, name in (("sum_ns", "Total"), ("mean_ns", "Mean"), ("max_ns", "Max"), ("min_ns", "Min")):
            assert is_rounded(row[column] / 1000, expected[f"{name} Duration (us)"], 1), (row, column)
        assert is_rounded(row["blocks_per_sm"] or 0, expected.get("Mean Blocks Per SM", 0), 0.01), row
        assert is_rounded(100 * (row["occupancy_ratio"] or 0), expected.get("Mean Est. Achieved Occupancy (%)", 0), 0.01), row
        if expected["Tensor Cores Used"] == "Yes":  # No is also what it says of all that it does not know
            assert row["tensor_cores"] == "yes", row


def modules_told(golden):
    found = {}

    def walk(node, path):
        found[path + node["name"]] = node
        for child in node["children"]:
            walk(child, f"{path}{node['name']}/")

    for root in shown(golden, "module")["data"]:
        walk(root, "")
    return found


def modules_different(golden):
    """{path: columns}; the modules are the same."""
    rows = {row["path"]: row for row in analyzed(golden, "modules", top=None)}
    told = modules_told(golden)
    assert set(rows) == set(told)
    different = {}
    for path, row in rows.items():
        assert (row["calls"], row["operators"]) == (told[path]["occurences"], told[path]["operators"]), path
        for column, name in (("host_total", "host_duration"), ("host_self", "self_host_duration"), ("device_total", "device_duration"), ("device_self", "self_device_duration")):
            if abs(row[f"{column}_ns"] / 1000 - told[path][name]) > 1:  # it subtracts doubles a quarter of a microsecond apart
                different.setdefault(path, set()).add(column)
    return different


def test_modules():
    """The root has the calls without an id there (Q5); a launch through the driver is nobody's there (Q1)."""
    assert modules_different("tl_h100_qwen") == {
        "Qwen2Model_0": {"host_self", "device_total"}, "Qwen2Model_0/Qwen2RotaryEmbedding_0": {"device_total", "device_self"}}


def test_modules_that_are_called_from_several_places():
    """What activation checkpointing runs again has the numbers of the first run there, and here those of its own place."""
    different = modules_different("tl_mi300_resnet_act_checkpoint")
    first = {path: columns for path, columns in different.items() if path.startswith("DistributedDataParallel_0")}
    calls_itself = ["DistributedDataParallel_0", *(f"DistributedDataParallel_0/ResNet_0/CheckpointWrapper_{i}" for i in range(4))]
    assert first == {path: {"host_self"} for path in calls_itself}  # of calls of the runtime without an id (Q5)
    assert len(different) > len(first)


# What a matrix unit's kernel may be called, by the instructions and tiles that stand in such names.
MATRIX_UNITS = re.compile(r"[hsd]884|[hs]1688|16816|tensorop|xmma|wgmma|gmma|nvjet|mfma|xdl|gtcx|_MI\d+x\d+x|flash_fwd_k|flash_bwd_dq|Kernel_Qkv|matmul_ogs|_sm100[af]|attention_2d|tfloat32")
# Those of the reference traces and fixtures that no rule knows.
UNKNOWN = (
    "ampere_gcgemm_64x64_nt", "triton__0d1d", "_topk_forward", "_sum_bitmatrix_rows", "_finalize_matmul_scatter_bf16", "_copy_page_indices_kernel",
    "_combined_routing_compute", "void linearize_index_kernel<", "void recat_copy_async_kernel<", "void compute_cuda_kernel<", "void at::to_dense_representation_kernel<",
    "remote", "pe_exe", "merge",  # MTIA
    # Sums of rows and conversions beside cuDNN's attention; attention in float32, whose instructions the name does not tell.
    "void cudnn::fusion::compute_dot_do_o_specialized<", "void cudnn::fusion::convert_dq_to_16bits<", "fmha_cutlassB_f32_aligned", "fmha_cutlassF_f32_aligned",
)


@pytest.mark.parametrize("path", harness.traces())
def test_no_kernel_on_tensor_cores_is_a_no(path):
    if not harness.is_trace(path):
        pytest.skip("no trace")
    for row in harness.analyze(path, tables=["kernel_groups"])["kernel_groups"]:
        if row["tensor_cores"] == "no":
            helper = re.search(r"simt|_ffma_|ReduceSplitK|Offsets|reshape_and_cache", row["name"])  # ffma: multiply-add of single numbers
            assert helper or not MATRIX_UNITS.search(row["name"]), row
        if row["tensor_cores"] == "unknown":
            assert row["name"].startswith(UNKNOWN), row


@pytest.mark.parametrize("golden", SAMPLES)
def test_kernels_by_launch(golden):
    told = {(row[0], row[1], row[2], row[3], row[4], row[5]): row[7:] for row in shown(golden, "kernel_table.KernelNameAndOpName")["data"]["rows"]}
    rows = {tuple(str(row[column]) for column in ("name", "operator", "grid", "block", "registers", "shared_memory_bytes")): row
            for row in analyzed(golden, "kernel_groups", "--by-launch", "1")}
    assert set(rows) == set(told)
    for key, row in rows.items():
        _, calls, total, mean, longest, shortest, blocks, occupancy = told[key]
        assert [row["calls"], row["sum_ns"] / 1000, round(row["mean_ns"] / 1000), row["max_ns"] / 1000, row["min_ns"] / 1000] == [calls, total, mean, longest, shortest], row
        assert percent((row["blocks_per_sm"] or 0) / 100) == blocks and percent(row["occupancy_ratio"] or 0) == occupancy, row


@pytest.mark.parametrize("rank", [0, 1])
def test_the_distributed_views_steps(rank):
    """Their length, and the time in which any kernel runs: those of NCCL are computation there."""
    told = shown("hta_sampled_distributed", "overlap")["data"]
    rows = harness.analyze(SHARED / "traces" / "hta" / "trace_filter", tables=["comm_steps"], top=None)["comm_steps"]
    found = {str(row["number"]): row for row in rows if row["rank"] == rank}
    assert set(found) == set(told) - {"all"}
    for number, row in found.items():
        computation, overlapping, communication, other = (1000 * us for us in told[number][f"host_{rank}"])
        assert row["dur_ns"] == computation + overlapping + communication + other
        assert row["compute_ns"] + row["overlap_ns"] + row["exposed_ns"] == computation + overlapping


@pytest.mark.parametrize("path", harness.traces())
def test_parts_add_up(path):
    """To the nanosecond, on every trace."""
    if not harness.is_trace(path):
        pytest.skip("no trace")
    for row in harness.analyze(path, tables=["step_breakdown"], top=None)["step_breakdown"]:
        assert sum(row[column] or 0 for column in PARTS.values()) == row["dur_ns"], row
        assert min(row[column] or 0 for column in PARTS.values()) >= 0, row


@pytest.mark.parametrize("rank", [0, 1])
def test_the_distributed_views_calls_and_bytes(rank):
    """Of the operations that it knows. It takes launches for them, so that its times are others."""
    [told] = shown("hta_sampled_distributed", "commops")["data"][f"host_{rank}"]["rows"]
    name, calls, size = told[:3]
    assert name == "nccl:all_reduce"
    rows = [row for row in harness.analyze(SHARED / "traces" / "hta" / "trace_filter", tables=["collectives"], top=None,
                                           options=["--ranks", rank])["collectives"] if row["operation"] == "all_reduce"]
    assert (sum(row["calls"] for row in rows), sum(row["bytes"] for row in rows)) == (calls, size)
    assert {row["dtype"] for row in rows} == {"float32"}


MB, KB = 1 << 20, 1 << 10
WITH_ADDRESSES = {"tl_h100_qwen": "tracelens/h100", "hta_df_index_resolver": "hta/df_index_resolver"}


def shown_kb(size):
    """A size as the plugin rounds it: to two decimals of KB, but what is below 0.01 to its first digit that is not 0."""
    kb = size / KB
    return float(f"{kb:.1g}") if 0 < abs(kb) < 0.01 else round(kb, 2)


def device_of(row):
    """As the plugin calls it; nothing else has a name there (Q8)."""
    return f"GPU{row['device_id']}" if row["device_type"] == "CUDA" else row["device_type"]


def by_device(rows):
    found = {}
    for row in rows:
        found.setdefault(device_of(row), []).append(row)
    return found


# aten::arange calls itself; there the memory of the inner call is that of the outer one, and once more its own.
ARANGE, ARANGE_TWICE = [2, 4.5, 0.0, 1, 0, 4.5, 0.0], [2, 9.0, 0.0, 2, 0, 9.0, 0.0]
SUMS = ["increase_bytes", "self_increase_bytes", "allocations", "self_allocations", "allocated_bytes", "self_allocated_bytes"]


@pytest.mark.parametrize("golden", [*SAMPLES, *WITH_ADDRESSES])
def test_memory_of_operators(golden):
    trace = SHARED / "traces" / (SAMPLES | WITH_ADDRESSES)[golden]
    found = by_device(harness.analyze(trace, tables=["memory_by_operator"])["memory_by_operator"])
    expected = json.loads((GOLDEN / golden / "memory.json").read_text())["rows"]
    assert found.keys() == expected.keys()
    for which, rows in expected.items():
        shown = {row["operator"]: [row["calls"], *(row[column] if column.endswith("allocations") else shown_kb(row[column]) for column in SUMS)]
                 for row in found[which]}
        if golden == "tl_h100_qwen" and which == "GPU0":
            assert shown["aten::arange"] == ARANGE
            shown["aten::arange"] = ARANGE_TWICE
        assert shown == {row[0]: row[1:] for row in rows}, which


def shown_operator(row):
    if row["operator"] is None:
        return "<unknown>"
    if row["operator"].startswith("aten::empty") and row["parent_operator"]:
        return f"{row['parent_operator']} ({row['operator']})"
    return row["operator"]


@pytest.mark.parametrize("golden", WITH_ADDRESSES)
def test_memory_events(golden):
    """All pieces, by their release, of which several may be at one time."""
    path = GOLDEN / golden / "memory_events.json"
    packed = path.with_suffix(".json.gz")
    expected = json.loads(gzip.decompress(packed.read_bytes()) if packed.is_file() else path.read_bytes())["rows"]
    trace = SHARED / "traces" / WITH_ADDRESSES[golden]
    rows = by_device(harness.analyze(trace, tables=["memory_events"], top=None)["memory_events"])
    curve = GOLDEN / golden / "memory_curve.json.gz"
    start = base_ns(path_of(trace)) + json.loads(gzip.decompress(curve.read_bytes()))["metadata"]["first_ts"] * 1e3
    assert rows.keys() == expected.keys()

    def is_near(ns, ms):  # shown to two decimals
        return abs(ns / 1e6 - ms) < 0.006

    for which, pieces in expected.items():
        assert len(rows[which]) == len(pieces) and not any(None in piece for piece in pieces)
        found = sorted(rows[which], key=lambda row: row["released_ns"])
        for released, together in itertools.groupby(found, key=lambda row: row["released_ns"]):
            ours = sorted((shown_operator(row), shown_kb(row["bytes"]), row["allocated_ns"] - start, row["held_ns"]) for row in together)
            theirs = sorted((operator, kb, allocated, held) for operator, kb, allocated, _, held in pieces[:len(ours)])
            assert all(is_near(released - start, piece[3]) for piece in pieces[:len(ours)])
            del pieces[:len(ours)]
            assert [row[:2] for row in ours] == [piece[:2] for piece in theirs]
            for (_, _, allocated, held), (_, _, shown_allocated, shown_held) in zip(ours, theirs):
                assert is_near(allocated, shown_allocated) and is_near(held, shown_held), ours


@pytest.mark.parametrize("golden", SAMPLES)
def test_no_memory_events_without_addresses(golden):
    assert json.loads((GOLDEN / golden / "memory_events.json").read_text())["rows"] == {}
    answer = harness.analyze(SHARED / "traces" / SAMPLES[golden], tables=["memory_events"], top=None)
    assert answer["memory_events"] == []
    assert "no_addresses" in {note["kind"] for note in answer.notes}


@pytest.mark.parametrize("path", harness.traces())
def test_what_is_held_adds_up_to_the_peak(path):
    if not harness.is_trace(path):
        pytest.skip("no trace")
    found = harness.analyze(path, tables=["memory_at_peak", "memory_timeline"])
    peaks = {device_of(row): row["peak_allocated_bytes"] for row in found["memory_timeline"] if row["retained_bytes"] is not None}
    held = by_device(found["memory_at_peak"])
    assert {which: sum(row["bytes"] for row in held.get(which, [])) for which in peaks} == peaks
    assert held.keys() <= peaks.keys()
