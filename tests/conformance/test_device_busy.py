"""device_busy_series and sm_efficiency_series against integrals that are computed another way: over all pieces of time between
two starts or ends, in exact arithmetic."""

import bisect
import collections
import decimal
import fractions
import itertools
import json

import pytest

import harness
import oracle

NAMES = ("fixtures/traces/gpu_training/rank0.json.gz", "shared/hta/nccl_parser_config/nccl_data.json.gz",
         "shared/hta/mtia_inference_trace/mtia_inference_rank_0.json.gz",
         "shared/tb_plugin/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz",
         "shared/tracelens/mi300/resnet_act_checkpoint.json.gz", "shared/tracelens/b200/eager_trace.json.gz")
FILES = {name: path for name, path in harness.trace_files() if name in NAMES}


def ns(value):
    return int((decimal.Decimal(str(value)) * 1000).to_integral_value(decimal.ROUND_HALF_UP))


def device_work(path):
    """{device: [(start, end, blocks per SM or None)]} on the clock of the file."""
    trace = json.loads(harness.text_of(path), parse_float=decimal.Decimal, strict=False)
    base = int(trace.get("baseTimeNanoseconds", 0))
    work = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event.get("ph") == "X" and oracle.is_device_work(event):
            start, args = ns(event["ts"]) + base, event["args"]
            work[int(args.get("device", event["pid"]))].append((start, start + ns(event["dur"]),
                                                                args.get("blocks per SM")))
    return work


class Integral:
    """Of a function of the sum of the weights of what runs, from the beginning to any time."""

    def __init__(self, rows, height):
        changes = collections.Counter()
        for start, end, weight in rows:
            changes[start] += weight
            changes[end] -= weight
        self.times = sorted(changes)
        sums = list(itertools.accumulate(changes[time] for time in self.times))
        self.heights = [height(value) for value in sums]
        steps = (h * (b - a) for h, a, b in zip(self.heights, self.times, self.times[1:]))
        self.totals = list(itertools.accumulate(steps, initial=fractions.Fraction(0)))

    def until(self, time):
        i = bisect.bisect_right(self.times, time) - 1
        return 0 if i < 0 else self.totals[i] + self.heights[i] * (time - self.times[i])


def check(rows, work, column, integrals):
    last = max(end for pieces in work.values() for _, end, _ in pieces)
    by_device = collections.defaultdict(list)
    for row in rows:
        by_device[row["device"]].append((row["time_ns"], row[column]))
    assert by_device.keys() == integrals.keys()
    for device, points in by_device.items():
        assert points[0][0] == min(start for pieces in work.values() for start, _, _ in pieces)
        assert points[-1] == (last, 0)
        for (start, value), (end, _) in itertools.pairwise(points):
            integral = integrals[device]
            assert value == pytest.approx(float((integral.until(end) - integral.until(start)) / (end - start)),
                                          rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("bucket", (0, 777_777))
def test_series(name, bucket):
    path = FILES[name]
    work = device_work(path)
    answer = harness.analyze(path, tables=["device_busy_series", "sm_efficiency_series"], top=None,
                             options=["--bucket-ns", bucket])
    busy = {device: Integral([(start, end, 1) for start, end, _ in rows], lambda running: int(running > 0))
            for device, rows in work.items()}
    check(answer["device_busy_series"], work, "busy_ratio", busy)
    # As the program does: numbers of a millionth, and no kernel counts for more than a thousand blocks.
    used = {}
    for device, rows in work.items():
        weights = [(start, end, min(max(fractions.Fraction(str(blocks)), 0), 1000)) for start, end, blocks in rows
                   if blocks is not None]
        if weights:
            used[device] = Integral(weights, lambda running: min(running, 1))
    check(answer["sm_efficiency_series"], work, "sm_efficiency_ratio", used)
