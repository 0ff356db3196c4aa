"""A page with a made timeline in it: as many spans as a test wants, without a trace of that size."""

import array
import base64
import gzip
import json
import random
import struct

import harness

PAGE = harness.ROOT / "web" / "dist" / "page.html"
START_NS = 1_792_066_626_000_000_000
KINDS = ["compute", "communication", "memory", "operator", "runtime", "annotation", "python"]


def planes(code, numbers):
    """Bytes of numbers, the lowest of all first."""
    numbers = array.array(code, numbers)
    raw = numbers.tobytes()
    return b"".join(raw[byte :: numbers.itemsize] for byte in range(numbers.itemsize))


def integers(name, numbers, base=0, **more):
    return {"name": name, "type": "integer", "coding": "plain", "width": 4, "base": str(base), **more}, planes("i", numbers)


def texts(name, words, places):
    return {"name": name, "type": "text", "coding": "dictionary", "width": 2, "words": words}, planes("H", places)


def document(*tables):
    """Tables in x-spotter-columns; a table is its name, its rows and its columns."""
    header = {"notes": [], "tables": []}
    body = b""
    for name, rows, columns in tables:
        common = {"unit": "none", "role": "value", "help": ""}
        header["tables"].append({"name": name, "rows": rows, "notes": [], "columns": [{**common, **column} for column, _ in columns]})
        body += b"".join(data for _, data in columns)
    text = json.dumps(header).encode()
    return b"SPT1" + struct.pack("<I", len(text)) + text + body


def rows_of_texts(name, columns, rows):
    made = []
    for c, column in enumerate(columns):
        words = sorted({row[c] for row in rows})
        made.append(texts(column, words, [words.index(row[c]) for row in rows]))
    return name, len(rows), made


def spans(count, threads, deep=1, seed=1):
    """Threads with so many lanes, all over the same time, with a few hundred names."""
    randomness = random.Random(seed)
    each = count // (threads * deep)
    starts, durations, lines, depths = [], [], [], []
    for lane in range(threads * deep):
        time = 0
        for _ in range(each):
            length = int(randomness.expovariate(1 / 3_000)) + 100
            starts.append(time)
            durations.append(length)
            time += length + int(randomness.expovariate(1 / 1_500))
        lines += [lane // deep] * each
        depths += [lane % deep] * each
    rows = len(starts)
    zero = [0] * rows
    names = [f"aten::operator_{i}_of_many" for i in range(400)]
    return "spans", rows, [
        texts("side", ["host"], zero),
        integers("thread", lines),
        integers("device", zero),
        integers("stream", zero),
        integers("start_ns", starts, START_NS, unit="ns", role="time"),
        integers("dur_ns", durations, unit="ns"),
        texts("name", names, [randomness.randrange(400) for _ in range(rows)]),
        texts("kind", KINDS, [randomness.randrange(len(KINDS)) for _ in range(rows)]),
        integers("depth", depths),
        integers("lane", zero),
        integers("process", zero),
        integers("event", range(rows)),
        nulls("link", rows),
    ]


def nulls(name, rows):
    column, data = integers(name, [0] * rows, nulls=True)
    return column, b"\xff" * ((rows + 7) // 8) + data


def report(path, made):
    """Writes a page that has `made` as the spans of rank 0."""
    facts = [("start_ns", str(START_NS)), ("title", "many spans")]
    job = document(
        rows_of_texts("jobs", ["id", "folder"], [("made", "made")]),
        rows_of_texts("facts", ["name", "value"], facts),
        rows_of_texts("ranks", ["rank", "path", "host"], [("0", "made.json", "node000")]),
        ("analyses", 0, [texts(name, [], []) for name in ("name", "summary", "doc", "on_request", "params")]),
    )
    blocks = {"job": job, "tables": document(), "spans/0": document(made)}
    text = "".join(
        f'<script type="application/octet-stream" id="{name}">{base64.b64encode(gzip.compress(data, 1)).decode()}</script>\n'
        for name, data in blocks.items()
    )
    # By its bytes: the script's hash is theirs.
    path.write_bytes(PAGE.read_bytes().replace(b"<!--spotter:data-->", text.encode()))
    return path
