"""Cut and changed files: the program answers or says in one line why not, loses nothing that is whole, and tells of
every loss. SPOTTER_SWEEP is the number of variants of each sort (100)."""

import functools
import gzip
import json
import os
import random
import re
import zlib

import pytest

import harness

SWEEP = int(os.environ.get("SPOTTER_SWEEP", 100))
LIMIT_S = 10

# A megabyte or less, so that a run takes a few ms. Together they have kernels, flows, events of every phase, and the
# three layouts: several members a line, one a line, everything on one line.
TRACES = (
    "fixtures/traces/gpu_training/rank0.json.gz",
    "shared/hta/cupti_profiler/benchmark_result_924719_1679055439_trace.json.gz",
    "shared/hta/critical_path/end_to_end/simple_add/output/overlaid_critical_path_trace.json.gz",
    "shared/hta/trace_compare/test/test.json.gz",
)
FILES = {name: path for name, path in harness.trace_files() if name in TRACES}
sweep = pytest.mark.parametrize("name", FILES)


class Original:
    """A whole trace: its text and where each event ends, by the standard library's scanner."""

    def __init__(self, path):
        self.text = harness.text_of(path)
        text = self.text.decode("latin-1")  # so that a place in the text is a place in the bytes
        self.array = re.search(r'"traceEvents"\s*:\s*\[', text).end()
        scan, place, self.ends = json.JSONDecoder().scan_once, self.array, []
        while True:
            place += len(re.match(r"[\s,]*", text[place:place + 200])[0])
            if text[place] == "]":
                break
            event, place = scan(text, place)
            assert isinstance(event, dict)
            self.ends.append(place)
        self.array_end = place

    def whole_before(self, place):
        """The number of events that lie wholly in the first `place` bytes."""
        return sum(end <= place for end in self.ends)


@functools.lru_cache
def original_of(name):
    return Original(FILES[name])


class Outcome:
    """What a run on damaged bytes gave: `events` is None where the program refused the file."""

    def __init__(self, data, tmp_path, options=()):
        path = tmp_path / "damaged"
        path.write_bytes(data)
        done = harness.run("analyze", path, "--format", "json", *options, timeout=LIMIT_S)
        assert done.returncode in (0, 1), f"exit {done.returncode}: {done.stderr!r}"
        self.events, self.losses = None, []
        if done.returncode == 1:
            lines = done.stderr.decode().splitlines()
            assert len(lines) == 1 and lines[0].strip(), done.stderr
            assert not done.stdout
            return
        answer = harness.Answer(json.loads(done.stdout))
        (summary,) = answer["summary"]
        self.events = summary["events"]
        self.losses = [note for note in answer.notes if note["severity"] == "loss"]
        assert len(self.losses) == summary["losses"]


def changed(data, generator, first=0, last=None):
    """The bytes with one of them, in [first, last), replaced by another one; and its place."""
    place = generator.randrange(first, last or len(data))
    other = (data[place] + generator.randrange(1, 256)) % 256
    return data[:place] + bytes([other]) + data[place + 1:], place


def all_wrong(variants):
    """Runs every variant and reports all failures together."""
    wrong = []
    for title, check in variants:
        try:
            check()
        except AssertionError as error:
            wrong.append(f"{title}: {str(error).splitlines()[0]}")
    assert not wrong, "\n".join([f"{len(wrong)} of {SWEEP}:", *wrong[:20]])


@sweep
def test_undamaged(name, tmp_path):
    original = original_of(name)
    for data in (original.text, gzip.compress(original.text)):
        outcome = Outcome(data, tmp_path)
        assert outcome.events == len(original.ends)
        assert not outcome.losses


@sweep
def test_cut_text(name, tmp_path):
    """Every event that is whole before the cut is kept, nothing is invented, and the cut is told."""
    original, generator = original_of(name), random.Random(f"cut text {name}")

    def check(place):
        outcome = Outcome(original.text[:place], tmp_path)
        if place < original.array:
            assert not outcome.events, f"{outcome.events} events before the first one"
            return
        whole = original.whole_before(place)
        assert outcome.events == whole, f"{outcome.events} events, {whole} are whole"
        assert outcome.losses, "the cut is not told"

    places = [generator.randrange(len(original.text) - 2) for _ in range(SWEEP)]
    all_wrong((f"cut at {place}", lambda place=place: check(place)) for place in places)


