"""The tables of HTA that come from launches, by the rules of hta_model.py."""

import bisect
import collections
import functools
import re
import statistics

import oracle
from hta_model import described

LAUNCHES = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx", "cudaMemcpyAsync",
            "cudaMemsetAsync", "runFunction - job_prep_and_submit_for_execution", "hipLaunchKernel",
            "hipExtModuleLaunchKernel", "hipMemcpyAsync", "hipMemsetAsync", "hipMemcpyWithStream"}
MEMORY_CALL = re.compile("Memcpy|Memset")
OTHER_RUNTIME = re.compile("cu[A-Z]|hip")  # the driver's and HIP's calls
ATEN_LAUNCH = re.compile("cuda.*LaunchKernel|cuLaunchKernel|runFunction")


def launched_work(rank, left_out):
    """(call, device work), without calls whose name left_out takes."""
    for row in rank.rows:
        call = rank.first_call.get(row.correlation) if row.is_work() else None
        if call and not left_out(call.name):
            yield call, row


def is_no_launch(rules, name):
    """B6: the driver's launches and HIP's; B5: all others that HTA does not know."""
    return "B6" in rules if OTHER_RUNTIME.match(name) else "B5" in rules and name not in LAUNCHES


def launches(rank, rules):
    found = collections.defaultdict(list)
    for call, row in launched_work(rank, functools.partial(is_no_launch, rules)):
        found[row.correlation].append((call.end - call.start, row.end - row.start, max(0, row.start - call.end)))
    return {(correlation, n): values for correlation, rows in found.items() for n, values in enumerate(sorted(rows))}


def kernel_launches(rank, rules):
    """The sums of those that are no copies and sets by their launch."""
    sums = [0, 0, 0, 0]
    for call, row in launched_work(rank, functools.partial(is_no_launch, rules)):
        if not MEMORY_CALL.search(call.name):
            for at, value in enumerate((1, call.end - call.start, row.end - row.start, max(0, row.start - call.end))):
                sums[at] += value
    return {(): tuple(sums)} if sums[0] else {}


def queue_points(rank, rules):
    """{stream: [(time, length)]}, a launch before a start at the same time."""
    changes = collections.defaultdict(list)
    for call, row in launched_work(rank, lambda name: "B5" in rules and name not in LAUNCHES):
        if "B12" not in rules or call.partner > 0:
            changes[row.stream] += [(call.start, 0, 1), (row.start, 1, -1)]
    points = {}
    for stream, of_stream in sorted(changes.items()):
        level, points[stream] = 0, []
        for at, _, change in sorted(of_stream):
            level += change
            points[stream].append((at, level))
    return points


def queues(rank, rules):
    return {(stream,): described([level for _, level in points]) for stream, points in queue_points(rank, rules).items()}


def blocked(rank, rules, lengths):
    """B22: of each rank the last stream alone."""
    found = {}
    for limit in lengths:
        of_limit = {}
        for stream, points in queue_points(rank, rules).items():
            if any(level >= limit for _, level in points):
                of_limit[limit, stream] = (sum(then - at for (at, level), (then, _) in zip(points, points[1:])
                                               if level >= limit),)
        found |= dict([*of_limit.items()][-1:]) if "B22" in rules else of_limit
    return found


def enclosing(operators, launch_rows, rules):
    """{launch id: the operator that begins last of those around it}. B20: of several the first in the file, else the
    innermost."""
    if "B20" in rules:
        operators = sorted(operators, key=lambda row: (row.start, -row.id))
    else:
        operators = sorted(operators, key=lambda row: (row.start, -row.end, row.id))
    starts = [row.start for row in operators]
    longest, best = [], None  # the latest end up to each operator
    for row in operators:
        best = row.end if best is None else max(best, row.end)
        longest.append(best)
    found = {}
    for launch in launch_rows:
        at = bisect.bisect_right(starts, launch.start) - 1
        while at >= 0 and longest[at] >= launch.end and operators[at].end < launch.end:
            at -= 1
        if at >= 0 and operators[at].end >= launch.end:
            found[launch.id] = operators[at]
    return found


def records(rank, rules):
    """{operator: [(launch, kernel)]}. scope: only launches of kernels, and the operators of ATen; B20: of any thread.
    Else: the innermost operator on the launch's own thread."""
    if "scope" in rules:
        calls = [row for row in rank.rows if ATEN_LAUNCH.match(row.name) and row.partner > 0]
        pairs = [(call, rank.by_id[call.partner]) for call in calls if call.partner in rank.by_id]
        operators = [row for row in rank.rows if row.name.startswith("aten::")]
    else:
        pairs = sorted(launched_work(rank, lambda name: False),
                       key=lambda pair: (pair[0].start, pair[0].id, pair[1].start, pair[1].id))
        operators = [row for row in rank.rows if row.category in oracle.OPERATOR_CATEGORIES]
    around = {}
    threads = {None} if "B20" in rules else {call.thread for call, _ in pairs}
    for thread in threads:
        around |= enclosing([row for row in operators if thread in (None, row.thread)],
                            [call for call, _ in pairs if thread in (None, call.thread)], rules)
    found = collections.defaultdict(list)
    for call, work in pairs:
        if call.id in around:
            found[around[call.id]].append((call, work))
    return found


def operator_kernels(rank, rules, earlier=()):
    """B21: with the ranks before."""
    found = collections.defaultdict(list)
    for each in [*(earlier if "B21" in rules else ()), rank]:
        for operator, pairs in records(each, rules).items():
            if operator.name.startswith("aten::"):
                call, work = pairs[0]
                found[operator.name, " -> ".join(work.name for _, work in pairs)].append(
                    (call.start - operator.start, work.start - call.start))
    return {key: (len(calls), *(statistics.fmean(delays) for delays in zip(*calls))) for key, calls in found.items()}


def sequences(rank, rules, text, least):
    """{operator and its kernels: count, their time, the calls' time}, of calls with `text` in their names that are in no
    other such one. B40: host calls of all kinds, and synchronisation counts as kernels; B13: streams from 1 on; B4: a
    call with a stream is none of the host."""
    calls = [row for row in rank.rows if text in row.name and not row.on_device() and not row.is_work() and
             ("B4" not in rules or row.stream == -1) and
             ("B40" in rules or row.category in oracle.OPERATOR_CATEGORIES or row.category == "user_annotation")]
    calls.sort(key=lambda row: (row.start, -row.end, row.id))
    below = collections.defaultdict(list)
    for row in rank.rows:
        wanted = row.is_work() or "B40" in rules and row.category == "cuda_sync" and row.stream != -1
        call = rank.first_call.get(row.correlation)
        if wanted and call and ("B13" not in rules or row.stream > 0):
            below[call.thread].append((call, row))
    found, ends = collections.defaultdict(list), {}
    for outer in calls:
        if outer.end <= ends.get(outer.thread, outer.start - 1):
            continue
        ends[outer.thread] = outer.end
        works = sorted((row for call, row in below[outer.thread] if outer.start <= call.start and call.end <= outer.end),
                       key=lambda row: (row.start, row.id))
        if len(works) >= least:
            found[" -> ".join([outer.name, *(row.name for row in works)]).replace("|", " -> "),].append(
                (sum(row.end - row.start for row in works), outer.end - outer.start))
    return {key: (len(times), *map(sum, zip(*times))) for key, times in found.items()}
