"""tools/same_answers with shell scripts in the places of the two programs."""
import pathlib
import subprocess

import pytest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
# Beside what is asked of it, one must list its analyses and measure a machine.
PROGRAM = """#!/bin/sh
case "$*" in
  *--once*) echo '{"tables": []}';;
  "help nope") echo first; echo second;;
  "help analyze more") echo third >&2;;
  "help agent") exit 5;;
  "help trace") echo fourth > file;;
  "help status") echo fifth > file;;
  *) echo "$*";;
esac
"""


@pytest.fixture
def compare(tmp_path, monkeypatch):
    monkeypatch.setenv("SPOTTER_SHARED", str(tmp_path / "none"))

    def run(old: str, new: str, allow: str = "", only: str = "^help (nope|analyze more|agent$|trace$|status$)"):
        for name, text in (("old", old), ("new", new), ("allow", allow)):
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(0o755)
        return subprocess.run([TOOLS / "same_answers", tmp_path / "old", tmp_path / "new", "--only", only, "--allow", tmp_path / "allow"],
                              capture_output=True, text=True)

    return run


def test_the_same_answers(compare):
    done = compare(PROGRAM, PROGRAM)
    assert done.returncode == 0 and done.stdout.endswith(" the same, 0 differ\n"), done


def test_each_difference(compare):
    new = PROGRAM
    for word, other in (("echo second", "printf second"), ("third", "theird"), ("exit 5", "exit 6"), ("fourth", "forth"),
                        ("fifth > file", "fifth > other")):
        assert word in new
        new = new.replace(word, other)
    done = compare(PROGRAM, new)
    assert done.returncode == 1 and done.stdout.endswith(" 5 differ\n"), done
    for told in ("help nope\n--- old: stdout\n+++ new: stdout\n@@ -1,2 +1 @@\n second\n-\n",
                 "help analyze more\n--- old: stderr\n+++ new: stderr\n@@ -1,2 +1,2 @@\n-third\n+theird\n",
                 "help agent\n--- old: exit status\n+++ new: exit status\n@@ -1 +1 @@\n-5\n+6\n",
                 "help trace\n--- old: file file\n+++ new: file file\n@@ -1,2 +1,2 @@\n-fourth\n+forth\n", "+++ new: file other\n"):
        assert told in done.stdout, (told, done.stdout)


def test_intended_differences(compare):
    new = PROGRAM.replace("second", "2nd")
    for allow, status in (("# remark\n^help nope$\t^(second|2nd)$\n", 0), ("^help nope$\n", 0), ("^help nope$\t^second$\n", 1)):
        assert compare(PROGRAM, new, allow).returncode == status, allow
    done = compare(PROGRAM, new, "^help trace\n")
    assert done.returncode == 1 and "no answer needs what is allowed: ^help trace" in done.stdout, done


def test_nothing_asked_is_not_the_same(compare):
    assert compare(PROGRAM, PROGRAM, only="no such question").returncode == 1


def test_an_agent_that_does_not_start_is_told(compare):
    done = compare(PROGRAM, PROGRAM, only="^agent: ")
    assert done.returncode == 1 and "could not be asked" in done.stderr, done
