"""--compat tb_plugin against the plugin's own answers (shared/golden/tb_plugin): all rows of all tables, at the rounding
at which it shows them."""

import collections
import functools
import gzip
import json

import pytest

import harness
from harness import SHARED
from tb_plugin_samples import S_CASES
from test_exact import base_ns
from test_tb_plugin import GOLDEN, MB, PARTS, SAMPLES, SUMS, TRACES, WITH_ADDRESSES, device_of, shown_kb, shown_operator

pytestmark = harness.needs_shared()

NS = 0.0005  # us; of numbers that it shows as they are: ours are nanoseconds


def shown(golden, view):
    path = GOLDEN / golden / f"{view}.json"
    packed = path.with_suffix(".json.gz")
    return json.loads(gzip.decompress(packed.read_bytes()) if packed.is_file() else path.read_bytes())


TABLES = ["step_breakdown", "device_summary", "operator_groups", "kernel_groups", "modules", "memory_events", "memory_by_operator",
          "memory_timeline", "memory_timeline_series", "device_busy_series", "sm_efficiency_series", "comm_steps", "collectives"]


@functools.lru_cache
def analyzed(golden):
    """All its tables of one trace, in one run."""
    return harness.analyze(SHARED / "traces" / TRACES[golden], tables=TABLES, options=("--compat", "tb_plugin", "--by-shapes", "0"))


def us(ns):
    return ns / 1000


def times_of(golden):
    """From Unix time to its: microseconds as the file counts them."""
    base = base_ns(SHARED / "traces" / TRACES[golden])
    return lambda ns: us(ns - base)


def near(value, unit=0):
    """A number of it that it rounded to the unit, if at all."""
    return pytest.approx(value, abs=unit / 2 + 0.001 if unit else NS + 1e-4, rel=1e-12)


@pytest.mark.parametrize("golden", TRACES)
def test_overview(golden):
    overview = shown(golden, "overview")
    columns = [column.get("name") for column in overview["steps"]["columns"]]
    rows = analyzed(golden)["step_breakdown"]
    assert len(rows) == len(overview["steps"]["rows"])
    for row, told in zip(rows, overview["steps"]["rows"]):
        expected = {name: value for name, value in zip(columns[1:], told[1:], strict=True) if name}
        assert str(row["number"]) == told[0]
        assert {part: us(row[column]) for part, column in PARTS.items() if row[column] is not None} == {
            part: near(value) for part, value in expected.items()}, row
    total, *parts = [item for average in overview["performance"] for item in (average, *average["children"])]
    mean = {name: sum(us(row[column]) for row in rows) / len(rows) for name, column in PARTS.items() if rows[0][column] is not None}
    whole = sum(us(row["dur_ns"]) for row in rows) / len(rows)
    assert whole == near(total["value"], 1)
    assert mean == {part["name"]: near(part["value"], 1) for part in parts}
    assert {name: 100 * value / whole for name, value in mean.items()} == {part["name"]: near(part["extra"], 0.01) for part in parts}


@pytest.mark.parametrize("golden", TRACES)
def test_devices(golden):
    [row] = analyzed(golden)["device_summary"]
    told = {line["title"]: line["value"] for line in shown(golden, "overview")["gpu_metrics"]["data"]}
    assert told.pop(f"GPU {row['device']}:") == ""
    assert (told.pop("Name"), told.pop("Memory"), told.pop("Compute Capability")) == (
        row["name"], f"{row['memory_bytes'] / 2**30:.2f} GB", row["compute_capability"])
    ratios = {"GPU Utilization": "utilization", "Est. SM Efficiency": "sm_efficiency", "Est. Achieved Occupancy": "occupancy",
              "Kernel Time using Tensor Cores": "tensor_core"}
    assert {title: row[f"{name}_ratio"] for title, name in ratios.items() if row[f"{name}_ratio"] is not None} == {
        title: pytest.approx(float(value.removesuffix(" %")) / 100, abs=0.00005001) for title, value in told.items()}


def operators_equal(rows, golden, view):
    told = {(row["name"], row.get("input_shape")): row for row in shown(golden, f"operation_table.{view}")["data"]}
    found = {(row["name"], row["shapes"]): row for row in rows}
    assert len(found) == len(rows) and found.keys() == told.keys()
    for key, row in found.items():
        expected = told[key]
        assert row["calls"] == expected["calls"], key
        assert row["may_use_tensor_cores"] == (expected["tc_eligible"] == "Yes"), key
        for column in ("device_self", "device_total", "host_self", "host_total"):
            assert us(row[f"{column}_ns"]) == near(expected[f"{column}_duration"], 1), (key, column)
        for column in ("self", "total"):
            assert 100 * row[f"tensor_{column}_ratio"] == near(expected[f"tc_{column}_ratio"], 0.01), (key, column)


