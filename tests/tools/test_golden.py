"""tools/golden with a shell script in the place of spotter."""
import pathlib
import subprocess

import pytest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"


@pytest.fixture
def golden(tmp_path, monkeypatch):
    spotter = tmp_path / "spotter"
    spotter.write_text('#!/bin/sh\nfor f; do wc -c < "$f"; done\necho "read $# files" >&2\n')
    spotter.chmod(0o755)
    monkeypatch.setenv("SPOTTER_SHARED", str(tmp_path / "none"))

    def run(text: str, *options: str):
        test = tmp_path / "a.test"
        test.write_text(text)
        done = subprocess.run([TOOLS / "golden", test, "--spotter", spotter, *options], capture_output=True, text=True)
        return done, test.read_text()

    return run


GOOD = """# Plain and escaped files are written byte by byte.
file a.json <<END
12
END
file b.json escaped <<END
\\x00\\xff\\\\\\
\\n
END
run spotter a.json b.json
exit 0
stdout <<END
3
5
END
stderr <<END
read 2 files
END

# A second case does not see the files of the first.
run ls
"""


def test_passes(golden):
    done, _ = golden(GOOD)
    assert done.stdout.endswith("golden: 2 passed, 0 failed\n") and done.returncode == 0


@pytest.mark.parametrize("old, new, words", [
    ("3\n5\n", "3\n4\n", "-4\n+5"),
    ("exit 0", "exit 1", "exit status 0, wanted 1"),
    ("read 2 files\n", "read 2 files\nmore\n", "-more"),
    ("stderr <<END\nread 2 files\nEND\n", "", "+read 2 files"),
    ("run ls", "run echo new", "+new"),
    ("run ls", "", "runs nothing"),
    ("run ls", "unzip a\nrun ls", "no such directive: unzip a"),
    ("run ls", "gzip absent\nrun ls", "absent"),
    ("run ls", "file ../a <<END\nEND\nrun ls", "no path inside"),
    ("\\\\", "\\q", "a backslash in escaped text"),
])
def test_fails(golden, old, new, words):
    assert old in GOOD
    done, _ = golden(GOOD.replace(old, new))
    assert done.returncode == 1 and words in done.stdout, done.stdout
    assert "1 failed" in done.stdout


def test_unfinished_document_is_an_error(golden):
    done, _ = golden("# A title\nfile a <<END\n")
    assert done.returncode == 2 and "no closing END" in done.stderr


def test_input_directives(golden):
    done, _ = golden("""# Every way to make input.
file a <<END
hello
END
truncate a 4
gzip a
file b <<END
hello
END
zstd b
mkdir c/d
run ls; zcat a.gz; echo; zstd -dcq b.zst; ls c
stdout <<END
a.gz
b.zst
c
hell
hello
d
END
""")
    assert done.returncode == 0, done.stdout


def test_update_rewrites_only_expectations(golden):
    stale = GOOD.replace("3\n5\n", "9\n").replace("read 2 files", "old")
    done, text = golden(stale, "--update")
    assert done.returncode == 0 and text == GOOD


def test_update_escapes_odd_bytes_and_can_be_read_back(golden):
    done, text = golden("# Odd.\nrun printf 'a\\\\\\0\\n\\377'; exit 3\n", "--update")
    assert done.returncode == 0 and "exit 3\nstdout escaped <<END\na\\\\\\x00\n\\xff\\\nEND\n" in text
    done, _ = golden(text)
    assert done.returncode == 0, done.stdout


def test_skips_without_shared_traces(golden):
    done, _ = golden(GOOD + "\n# Needs them.\nneeds shared\nrun ls $SHARED\nstdout <<END\nx\nEND\n")
    assert done.returncode == 0
    assert "skipped: a.test:22: the shared traces are not here" in done.stdout
    assert done.stdout.endswith("golden: 2 passed, 0 failed, 1 skipped\n")


def test_no_case_is_not_a_pass(golden):
    done, _ = golden("")
    assert done.returncode == 1


def test_summary_of_result_files(golden, tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    golden(GOOD.replace("run ls", "run echo new"), "--xml", str(results / "golden.xml"))
    (results / "unit.xml").write_text(
        '<testsuites><testsuite><testcase name="a" status="run" result="completed" classname="S"/>'
        '<testcase name="b" status="run" result="skipped" classname="S"><skipped message="no traces"/></testcase>'
        '<testcase name="c" status="notrun" result="suppressed" classname="S"/></testsuite></testsuites>')
    done = subprocess.run([TOOLS / "summarise", results], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "2 passed, 1 failed, 2 skipped"
    assert "failed: golden: golden.a.test:19 A second case" in done.stdout
    assert "skipped: unit: 1 x no traces" in done.stdout


def test_summary_of_nothing_fails(tmp_path):
    done = subprocess.run([TOOLS / "summarise", tmp_path], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == "0 passed, 0 failed\n"
