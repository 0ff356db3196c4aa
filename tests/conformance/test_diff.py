"""`spotter diff` against what HTA's TraceDiff says of two pairs of traces, name by name: numbers and times are equal."""

import csv
import json

import pytest

import harness

pytestmark = harness.needs_shared()

PAIRS = {"trace_diff": ("control", "test"), "trace_compare": ("base", "test")}
STEP = 1010
SIDES = {"gpu": {"device"}, "cpu": {"host"}, "all": {"host", "device"}}
# Device work whose launch is not in the trace: by its own start here, in no iteration for HTA.
WITHOUT_LAUNCH = {"trace_compare": ("Memcpy HtoD (Pinned -> Device)", "Memset (Device)",
                                    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>")}
COLUMNS = ("before_count", "before_ns", "after_count", "after_ns")


def golden(pair, name):
    return harness.SHARED / "golden" / "hta" / pair / name


def ours(pair, sides, *options):
    """{name: [count and time before, count and time after]}; HTA tells no kinds of one name apart."""
    folders = [harness.SHARED / "traces" / "hta" / pair / side for side in PAIRS[pair]]
    done = harness.run("diff", *folders, "--steps", STEP, "--top", 0, "--format", "json", *options)
    assert done.returncode == 0, done.stderr
    found = {}
    for row in harness.Answer(json.loads(done.stdout))["trace_diff"]:
        if row["side"] in sides:
            sums = found.setdefault(row["name"], [0] * len(COLUMNS))
            for i, column in enumerate(COLUMNS):
                sums[i] += row[column]
    if "device" in sides:
        for prefix in WITHOUT_LAUNCH.get(pair, ()):
            (name,) = [name for name in found if name.startswith(prefix)]
            del found[name]
    return found


@pytest.mark.parametrize("device", SIDES)
@pytest.mark.parametrize("pair", PAIRS)
def test_compare_traces(pair, device):
    with golden(pair, f"compare_traces.{device}.csv").open() as file:
        expected = {row["name"]: [float(row["Control_counts"]), 1000 * float(row["Control_total_duration"]),
                                  float(row["Test_counts"]), 1000 * float(row["Test_total_duration"])]
                    for row in csv.DictReader(file)}
    assert expected
    assert ours(pair, SIDES[device]) == expected


@pytest.mark.parametrize("pair", ["trace_diff"])
def test_by_function(pair):
    """As HTA's short names, but for anonymous namespaces, of which HTA leaves the colons (B30)."""
    expected = {}
    with golden(pair, "compare_traces.gpu.short_name.csv").open() as file:
        for row in csv.DictReader(file):
            sums = expected.setdefault(row["short_name"].replace("::::", "::"), [0] * len(COLUMNS))
            for i, column in enumerate(("Control_counts", "Control_total_duration", "Test_counts", "Test_total_duration")):
                sums[i] += float(row[column]) * (1000 if "duration" in column else 1)
    assert ours(pair, {"device"}, "--by-function") == expected


@pytest.mark.parametrize("device", SIDES)
@pytest.mark.parametrize("pair", PAIRS)
def test_ops_diff(pair, device):
    kinds = {"added": [], "deleted": [], "increased": [], "decreased": [], "unchanged": []}
    for name, (before, _, after, _) in ours(pair, SIDES[device]).items():
        kind = ("added" if not before else "deleted" if not after else
                "increased" if after > before else "decreased" if after < before else "unchanged")
        kinds[kind].append(name)
    expected = json.loads(golden(pair, f"ops_diff.{device}.json").read_text())
    assert {kind: sorted(names) for kind, names in kinds.items()} == {k: sorted(v) for k, v in expected.items()}