@pytest.mark.parametrize("golden", TRACES)
def test_operators(golden):
    operators_equal(analyzed(golden)["operator_groups"], golden, "Operation")


@pytest.mark.parametrize("golden", SAMPLES)
def test_operators_by_shapes(golden):
    trace = SHARED / "traces" / TRACES[golden]
    rows = harness.analyze(trace, tables=["operator_groups"], options=("--compat", "tb_plugin"))["operator_groups"]
    operators_equal(rows, golden, "OperationAndInputShape")
    pies_equal(rows, golden, "OperationAndInputShape")


@pytest.mark.parametrize("golden", TRACES)
def test_call_stacks(golden):
    rows = harness.analyze(SHARED / "traces" / TRACES[golden], tables=["operator_groups"],
                           options=("--compat", "tb_plugin", "--by-shapes", "0", "--by-stack", "1"))["operator_groups"]
    with_stack = {row["name"] for row in rows if row["stack"] is not None}
    assert with_stack == {row["name"] for row in shown(golden, "operation_table.Operation")["data"] if row["has_call_stack"]}


def pies_equal(rows, golden, view):
    for pie, told in shown(golden, f"operation.{view}").items():
        column = pie.removesuffix("_time")
        first, second = column.split("_")
        sums = sorted((us(row[f"{first}_{second}_ns"]), row["name"]) for row in rows if row[f"{first}_{second}_ns"] > 0)
        assert sums == sorted((value, name) for name, value in told["rows"]), pie


@pytest.mark.parametrize("golden", SAMPLES)
def test_pies(golden):
    pies_equal(analyzed(golden)["operator_groups"], golden, "Operation")
    kernels = analyzed(golden)["kernel_groups"]
    assert sorted([row["name"], us(row["sum_ns"])] for row in kernels) == sorted(shown(golden, "kernel")["total"]["rows"])
    tensor = sum(row["sum_ns"] for row in kernels if row["tensor_cores"] == "yes") / sum(row["sum_ns"] for row in kernels)
    assert [["Using Tensor Cores", tensor], ["Not Using Tensor Cores", 1 - tensor]] == shown(golden, "kernel_tc_pie")["total"]["rows"]


def kernel_table(golden, view):
    table = shown(golden, f"kernel_table.{view}")["data"]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row, strict=True)) for row in table["rows"]]


def kernel_equal(row, told, unit):
    assert row["calls"] == told["Calls"], row
    assert us(row["sum_ns"]) == near(told["Total Duration (us)"], unit), row
    assert us(row["mean_ns"]) == near(told["Mean Duration (us)"], 1), row
    for column, name in (("max_ns", "Max"), ("min_ns", "Min")):
        assert us(row[column]) == near(told[f"{name} Duration (us)"], unit), row
    for column, name, factor in (("blocks_per_sm", "Mean Blocks Per SM", 1), ("occupancy_ratio", "Mean Est. Achieved Occupancy (%)", 100)):
        assert (row[column] is None) == (name not in told), row
        if row[column] is not None:
            assert factor * row[column] == near(told[name], 0.01), row


@pytest.mark.parametrize("golden", TRACES)
def test_kernels(golden):
    rows = {row["name"]: row for row in analyzed(golden)["kernel_groups"]}
    told = {row["Name"]: row for row in kernel_table(golden, "Kernel")}
    assert rows.keys() == told.keys()
    for name, row in rows.items():
        kernel_equal(row, told[name], 1)
        assert row["tensor_cores"].capitalize() == told[name]["Tensor Cores Used"], name


@pytest.mark.parametrize("golden", TRACES)
def test_kernels_by_launch(golden):
    answer = harness.analyze(SHARED / "traces" / TRACES[golden], tables=["kernel_groups"], options=("--compat", "tb_plugin", "--by-launch", "1"))
    columns = ("name", "operator", "grid", "block", "registers", "shared_memory_bytes")
    names = ("Name", "Operator", "Grid", "Block", "Register Per Thread", "Shared Memory")
    rows = {tuple(str(row[column]) for column in columns): row for row in answer["kernel_groups"]}
    told = {tuple(row[name] for name in names): row for row in kernel_table(golden, "KernelNameAndOpName")}
    assert rows.keys() == told.keys()
    for key, row in rows.items():
        kernel_equal(row, told[key], 0)
        assert row["tensor_cores"].capitalize() == told[key]["Kernel Uses Tensor Cores"], key
        assert row["may_use_tensor_cores"] == (told[key]["Op is Tensor Cores eligible"] == "Yes"), key


