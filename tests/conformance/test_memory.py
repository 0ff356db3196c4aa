"""The memory timeline against the answers of TensorBoard's plugin (shared/golden/tb_plugin)."""

import gzip
import json

import pytest

import harness
from test_exact import base_ns

pytestmark = harness.needs_shared()

MB, KB = 1 << 20, 1 << 10
WITH_TOTALS = {"tl_h100_qwen": "tracelens/h100", "hta_df_index_resolver": "hta/df_index_resolver"}
WITHOUT_TOTALS = {  # PyTorch before 1.12
    "resnet50_num_workers_0/span1": "tb_plugin/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz",
    "resnet50_num_workers_4/span1": "tb_plugin/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz",
}


def reference(name, view):
    stem = harness.SHARED / "golden/tb_plugin" / name / f"{view}.json"
    packed = stem.with_suffix(".json.gz")
    return json.loads(gzip.decompress(packed.read_bytes()) if packed.is_file() else stem.read_bytes())


def answer(trace):
    tables = ["memory_timeline", "memory_timeline_series"]
    return harness.analyze(harness.SHARED / "traces" / trace, tables=tables, top=None)


def device(row):
    """As the plugin calls it."""
    return f"GPU{row['device_id']}" if row["device_type"] == "CUDA" else row["device_type"]


def path_of(trace):
    path = harness.SHARED / "traces" / trace
    return path if path.is_file() else next(p for p in path.iterdir() if p.is_file())


@pytest.mark.parametrize("name", WITH_TOTALS)
def test_devices(name):
    curve, events = reference(name, "memory_curve"), reference(name, "memory_events")["rows"]
    rows = {device(row): row for row in answer(WITH_TOTALS[name])["memory_timeline"]}
    assert rows.keys() == set(curve["metadata"]["devices"])
    for which, row in rows.items():
        assert f"Peak Memory Usage: {row['peak_allocated_bytes'] / MB:.1f}MB" == curve["metadata"]["peaks"][which]
        assert row["peak_reserved_bytes"] == max(point[2] for point in curve["rows"][which]) * MB
        sizes = [size * KB for _, size, begin, _, _ in events[which] if begin is not None]
        assert row["allocations"] == len(sizes)
        assert row["frees"] == sum(end is not None for _, _, _, end, _ in events[which])
        assert row["sum_bytes"] == pytest.approx(sum(sizes), rel=0.03)  # 8 bytes are 0.008 KB there
        assert row["retained_bytes"] == sum(size * KB for _, size, begin, end, _ in events[which]
                                            if begin is not None and end is None)


@pytest.mark.parametrize("name", WITH_TOTALS)
def test_curve(name):
    """Each point of the plugin's stairs is a row, or the time of a row and the values of the one before."""
    curve = reference(name, "memory_curve")
    base = base_ns(path_of(WITH_TOTALS[name]))
    found = {}
    for row in answer(WITH_TOTALS[name])["memory_timeline_series"]:
        found.setdefault(device(row), []).append((row["time_ns"], row["allocated_bytes"], row["reserved_bytes"]))
    assert found.keys() == curve["rows"].keys()
    for which, points in curve["rows"].items():
        rows = found[which]
        stairs = [rows[0]]
        for before, row in zip(rows, rows[1:]):
            stairs += [(row[0], *before[1:]), row]
        assert len(points) == min(len(stairs), 10240)
        wanted = [(base + (x / 1e-3 + curve["metadata"]["first_ts"]) * 1e3, y * MB, z * MB) for x, y, z in points]
        at = 0
        for time, allocated, reserved in wanted:  # in order, as the plugin leaves some out
            while stairs[at][1:] != (allocated, reserved) or abs(stairs[at][0] - time) > 1000:
                at += 1
            at += len(points) == len(stairs)
        assert at <= len(stairs)


@pytest.mark.parametrize("name", [*WITH_TOTALS, *WITHOUT_TOTALS])
def test_allocations_of_operators(name):
    """Operators allocate all of a GPU's memory in these traces, so that the plugin's sums over them are the whole."""
    operators = reference(name, "memory")["rows"]
    rows = {device(row): row for row in answer((WITH_TOTALS | WITHOUT_TOTALS)[name])["memory_timeline"]}
    gpus = [which for which in operators if which.startswith("GPU")]
    assert len(gpus) == 1
    assert rows[gpus[0]]["allocations"] == sum(row[5] for row in operators[gpus[0]])
    assert rows[gpus[0]]["sum_bytes"] == sum(row[7] for row in operators[gpus[0]]) * KB
