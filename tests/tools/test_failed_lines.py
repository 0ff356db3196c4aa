"""tools/failed_lines on logs of GoogleTest and of other programs; tools/summarise shows failures."""
import pathlib
import subprocess

import pytest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
PASSED = "[ RUN      ] A.Passes\nnoise\n[       OK ] A.Passes (1 ms)\n"
FAILED = "[ RUN      ] A.Fails/0\na_test.cc:7: Failure\nExpected: 1\n[  FAILED  ] A.Fails/0, where GetParam() = 1 (2 ms)\n"
LIST = "[  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.Fails/0, where GetParam() = 1\n"


@pytest.fixture
def shown(tmp_path):
    def run(text: str) -> str:
        log = tmp_path / "unit.log"
        log.write_text(text)
        return subprocess.run([TOOLS / "failed_lines", log], capture_output=True, text=True, check=True).stdout
    return run


def test_the_failed_test_is_shown_wherever_it_is(shown):
    assert shown(PASSED + FAILED + 100 * PASSED + LIST) == FAILED


def test_the_last_line_may_stand_behind_the_output_of_the_test(shown):
    failed = FAILED.replace("Expected: 1\n[", "Expected: 1[")
    assert shown(failed + PASSED + LIST) == failed


def test_a_program_that_ended_within_a_test(shown):
    assert shown(100 * PASSED + "[ RUN      ] A.Ends\nERROR: AddressSanitizer\n") == "[ RUN      ] A.Ends\nERROR: AddressSanitizer\n"


def test_long_output_of_a_test_is_cut_in_the_middle(shown):
    text = shown(FAILED.replace("Expected: 1\n", "Expected: 1\n" * 1000))
    assert text.startswith("[ RUN      ] A.Fails/0\na_test.cc:7: Failure\n") and text.endswith("(2 ms)\n")
    assert "(963 lines are left out)" in text and len(text.splitlines()) == 41


def test_many_failures_are_counted(shown):
    text = shown(25 * FAILED)
    assert text.count("a_test.cc:7") == 10 and "(15 more: see " in text


def test_a_sanitizers_report_is_shown_wherever_it_is(shown):
    report = "WARNING: ThreadSanitizer: data race (pid=7)\n  Write of size 8\nSUMMARY: ThreadSanitizer: data race a_test.cc:7\n"
    assert shown(PASSED + report + 100 * PASSED + "ThreadSanitizer: reported 1 warnings\n") == report
    assert shown(100 * PASSED + "a.cc:7:3: runtime error: overflow\n") == "a.cc:7:3: runtime error: overflow\n"


def test_of_other_programs_the_end_is_shown(shown):
    assert shown("".join(f"{i}\n" for i in range(100))) == "".join(f"{i}\n" for i in range(40, 100))


def test_the_summary_shows_what_failed(tmp_path):
    (tmp_path / "unit.xml").write_text(
        '<testsuites><testsuite><testcase name="a" classname="S"><failure message="a_test.cc:7&#x0A;Expected: 1&#x0A;'
        + "more&#x0A;" * 50 + '"/></testcase></testsuite></testsuites>')
    done = subprocess.run([TOOLS / "summarise", tmp_path], capture_output=True, text=True)
    assert done.stdout.startswith("failed: unit: S.a\n    a_test.cc:7\n    Expected: 1\n")
    assert done.stdout.count("more") == 10 and done.stdout.endswith("\n0 passed, 1 failed\n")