def module_rows(golden):
    """Each with its path, as they are shown."""
    found = []

    def walk(node, path):
        found.append((path + node["name"], node["id"], node["occurences"], node["operators"],
                      *(node[f"{name}_duration"] for name in ("host", "self_host", "device", "self_device"))))
        for child in node["children"]:
            walk(child, f"{path}{node['name']}/")

    for root in shown(golden, "module")["data"]:
        walk(root, "")
    return sorted(found)


@pytest.mark.parametrize("golden", [golden for golden in TRACES if (GOLDEN / golden / "module.json").is_file()])
def test_modules(golden):
    columns = ("path", "module_id", "calls", "operators")
    times = ("host_total_ns", "host_self_ns", "device_total_ns", "device_self_ns")
    rows = sorted(tuple(row[column] for column in columns) + tuple(us(row[column]) for column in times)
                  for row in analyzed(golden)["modules"])
    told = module_rows(golden)
    assert [row[:4] for row in rows] == [row[:4] for row in told]
    for row, expected in zip(rows, told):
        assert row[4:] == tuple(map(near, expected[4:])), row


@pytest.mark.parametrize("golden", [golden for golden in TRACES if (GOLDEN / golden / "memory.json").is_file()])
def test_memory_of_operators(golden):
    found = collections.defaultdict(list)
    for row in analyzed(golden)["memory_by_operator"]:
        sums = [row[column] if column.endswith("allocations") else shown_kb(row[column]) for column in SUMS]
        found[device_of(row)].append([row["operator"], row["calls"], *sums])
    told = shown(golden, "memory")["rows"]
    assert {device: sorted(rows) for device, rows in found.items()} == {device: sorted(rows) for device, rows in told.items()}


def by_device(rows):
    found = collections.defaultdict(list)
    for row in rows:
        found[device_of(row)].append(row)
    return found


@pytest.mark.parametrize("golden", [*SAMPLES, *WITH_ADDRESSES])
def test_memory_events(golden):
    found = by_device(analyzed(golden)["memory_events"])
    told = shown(golden, "memory_events")["rows"]
    start, time = shown(golden, "memory_curve")["metadata"]["first_ts"], times_of(golden)
    assert found.keys() == told.keys()
    for device, pieces in told.items():
        assert len(found[device]) == len(pieces)
        for row, (operator, kb, allocated, released, held) in zip(found[device], pieces):
            assert (shown_operator(row), shown_kb(row["bytes"])) == (operator, kb), row
            for ns, ms in ((row["allocated_ns"], allocated), (row["released_ns"], released)):
                assert (time(ns) - start) / 1000 == near(ms, 0.01), row
            assert row["held_ns"] / 1e6 == near(held, 0.01), row


@pytest.mark.parametrize("golden", [*SAMPLES, *WITH_ADDRESSES])
def test_memory_curves(golden):
    curve = shown(golden, "memory_curve")
    found = by_device(analyzed(golden)["memory_timeline_series"])
    start, time = curve["metadata"]["first_ts"], times_of(golden)
    assert found.keys() == curve["rows"].keys()
    for device, points in curve["rows"].items():
        assert [[row["allocated_bytes"] / MB, row["reserved_bytes"] / MB] for row in found[device]] == [point[1:] for point in points]
        assert [(time(row["time_ns"]) - start) / 1000 for row in found[device]] == pytest.approx([point[0] for point in points], abs=1e-6, rel=0)
    peaks = {device_of(row): f"Peak Memory Usage: {row['peak_allocated_bytes'] / MB:.1f}MB" for row in analyzed(golden)["memory_timeline"]}
    assert peaks == curve["metadata"]["peaks"]


