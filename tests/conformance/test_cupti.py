"""The counters of CUPTI and their operators against HTA's answer (shared/golden/hta/cupti_profiler)."""

import csv

import harness

pytestmark = harness.needs_shared()

COUNTER = "smsp__"  # what the names of the reference's counter columns begin with


def reference():
    """{position of the range: row}, as HTA wrote it."""
    path = harness.SHARED / "golden/hta/cupti_profiler/cupti_counter_data_with_operators.csv"
    with open(path, newline="") as file:
        return {int(row["index"]): row for row in csv.DictReader(file)}


def test_counters_and_operators():
    trace = harness.SHARED / "traces/hta/cupti_profiler"
    rows = harness.analyze(trace, tables=["cupti_counters"], top=None)["cupti_counters"]
    expected = reference()
    assert len(expected) == 77
    names = [name for name in next(iter(expected.values())) if name.startswith(COUNTER)]
    assert len(names) == 9
    found = {}
    for row in rows:
        assert row["counter"] not in found.setdefault(row["event"], {})
        found[row["event"]][row["counter"]] = row
    assert found.keys() == expected.keys()
    first = min(expected)
    base = found[first][names[0]]["start_ns"] - int(expected[first]["ts"]) * 1000  # HTA's times begin at 0
    for event, want in expected.items():
        assert found[event].keys() == set(names)
        for name, row in found[event].items():
            assert row["value"] == float(want[name])
            assert row["kernel"] == want["name"]
            assert row["start_ns"] - base == int(want["ts"]) * 1000
            assert (row["operator"], row["top_operator"]) == (want["bottom_level_op"], want["top_level_op"])
            assert row["operators"] == want["op_stack"].replace("|", " -> ")
