"""The rows of a trace that HTA keeps, how it links them, and what it takes them for. Rules are those of hta_model.py."""

import collections
import math
import re

import harness
import oracle

OTHER_START = re.compile("nccl|hip|runFunction|job_exe|packet|pe_exe|cpum_exe_subgraph|hccl|"
                         "collective_subgraph_execution|Stream Wait Event|cuda.*LaunchKernel")
OTHER_INSIDE = re.compile("Memcpy|Memset|dma|Sync")


def kind_by_name(name):
    if re.match("nccl|hip|hccl", name) or "ncclKernel" in name:
        return "communication"
    if re.match("Memcpy|Memset|dma", name):
        return "memory"
    return "other" if OTHER_START.match(name) or OTHER_INSIDE.search(name) else "compute"


def number(value):
    text = str(value)
    return int(text) if re.fullmatch("-?[0-9]+", text) else -1


class Row:
    __slots__ = ("id", "name", "category", "start", "end", "stream", "correlation", "bandwidth", "thread", "partner")

    def __init__(self, order, event):
        args = event.get("args") or {}
        self.id, self.name, self.category = order, event.get("name", ""), event["cat"].lower()
        self.start = oracle.ns(event["ts"])
        self.end = self.start + oracle.ns(event["dur"])
        self.stream, self.correlation = number(args.get("stream")), number(args.get("correlation"))
        self.bandwidth = float(args.get("memory bandwidth (GB/s)", 0))
        self.thread, self.partner = (event.get("pid"), event.get("tid")), -1

    def is_work(self, rules=()):
        """B3: also what MTIA does for events."""
        return oracle.is_work(self.category, self.name) or "B3" in rules and self.category == "mtia_ccp_events"

    def is_synchronisation(self):
        return self.category in ("cuda_sync", "mtia_ccp_events")

    def is_host_call(self):
        return self.category.endswith(("runtime", "driver"))

    def on_device(self):
        return self.stream >= 0 and self.correlation >= 0 or self.name in ("Event Sync", "Context Sync")


class Rank:
    """The rows of one trace that HTA keeps, in the order in which it keeps them."""

    def __init__(self, path, kinds):
        """kinds: {name: kind} of device work, for where HTA's own are not asked for."""
        self.kinds = kinds
        document = oracle.read(harness.text_of(path))
        rows = [Row(order, event) for order, event in enumerate(document["traceEvents"])
                if "dur" in event and isinstance(event.get("cat"), str) and event["cat"] != "Trace"]
        rows = [row for row in rows if not (row.is_work() and row.stream == -1)]
        if any(row.start % 1000 for row in rows):
            for row in rows:  # in doubles, as there
                start, duration = row.start / 1000, (row.end - row.start) / 1000
                row.start, row.end = math.ceil(start) * 1000, math.floor(start + duration) * 1000
        self.link(rows)
        self.rows = self.selected(rows)
        self.by_id = {row.id: row for row in self.rows}
        self.first_call = {}
        for row in sorted(self.rows, key=lambda row: (row.start, row.id)):
            if row.is_host_call() and row.correlation > 0:
                self.first_call.setdefault(row.correlation, row)

    @staticmethod
    def link(rows):
        """HTA's index_correlation: 0 means no partner, and event 0 (B12); the last of several wins (B5)."""
        sides = {True: collections.defaultdict(list), False: collections.defaultdict(list)}
        for row in rows:
            if row.correlation != -1:
                sides[row.on_device()][row.correlation].append(row)
        for row in rows:
            found = sides[not row.on_device()].get(row.correlation) if row.correlation != -1 else None
            row.partner = found[-1].id if found else 0 if row.correlation >= 0 else -1

    @staticmethod
    def selected(rows):
        marks = [row for row in rows if row.name.startswith("ProfilerStep") and not row.on_device()]
        if len({row.name for row in marks}) < 2:
            return rows
        last = max(row.start for row in marks)
        host = [row for row in rows if not row.on_device() and row.start < last]
        launched = {row.correlation for row in host if row.correlation != -1}
        return [row for row in rows if row.on_device() and row.correlation in launched] + host

    def kind(self, row, rules):
        if "B16" in rules:
            return kind_by_name(row.name)
        return self.kinds.get(row.name, "compute") if not row.is_synchronisation() or row.is_work() else "other"

    def device_rows(self, rules):
        def wanted(row):
            return row.is_work(rules) or row.stream != -1 and ("B3" if row.is_synchronisation() else "B4") in rules
        return [row for row in self.rows if wanted(row)]

    def call_of(self, row, rules):
        """The launch of device work: by HTA's link, or the first call with its number."""
        if "B12" in rules:
            return self.by_id.get(row.partner) if row.partner >= 0 else None
        return self.first_call.get(row.correlation)
