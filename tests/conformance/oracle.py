"""A second reading of a trace in plain Python, written from the definitions and sharing nothing with the program:
json for the text, decimal text to integer ns for time, loops for the rest."""

import collections
import decimal
import json

DEVICE_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "mtia_ccp_events"}
EVENT_ROWS = {"event_wait", "event_record"}
OPERATOR_CATEGORIES = {"cpu_op", "operator"}


def is_work(category, name):
    """Of a span; the category in lower case. Counters of the profiler and what MTIA does for events are no work."""
    if category == "kernel" and name.startswith("metrics: ") or category == "mtia_ccp_events" and name in EVENT_ROWS:
        return False
    return category in DEVICE_CATEGORIES


def is_device_work(event):
    return isinstance(event.get("cat"), str) and is_work(event["cat"].lower(), event.get("name", ""))


class Decimal(str):
    """A JSON number with a fraction or an exponent, as its text."""


def ns(microseconds):
    """Microseconds, as an int or a Decimal, to integer ns; None where it is no number."""
    if type(microseconds) is int:
        return microseconds * 1000
    if type(microseconds) is Decimal:
        return int((decimal.Decimal(microseconds) * 1000).to_integral_value())
    return None


def read(text):
    return json.loads(text, parse_float=Decimal)


class Span:
    __slots__ = ("name", "category", "thread", "start", "end", "order")

    def __init__(self, event, start, duration, order):
        self.name, self.category = event.get("name", ""), event["cat"].lower()
        self.thread = (event.get("pid"), event.get("tid"))
        self.start, self.end, self.order = start, start + max(duration, 0), order


class Trace:
    """`ph` X (or none), numeric ts and dur, and a category make a span; a negative dur counts as 0. The category
    Trace is none: its one span is the profiler's window, nothing that ran."""

    def __init__(self, text):
        document = read(text)
        if isinstance(document, list):  # the oldest writers
            document = {"traceEvents": document}
        events = document["traceEvents"]
        if events and not any(isinstance(event, dict) for event in events):
            raise ValueError("a list of something else")
        distributed = document.get("distributedInfo", {})
        self.base_ns = document.get("baseTimeNanoseconds", 0)
        self.rank, self.world_size = distributed.get("rank"), distributed.get("world_size")
        self.host = document.get("host_name")
        self.events = sum(isinstance(event, dict) for event in events)
        self.spans = []
        for order, event in enumerate(events):
            if not isinstance(event, dict) or event.get("ph", "X") != "X" or not isinstance(event.get("cat"), str):
                continue
            if event["cat"].lower() == "trace":
                continue
            start, duration = ns(event.get("ts")), ns(event.get("dur"))
            if start is not None and duration is not None:
                self.spans.append(Span(event, start, duration, order))
        self.device = [span for span in self.spans if is_work(span.category, span.name)]

    def kernels(self):
        """Device work by name: count, sum, min and max of the durations."""
        durations = collections.defaultdict(list)
        for span in self.device:
            durations[span.name].append(span.end - span.start)
        return {name: (len(d), sum(d), min(d), max(d)) for name, d in durations.items()}

    def idle(self):
        """The time between the first and the last device work in which none runs; None without device work."""
        idle, end = 0, None
        for span in sorted(self.device, key=lambda span: span.start):
            idle += max(0, span.start - end) if end is not None else 0
            end = max(end, span.end) if end is not None else span.end
        return None if end is None else idle

    def operators(self):
        """Operators by name: calls, and the total of those instances that lie in no other one of that name and thread.

        Sorted by start, longest first, an instance lies in an earlier one exactly if some earlier one ends no sooner.
        """
        instances = collections.defaultdict(list)
        for span in self.spans:
            if span.category in OPERATOR_CATEGORIES:
                instances[span.name, span.thread].append(span)
        result = collections.defaultdict(lambda: [0, 0])
        for (name, _), spans in instances.items():
            spans.sort(key=lambda span: (span.start, -span.end, span.order))
            last_end = None
            for span in spans:
                result[name][0] += 1
                if last_end is None or span.end > last_end:
                    result[name][1] += span.end - span.start
                    last_end = span.end
        return {name: tuple(sums) for name, sums in result.items()}