@pytest.mark.parametrize("golden", TRACES)
def test_counters(golden):
    """Behind the 1 and the 0 with which each begins, for the axis."""
    told = collections.defaultdict(list)
    for event in shown(golden, "gpu_metrics_counters"):
        [value] = event["args"].values()
        told[event["name"]].append((event["ts"], value))
    found = collections.defaultdict(list)
    time = times_of(golden)
    for table, column, name in (("device_busy_series", "busy_ratio", "GPU {} Utilization"),
                                ("sm_efficiency_series", "sm_efficiency_ratio", "GPU {} Est. SM Efficiency")):
        for row in analyzed(golden)[table]:
            found[name.format(row["device"])].append((time(row["time_ns"]), row[column]))
    assert found.keys() == told.keys()
    for name, points in told.items():
        assert [value for _, value in points[:2]] == [1, 0]
        assert [value for _, value in found[name]] == pytest.approx([value for _, value in points[2:]], abs=1e-9), name
        assert [at for at, _ in found[name]] == pytest.approx([at for at, _ in points[2:]], abs=0.001, rel=0), name  # doubles are so far apart


@functools.lru_cache
def distributed():
    return harness.analyze(SHARED / "traces" / "hta" / "trace_filter", tables=["comm_steps", "collectives"], top=None,
                           options=("--compat", "tb_plugin"))


@pytest.mark.parametrize(("view", "columns"), [("overlap", ("compute_ns", "overlap_ns", "exposed_ns", "other_ns")),
                                               ("waittime", ("transfer_ns", "wait_ns"))])
def test_distributed_steps(view, columns):
    found = collections.defaultdict(dict)
    means = collections.defaultdict(list)
    for row in distributed()["comm_steps"]:
        numbers = [us(row[column]) for column in columns]
        found[str(row["number"])][f"host_{row['rank']}"] = numbers
        means[f"host_{row['rank']}"].append(numbers)
    for host, steps in means.items():
        found["all"][host] = [int(sum(part) / len(part)) for part in zip(*steps)]
    assert found == shown("hta_sampled_distributed", view)["data"]


def test_collectives():
    told = shown("hta_sampled_distributed", "commops")["data"]
    found = collections.defaultdict(list)
    for row in distributed()["collectives"]:
        found[f"host_{row['rank']}"].append([
            row["operation"], row["calls"], row["bytes"], round(row["mean_bytes"]), us(row["time_ns"]), round(us(row["mean_time_ns"])),
            us(row["transfer_ns"]), round(us(row["mean_transfer_ns"]))])
    assert found == {host: table["rows"] for host, table in told.items()}


@pytest.mark.parametrize("path", harness.traces())
def test_any_trace(path):
    """What the plugin cannot read has numbers, too, as far as its rules go."""
    if not harness.is_trace(path):
        pytest.skip("no trace")
    answer = harness.analyze(path, tables=TABLES, options=("--compat", "tb_plugin"))
    exact = harness.analyze(path, tables=["kernel_groups"])
    for row in answer["step_breakdown"]:
        assert min(row["dur_ns"], *(row[column] or 0 for column in PARTS.values())) >= 0, row
    calls = [{row["name"]: row["calls"] for row in one["kernel_groups"]} for one in (answer, exact)]
    assert calls[0].items() <= calls[1].items()  # work of devices that it does not know is not there


@pytest.mark.parametrize("sample", S_CASES)
def test_samples(sample):
    parts, whole, percentages, numbers, buckets = S_CASES[sample]
    answer = harness.analyze(SHARED / "traces" / "tb_plugin" / f"{sample}.pt.trace.json.gz", options=("--compat", "tb_plugin"), top=None,
                             tables=["step_breakdown", "device_summary", "device_busy_series", "sm_efficiency_series"])
    steps = answer["step_breakdown"]
    assert [row["number"] for row in steps] == list(numbers)
    columns = [column for name, column in PARTS.items() if name != "Communication"]
    assert [us(sum(row[column] for row in steps)) / len(steps) for column in columns] == [near(part, 1) for part in parts]
    assert us(sum(row["dur_ns"] for row in steps)) / len(steps) == near(whole, 1)
    [device] = answer["device_summary"]
    ratios = ("utilization", "sm_efficiency", "occupancy", "tensor_core")
    assert [100 * device[f"{name}_ratio"] for name in ratios] == [near(value, 0.01) for value in percentages]
    assert len(answer["device_busy_series"]) == buckets + 1  # and the end of the last one
    if sample.endswith("089861"):
        assert [device[f"{name}_ratio"] for name in ratios] == pytest.approx([0.5551408517, 0.5467904107, 0.491280049093, 0], abs=1e-10)
        pieces = answer["sm_efficiency_series"]
        assert sum(us(end["time_ns"] - start["time_ns"]) * start["sm_efficiency_ratio"] for start, end in zip(pieces[::2], pieces[1::2])) == (
            pytest.approx(582634.1625, abs=1e-4))
