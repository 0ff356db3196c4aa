#!/usr/bin/env python3
"""Makes large traces from a small one.

generate.py SOURCE OUTPUT [--copies N] [--level L] [--ranks R]

The events of SOURCE are written N times. In copy k every time is k windows later and every id (correlation, flow,
External id, Ev Idx, Python id, sequence number, ...) and ProfilerStep number is moved past those of copy k-1, so that
copies never share one and links stay inside a copy; names, arguments and layout stay as they are, and so does the
ratio at which gzip packs the text. With --ranks, OUTPUT is a folder that gets rank0.json.gz ... with
distributedInfo.rank and world_size set. An output that does not end in .gz is plain text.
"""

import argparse
import gzip
import json
import operator
import pathlib
import re
import sys

# Ids by the number space they live in: one space is moved by one distance. A value under `first` means "none" and
# stays.
SPACES = [
    # (keys, first)
    (("correlation", "External id", "external id", "id", "wait_on_cuda_event_record_corr_id"), 1),
    (("Record function id",), 1),
    (("Ev Idx", "Profiler Event Index"), 0),
    (("Sequence number",), 0),
    (("Python id", "Python parent id"), 0),
]
TIME, STEP = "ts", "ProfilerStep#"
SPACE_OF = {key: (number, first) for number, (keys, first) in enumerate(SPACES) for key in keys}

# A key that ends in an unescaped quote cannot lie inside a string, so only real members match; a step's number may be
# part of a longer name. Only the integer part of a time is taken: windows are whole microseconds.
NUMBER = re.compile(r'("(?:%s)"\s*:\s*|ProfilerStep#)(-?\d+)' % "|".join([TIME, *SPACE_OF]))


def read_text(path):
    data = pathlib.Path(path).read_bytes()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()


def window_us(events):
    """Whole microseconds from the first start to the last end of the complete events, and 1 ms between windows."""
    spans = [(e["ts"], e["ts"] + e["dur"]) for e in events
             if e.get("ph") == "X" and isinstance(e.get("ts"), (int, float)) and e["ts"] >= 0
             and isinstance(e.get("dur"), (int, float))]
    if not spans:
        raise SystemExit("generate.py: the source has no complete event")
    return int(max(end for _, end in spans)) - int(min(start for start, _ in spans)) + 1000


class Repeater:
    """The event text of a trace as one %-format with a number at each place that differs between copies."""

    def __init__(self, text, window):
        parts, self.values, kinds = [], [], []
        position = 0
        for match in NUMBER.finditer(text):
            key = match[1].split('"')[1] if match[1][0] == '"' else STEP
            value = int(match[2])
            if key in SPACE_OF and value < SPACE_OF[key][1]:
                continue
            parts.append(text[position:match.start(2)].replace("%", "%%"))
            position = match.end(2)
            self.values.append(value)
            kinds.append(SPACE_OF[key][0] if key in SPACE_OF else key)
        parts.append(text[position:].replace("%", "%%"))
        self.template = "%d".join(parts)
        ranges = {}
        for kind, value in zip(kinds, self.values):
            low, high = ranges.get(kind, (value, value))
            ranges[kind] = (min(low, value), max(high, value))
        distance = {kind: high + 1 - min(low, 1) for kind, (low, high) in ranges.items()}
        distance[TIME] = window
        if STEP in ranges:
            distance[STEP] = ranges[STEP][1] - ranges[STEP][0] + 1
        self.steps = [distance[kind] for kind in kinds]

    def copies(self, count):
        values = self.values
        for copy in range(count):
            if copy:
                values = list(map(operator.add, values, self.steps))
            yield self.template % tuple(values)


def split(text):
    """The text before the events, the events, and after them; and the decoded events."""
    key = re.search(r'"traceEvents"\s*:\s*(?=\[)', text)
    if not key:
        raise SystemExit("generate.py: the source has no traceEvents")
    events, end = json.JSONDecoder().scan_once(text, key.end())
    return text[:key.end() + 1], text[key.end() + 1:end - 1].strip(), text[end - 1:], events


def with_rank(head, tail, rank, ranks):
    """Head and tail with distributedInfo.rank and world_size set; the member is added where there is none."""
    for part in (head, tail):
        key = re.search(r'"distributedInfo"\s*:\s*(?=\{)', part)
        if not key:
            continue
        info, end = json.JSONDecoder().scan_once(part, key.end())
        changed = part[:key.end()] + json.dumps({**info, "rank": rank, "world_size": ranks}) + part[end:]
        return (changed, tail) if part is head else (head, changed)
    brace = head.index("{") + 1
    info = json.dumps({"rank": rank, "world_size": ranks})
    return f'{head[:brace]}"distributedInfo": {info}, {head[brace:]}', tail


def write(path, head, blocks, tail, level):
    out = gzip.open(path, "wb", level) if path.suffix == ".gz" else open(path, "wb")
    with out:
        out.write(head.encode())
        for number, block in enumerate(blocks):
            out.write((",\n  " if number else "").encode())
            out.write(block.encode())
        out.write(tail.encode())


def generate(source, output, copies=1, level=6, ranks=0):
    """Writes one file, or `ranks` files into the folder `output`. Returns the paths."""
    head, text, tail, events = split(read_text(source))
    output = pathlib.Path(output)
    repeater = Repeater(text, window_us(events))
    del text, events
    if not ranks:
        output.parent.mkdir(parents=True, exist_ok=True)
        write(output, head, repeater.copies(copies), tail, level)
        return [output]
    output.mkdir(parents=True, exist_ok=True)
    paths = [output / f"rank{rank}.json.gz" for rank in range(ranks)]
    for rank, path in enumerate(paths):
        rank_head, rank_tail = with_rank(head, tail, rank, ranks)
        write(path, rank_head, repeater.copies(copies), rank_tail, level)
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source")
    parser.add_argument("output")
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--level", type=int, default=6, help="of gzip")
    parser.add_argument("--ranks", type=int, default=0, help="write so many files into the folder OUTPUT")
    args = parser.parse_args()
    for path in generate(args.source, args.output, args.copies, args.level, args.ranks):
        print(path, path.stat().st_size)


if __name__ == "__main__":
    sys.exit(main())
