"""HTA's tables in plain Python, with each of its peculiarities as a rule that can be left out. Only to explain why a
table of HTA differs from ours: without rules the numbers are ours, with the listed ones they are HTA's. The rules are
the numbers of docs/hta.md. Times are integer ns, rows {key: numbers}."""

import collections
import itertools
import statistics

KINDS = ("compute", "communication", "memory")


def union(rows, rules):
    """A new group begins beyond all ends so far. B1: rows that rounding left with -1 us end before they start."""
    groups = []
    for start, end in sorted((row.start, row.end if "B1" in rules else max(row.start, row.end)) for row in rows):
        if not groups or start > groups[-1][1]:
            groups.append([start, end])
        else:
            groups[-1][1] = max(groups[-1][1], end)
    return groups


def length(groups):
    return sum(end - start for start, end in groups)


def temporal(rank, rules):
    rows = rank.device_rows(rules)
    busy = union(rows, rules)
    total = busy[-1][1] - busy[0][0]
    compute = length(union((row for row in rows if rank.kind(row, rules) == "compute"), rules))
    idle = total - length(busy)
    return {(): (idle, compute, total - idle - compute, total)}


def kernels_cut(rank, rules, most=10):
    """B8: per kind, where there are more names than `most`, all beyond the quantile 0.8 of the running sums become others.
    B7: then the statistics of all are those of sums per name."""
    found = {}
    of_kinds = collections.defaultdict(dict)
    for (name, kind), durations in kernel_durations(rank, rules).items():
        of_kinds[kind][name] = durations
    for kind, of_kind in of_kinds.items():
        if len(of_kind) > most and "B8" in rules:
            order = sorted(of_kind, key=lambda name: -sum(of_kind[name]))
            running = list(itertools.accumulate(sum(of_kind[name]) for name in order))
            limit = quantile(running, 0.8)
            rest = [name for at, name in enumerate(order) if running[at] > limit or at >= most]
            if "B7" in rules:
                of_kind = {name: [sum(durations)] for name, durations in of_kind.items()}
            others = [duration for name in rest for duration in of_kind[name]]
            of_kind = {name: of_kind[name] for name in order if name not in rest} | {"others": others}
        found |= {(name, kind): sum_max_min_std_mean(durations) for name, durations in of_kind.items()}
    return found


def sum_max_min_std_mean(values):
    return (sum(values), max(values), min(values), statistics.stdev(values) if len(values) > 1 else 0,
            statistics.fmean(values))


def overlap(rank, rules):
    """B19: a rank without device work has a row without a number."""
    rows = rank.device_rows(rules)
    sides = [union((row for row in rows if rank.kind(row, rules) == kind), rules) for kind in KINDS[:2]]
    both = sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in sides[0] for b in sides[1])
    return {(): (both / length(sides[1]) if length(sides[1]) else None,)}


def types(rank, rules):
    """Bits are added up, so that with B1 rows of -1 us give sets of kinds that never were."""
    rows = rank.device_rows(rules)
    changes = []
    for bit, kind in enumerate(KINDS):
        for start, end in union((row for row in rows if rank.kind(row, rules) == kind), rules):
            if end != start:
                changes += [(start, 1 << bit), (end, -1 << bit)]
    changes.sort(key=lambda change: change[0])
    level, sums = 0, collections.Counter()
    for (at, change), (then, _) in zip(changes, changes[1:]):
        level += change
        if level > 0:
            sums["+".join(kind for bit, kind in enumerate(KINDS) if level >> bit & 1)] += then - at
    return {(kinds,): (ns,) for kinds, ns in sums.items() if ns}


def kernel_durations(rank, rules):
    found = collections.defaultdict(list)
    for row in rank.device_rows(rules):
        if rank.kind(row, rules) != "other":
            found[row.name, rank.kind(row, rules)].append(row.end - row.start)
    return found


def kernels(rank, rules):
    return {key: sum_max_min_std_mean(durations) for key, durations in kernel_durations(rank, rules).items()}


def gaps(rank, rules):
    """{(stream, category): gaps}. B10: between a row and the one before it, also where that one ends before others."""
    streams = collections.defaultdict(list)
    for row in rank.rows:
        if row.is_work(rules):
            streams[row.stream].append(row)
    found = collections.defaultdict(list)
    for stream, rows in streams.items():
        rows.sort(key=lambda row: (row.start, row.end) if "B10" not in rules else row.start)
        before = rows[0].end
        for row in rows[1:]:
            gap = row.start - before if "B10" in rules else max(0, row.start - before)
            call = rank.call_of(row, rules)
            kind = "host_wait" if call and call.start > before else "kernel_wait" if gap < 30000 else "other"
            found[stream, kind].append(gap)
            before = row.end if "B10" in rules else max(before, row.end)
    return found


def idle(rank, rules):
    return {key: (sum(found),) for key, found in gaps(rank, rules).items()}


def idle_statistics(rank, rules):
    return {key: described(found) for key, found in gaps(rank, rules).items()}


def quantile(ordered, share):
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def described(values):
    ordered = sorted(values)
    return (len(ordered), statistics.fmean(ordered), statistics.stdev(ordered) if len(ordered) > 1 else 0, ordered[0],
            *(quantile(ordered, share) for share in (0.25, 0.5, 0.75)), ordered[-1])


def bandwidths(rank, rules):
    """B23: a running sum of floats leaves more than 0 where nothing is in flight, and it counts."""
    changes = collections.defaultdict(list)
    for row in rank.rows:
        if row.is_work() and row.name.startswith(("Memcpy", "Memset")):
            end = row.end if row.end > row.start or row.end < row.start and "B1" in rules else row.start + 1000
            order = len(changes)
            name = row.name[:6] if row.name.startswith("Memset") else row.name[:11]
            changes[name] += [(row.start, 0, order, row.bandwidth), (end, 1, order, -row.bandwidth)]
    found = {}
    for name, of_name in changes.items():
        level, points = 0, []
        for _, _, _, change in sorted(of_name, key=lambda c: c[:2]):
            level += change if "B23" in rules else round(change * 1e13)
            if level > 0:
                points.append(level if "B23" in rules else level / 1e13)
        if points:
            found[(name,)] = described(points)
    return found
