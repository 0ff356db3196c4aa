"""What a file contains or is called cannot steer the terminal that shows it: no control character but the line break comes out."""

import json

import pytest

import harness

EVIL = "a\x1b[31mb\rc\nd\x07e\x9bf"
KERNEL = {"ph": "X", "cat": "kernel", "name": EVIL, "pid": 0, "tid": 7, "ts": 10, "dur": 5,
          "args": {"device": 0, "stream": 7, "correlation": 1}}
LAUNCH = {"ph": "X", "cat": "cuda_runtime", "name": EVIL, "pid": 1, "tid": 1, "ts": 5, "dur": 2,
          "args": {"correlation": 1}}
STEPS = [{"ph": "X", "cat": "user_annotation", "name": EVIL, "pid": 1, "tid": 1, "ts": 100 * n, "dur": 90}
         for n in range(4)]
OPERATOR = {"ph": "X", "cat": "cpu_op", "name": EVIL, "pid": 1, "tid": 1, "ts": 4, "dur": 5}
TRACE = {"schemaVersion": 1, "host_name": EVIL, "traceName": EVIL, "deviceProperties": [{"id": 0, "name": EVIL}],
         "distributedInfo": {"rank": 0, "backend": EVIL}, EVIL: EVIL,
         "traceEvents": [OPERATOR, LAUNCH, KERNEL, *STEPS]}

TEXTS = {
    "escaped": json.dumps(TRACE),
    "raw": json.dumps(TRACE, ensure_ascii=False).replace("\\u001b", "\x1b").replace("\\u0007", "\x07"),
    "cut short": json.dumps(TRACE)[:-10],  # so that a note names the file
    "no trace": json.dumps({EVIL: 1, "other": 2}),
    "no trace, raw": json.dumps({"key": 1}).replace("key", "k\x1b[31my\x1d"),
    "no JSON": "\x1b[31m",
}


def controls(data):
    return sorted({c for c in data.decode() if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160})


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("options", [(), ("--table", "summary", "--table", "kernel_breakdown", "--table", "operators",
                                          "--table", "steps")], ids=["report", "tables"])
@pytest.mark.parametrize("name", ["trace.json", EVIL + ".json"], ids=["plain name", "evil name"])
def test_no_control_characters(text, options, name, tmp_path):
    path = tmp_path / name
    path.write_text(TEXTS[text], newline="")
    done = harness.run("analyze", path, *options)
    assert controls(done.stdout) == []
    assert controls(done.stderr) == []
    if done.returncode:
        assert len(done.stderr.decode().splitlines()) == 1, done.stderr
