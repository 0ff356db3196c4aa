"""What torch-tb-profiler 0.4.3, the TensorBoard plugin, shows of the same traces (docs/tb_plugin.md says where it is not what is right)."""

import json

import pytest

import harness
from harness import SHARED

pytestmark = harness.needs_shared()

GOLDEN = SHARED / "golden" / "tb_plugin"
# Its own samples: whole microseconds, launches of the runtime alone, no copies of annotations on the device's timeline.
SAMPLES = {
    "resnet50_num_workers_0/span1": "tb_plugin/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz",
    "resnet50_num_workers_4/span1": "tb_plugin/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz",
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
    rows = {row["number"]: row for row in harness.analyze(SHARED / "traces" / SAMPLES[golden], tables=["step_breakdown"], top=None)["step_breakdown"]}
    expected = steps_of(golden)
    assert set(rows) == set(expected)
    for step, parts in expected.items():
        row = rows[step]
        assert {part: row[column] for part, column in PARTS.items() if part in parts} == {
            part: 1000 * us for part, us in parts.items()}, step
        assert row["dur_ns"] == sum(1000 * us for us in parts.values()), step


@pytest.mark.parametrize("path", [pytest.param(path, id=name) for name, path in harness.trace_files()])
def test_parts_add_up(path):
    """To the nanosecond, on every trace."""
    if not harness.is_trace(path):
        pytest.skip("no trace")
    for row in harness.analyze(path, tables=["step_breakdown"], top=None)["step_breakdown"]:
        assert sum(row[column] or 0 for column in PARTS.values()) == row["dur_ns"], row
        assert min(row[column] or 0 for column in PARTS.values()) >= 0, row
