"""What `spotter analyze` should say of a job of which truth.json tells the faults, and what of that its findings say."""
import collections

# A fault -> the mechanisms that are right for it. Of a slow device it depends on the steps.
MECHANISMS = {
    "slow-link": {"slow_link"}, "data-loader-stall": {"data_loading"}, "launch-bound": {"launch_bound"}, "host-sync": {"host_sync"},
    "gc-pause": {"host_pause"}, "imbalance": {"uneven_work"}, "allocator-retries": {"allocator"},
    "unoverlapped-communication": {"serialized_communication"}, "hang": {"hang"}, "extra-calls": {"uneven_work"}, "copies": {"copies"},
    "compilation": {"compilation"}, "memory-pressure": {"memory_pressure"}, "low-efficiency": {"low_efficiency"},
}
SLOW_DEVICE = {"slow-rank", "throttle", "straggling-step"}
# Told beside what a job has without a fault, so it need not be the first of them.
OPPORTUNITIES = {"serialized_communication", "exposed_communication", "small_kernels", "pipeline_bubble", "low_efficiency"}
LEAST = 0.02  # of the step: what costs less need not be told


# ranks: None: any. steps: None: not held to any, as a finding need not name those that are half of all.
# share: of the job's time, that the fault costs.
Expected = collections.namedtuple("Expected", "fault text mechanisms ranks steps share effect_ns")


def slow_device_by(steps, count):
    """Which mechanism a slow device is in these of so many steps."""
    if len(steps) <= max(1, count // 5):
        return {"long_step"}
    if steps[0] > 0 and steps == list(range(steps[0], count)):
        return {"clock_drop"}
    if steps[0] == 0 and len(steps) >= 0.7 * count:
        return {"slow_device"}
    if steps == list(range(steps[0], steps[-1] + 1)):
        return {"clock_drop"}
    return {"slow_device", "clock_drop", "long_step"}


def job_ns(truth):
    """From the first step's start to the end of the last one that ended."""
    steps = truth["by_rank_and_step"]
    starts = [row[0] for row in steps["start_ns"]]
    ends = [start[-1] + (dur[-1] or 0) for start, dur in zip(steps["start_ns"], steps["step_ns"])]
    return max(ends) - min(starts)


def expected_of(truth):
    """Of each fault what is to be told; mechanisms are empty where no trace can show it: its ranks have no file, or devices
    are slow on all of them from the first step on."""
    return [expected_fault(truth, fault) for fault in truth["faults"]]


def expected_fault(truth, fault):
    kind, injected, count = fault["type"], fault["injected_ns"], len(truth["steps"])
    ranks = [rank for rank, row in enumerate(injected) if any(row)]
    by_step = [max(row[step] for row in injected) for step in range(count)]
    # What only touches a step, as what begins at a time does, is not in it.
    steps = [step for step in range(count) if by_step[step] > 0.05 * max(by_step)]
    if kind == "hang":
        ranks = sorted(ranks_of(dict(word.split("=") for word in fault["fault"].split(":")[1].split(",")).get("rank", "0"), truth["ranks"]))
    mechanisms = slow_device_by(steps, count) if kind in SLOW_DEVICE else MECHANISMS.get(kind, {kind})
    present = {rank for rank, file in enumerate(truth["files"]) if file}
    if not present & set(ranks) or (mechanisms == {"slow_device"} and present <= set(ranks)):
        mechanisms = set()
    effect = fault["job_effect_total_ns"] or 0
    # Of ranks without a file nothing can be told; if it is all others, it is all.
    told = None if kind == "imbalance" else set(range(truth["ranks"])) if present <= set(ranks) else present & set(ranks)
    return Expected(kind, fault["fault"], mechanisms, told,
                    [truth["steps"][step] for step in steps] if 0 < 2 * len(steps) < count else None, effect / job_ns(truth), effect / count)


def ranks_of(text, all_ranks):
    """The ranks of a text such as 0,3-7; null means all."""
    if not text or text == "all":
        return set(range(all_ranks))
    ranks = set()
    for part in text.replace(" ", "").split(","):
        first, _, last = part.partition("-")
        ranks |= set(range(int(first), int(last or first) + 1))
    return ranks


def has_mechanism(row, expected):
    return row["mechanism"] in expected.mechanisms


def has_ranks(row, expected, all_ranks):
    return expected.ranks is None or ranks_of(row["ranks"], all_ranks) == expected.ranks


def is_of(row, expected, all_ranks):
    return has_mechanism(row, expected) and has_ranks(row, expected, all_ranks)


def has_steps(row, expected):
    """A shift within a step leaves that one open: how much of it is slower is not known."""
    if expected.steps is None:
        return True
    told = sorted(ranks_of(row["steps"], 0))
    return told == expected.steps or (row["mechanism"] == "clock_drop" and told == expected.steps[1:])


def is_opportunity(expected, all_ranks):
    """Whether it may be told among the opportunities: also what all ranks do alike in all steps."""
    return bool(expected.mechanisms & OPPORTUNITIES) or (
        expected.fault == "gc-pause" and expected.steps is None and len(expected.ranks) == all_ranks)


def verdict_on(result):
    """(class of the job, whether the verdict on it is right; None: that is not asked)"""
    rows, faults, ranks = result["rows"], result["expected"], result["ranks"]
    told = [row for row in rows if row["kind"] == "fault"]
    if not faults:
        return "healthy", all(row["share"] < LEAST for row in told)
    if any(not fault.mechanisms for fault in faults):
        return "not to be seen", None
    if len(faults) > 1:
        if min(fault.share for fault in faults) < LEAST:
            return "pair with one under 2 %", None
        first = [row for row in rows if row["kind"] != "caveat"][:len(faults) + 1]
        return "pair", all(any(is_of(row, fault, ranks) for row in (rows if is_opportunity(fault, ranks) else first)) for fault in faults)
    fault = faults[0]
    if fault.fault == "hang":
        return "hang", bool(rows) and is_of(rows[0], fault, ranks)
    name = "5 % and more" if fault.share >= 0.05 else "2 to 5 %" if fault.share >= LEAST else "under 2 %"
    if is_opportunity(fault, ranks):
        return name, any(is_of(row, fault, ranks) for row in rows)
    return name, bool(told) and is_of(told[0], fault, ranks)


def first_row(rows, fault, all_ranks):
    """What comes first of those that it is told among; None: nothing does."""
    if is_opportunity(fault, all_ranks):
        rows = [row for row in rows if has_mechanism(row, fault)]
    else:
        rows = [row for row in rows if row["kind"] == "fault"]
    return rows[0] if rows else None


def largest_accused(result):
    """The largest share of which a healthy job accuses some of its ranks."""
    return max((row["share"] or 0 for row in result["rows"] if row["kind"] == "fault"), default=0)
