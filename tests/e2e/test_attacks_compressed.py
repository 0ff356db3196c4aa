"""Compressed files made to harm who unpacks them: small ones that become large, ones that ask for memory, ones of a million
parts. No compressor writes these; the formats say how one would."""

import gzip
import json
import subprocess

import pytest

from agent import clean_environment, program
from hostile_files import EVENT, SANITIZED, TRACE, Done, notes, summary

BEGIN = b'{"traceEvents":[' + json.dumps(EVENT).encode()
END = b"]}"
EMPTY_MEMBER = gzip.compress(b"")
LARGEST = 31  # logarithm of a window
LARGE = 192 << 20  # bytes of text that a small file becomes


def block(text, is_last=False):
    """Of zstd, uncompressed (RFC 8878, 3.1.1.2)."""
    return (len(text) << 3 | is_last).to_bytes(3, "little") + text


def blanks(count):
    """Blocks that repeat one byte, 128 KiB each."""
    return ((128 << 10) << 3 | 1 << 1).to_bytes(3, "little") + b" "


def frame(blocks, window=17):
    return b"\x28\xb5\x2f\xfd" + bytes([0, (window - 10) << 3]) + blocks


def zstd_bomb(begin=BEGIN, end=END, window=17, size=LARGE):
    """Blanks between two parts of a text, 4 bytes for each 128 KiB."""
    return frame(block(begin) + blanks(size) * (size >> 17) + block(end, True), window)


def gzip_bomb(begin=BEGIN, end=END, size=LARGE):
    """As members, so that it is made in no time."""
    mib = gzip.compress(b" " * (16 << 20), 9)
    return gzip.compress(begin) + mib * (size >> 24) + gzip.compress(end)


STRING = BEGIN + b',{"ph":"X","name":"'  # that blanks go on with, and nothing ends
BOMBS = {
    "zstd, blanks": (lambda: zstd_bomb(), set()),
    "zstd, a string": (lambda: zstd_bomb(STRING, b""), {"truncated", "damaged_event"}),
    "zstd, behind the events": (lambda: zstd_bomb(BEGIN + b"]", b"}"), {"damaged_metadata"}),
    "zstd, before the events": (lambda: zstd_bomb(b"", BEGIN + END), None),
    "gzip, blanks": (lambda: gzip_bomb(), set()),
    "gzip, a string": (lambda: gzip_bomb(STRING, b""), {"truncated", "damaged_event"}),
    "gzip, a name of a member": (lambda: b"\x1f\x8b\x08\x08" + bytes(6) + b"x" * (64 << 20), None),
    "a million gzip members": (lambda: EMPTY_MEMBER * 1_000_000 + gzip.compress(TRACE), set()),
    "a million zstd frames": (lambda: frame(block(b"", True)) * 1_000_000 + frame(block(TRACE, True)), set()),
    "a million zstd frames with windows": (lambda: b"".join(frame(block(b"", True), w) for w in (10, LARGEST)) * 500_000
                                           + frame(block(TRACE, True)), set()),
    "a million skippable frames": (lambda: b"\x50\x2a\x4d\x18\0\0\0\0" * 1_000_000 + frame(block(TRACE, True)), set()),
    "a million zstd blocks": (lambda: frame(block(b"") * 1_000_000 + block(TRACE, True)), set()),
    "a skippable frame without end": (lambda: b"\x50\x2a\x4d\x18\xff\xff\xff\xff" + TRACE, None),
    "a dictionary that is not there": (lambda: b"\x28\xb5\x2f\xfd" + bytes([3, 56]) + b"\1\2\3\4" + block(TRACE, True), None),
    "a frame of 2^63 bytes": (lambda: b"\x28\xb5\x2f\xfd\xc0" + bytes([56]) + bytes(7) + b"\x80" + block(TRACE, True), None),
    "one segment of 2 GiB": (lambda: b"\x28\xb5\x2f\xfd\xa0" + (2 << 30).to_bytes(4, "little") + block(TRACE, True), None),
    "a window of 1 TiB": (lambda: frame(block(TRACE, True), 40), None),
}


@pytest.mark.parametrize("make, noted", BOMBS.values(), ids=BOMBS.keys())
def test_small_files_that_become_large(tmp_path, make, noted):
    """`noted`: what is told of the loss, or None where nothing can be read of it and it has an error."""
    folder = tmp_path / "traces"
    folder.mkdir()
    stored = make()
    (folder / ("bomb.json.gz" if stored.startswith(b"\x1f") else "bomb.json.zst")).write_bytes(stored)
    if noted is None:
        done = Done("analyze", ".", "--table", "summary", cwd=folder)
        assert done.status == 1 and b"bomb.json" in done.err, done.err
        return
    rows, done = summary(folder)
    row, = rows.values()
    assert row["spans"] == 1
    assert set(notes(done)) == noted


def test_windows_of_2_gib(tmp_path):
    """What the window asks for is not held before there is text for it, in as many files as one likes."""
    folder = tmp_path / "traces"
    folder.mkdir()
    for n in range(8):
        (folder / f"rank{n}.json.zst").write_bytes(frame(block(TRACE, True), LARGEST))
        (folder / f"capture-{n}.json.zst").write_bytes(frame(block(b'{"tables":[]}', True), LARGEST))
    rows, _ = summary(folder)
    assert len(rows) == 8


@pytest.mark.skipif(SANITIZED, reason="sanitizers take terabytes of address space for themselves")
def test_a_window_for_which_there_is_no_memory(tmp_path):
    """That is not damage."""
    (tmp_path / "large.json.zst").write_bytes(frame(block(TRACE, True), LARGEST))
    done = subprocess.run(["sh", "-c", "ulimit -v 1500000; exec \"$@\"", "sh", program(), "analyze", "large.json.zst"], cwd=tmp_path,
                          env=clean_environment(), capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert done.stderr == "spotter: large.json.zst: there is not enough memory for the window of its zstd data\n"