@sweep
def test_changed_text(name, tmp_path):
    """One changed byte in the events costs one event at most, and that is told."""
    original, generator = original_of(name), random.Random(f"changed text {name}")

    def check(data):
        outcome = Outcome(data, tmp_path)
        count = len(original.ends)
        assert outcome.events is not None, "refused"
        assert count - 1 <= outcome.events <= count, f"{outcome.events} events of {count}"
        assert outcome.events == count or outcome.losses, "the loss is not told"

    variants = [changed(original.text, generator, original.array, original.array_end) for _ in range(SWEEP)]
    all_wrong((f"byte {place} is {data[place]:#04x}", lambda data=data: check(data)) for data, place in variants)


@harness.needs_shared()
@pytest.mark.parametrize("name", [name for name, _ in harness.trace_files() if name.endswith("/nccl_data.json.gz")])
def test_many_changes_and_threads(name, tmp_path):
    """In a trace that several threads share, twenty changed bytes cost twenty events at most, and all numbers of
    threads give the same bytes."""
    original, generator = Original(dict(harness.trace_files())[name]), random.Random(f"many {name}")
    path = tmp_path / "damaged"
    for _ in range(max(1, SWEEP // 25)):
        data = bytearray(original.text)
        for place in generator.sample(range(original.array, original.array_end), 20):
            data[place] = generator.randrange(256)
        path.write_bytes(data)
        outputs = [harness.run("analyze", path, "--format", "json", "--threads", threads).stdout
                   for threads in (1, 2, 8)]
        assert outputs[1] == outputs[0] and outputs[2] == outputs[0]
        (summary,) = harness.Answer(json.loads(outputs[0]))["summary"]
        assert len(original.ends) - 20 <= summary["events"] <= len(original.ends)


@sweep
def test_changed_frame(name, tmp_path):
    """A changed byte before or behind the events may cost the whole file, but only with a clear word."""
    original, generator = original_of(name), random.Random(f"changed frame {name}")

    def check(data, place):
        outcome = Outcome(data, tmp_path)
        if place > original.array_end:
            assert outcome.events == len(original.ends), f"{outcome.events} events of {len(original.ends)}"

    head = [changed(original.text, generator, 0, original.array) for _ in range(SWEEP // 2)]
    tail = [changed(original.text, generator, original.array_end) for _ in range(SWEEP // 2)]
    all_wrong((f"byte {place} is {data[place]:#04x}", lambda data=data, place=place: check(data, place))
              for data, place in head + tail)


def inflated(data):
    """What can be had from damaged gzip bytes, and whether it is a whole file with a right checksum."""
    inflater = zlib.decompressobj(wbits=31)
    text = b""
    try:
        for start in range(0, len(data), 256):  # in pieces: an error hides only what its own piece would have given
            text += inflater.decompress(data[start:start + 256])
    except zlib.error:
        return text, False
    return text, inflater.eof


def equal_bytes(a, b):
    """The length of the longest common beginning, to the nearest block below."""
    block = 4096
    return next((start for start in range(0, min(len(a), len(b)), block)
                 if a[start:start + block] != b[start:start + block]), min(len(a), len(b)))


@sweep
def test_cut_gzip(name, tmp_path):
    """What a cut file still gives when inflated is read like cut text."""
    original, generator = original_of(name), random.Random(f"cut gzip {name}")
    packed = gzip.compress(original.text, 6)

    def check(place):
        outcome = Outcome(packed[:place], tmp_path)
        text, _ = inflated(packed[:place])
        whole = original.whole_before(len(text))
        assert outcome.events == whole if whole else not outcome.events, f"{outcome.events} events, {whole} are whole"
        assert outcome.losses or outcome.events is None, "the cut is not told"

    places = [generator.randrange(len(packed)) for _ in range(SWEEP)]
    all_wrong((f"cut at {place}", lambda place=place: check(place)) for place in places)


@sweep
def test_changed_gzip(name, tmp_path):
    """A changed byte may garble all that follows; what is whole before it is kept, and a wrong checksum is told."""
    original, generator = original_of(name), random.Random(f"changed gzip {name}")
    packed = gzip.compress(original.text, 6)

    def check(data):
        outcome = Outcome(data, tmp_path)
        text, sound = inflated(data)
        if sound:  # a byte that means nothing, such as the time in the header
            assert outcome.events == len(original.ends)
            return
        assert outcome.losses or outcome.events is None, "the damage is not told"
        whole = original.whole_before(equal_bytes(text, original.text))
        assert (outcome.events or 0) >= whole, f"{outcome.events} events, {whole} come before the damage"

    variants = [changed(packed, generator) for _ in range(SWEEP)]
    all_wrong((f"byte {place} is {data[place]:#04x}", lambda data=data: check(data)) for data, place in variants)
