"""tools/setup with lists of its own and stand-ins for the system's tools; CMake's words for what is missing."""
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEEDED = ("bash", "cat", "comm", "dirname", "env", "grep", "id", "sed", "sort")  # by the script itself
BUILD = "# A remark.\nlibstdc++-dev  vector.h cstdio.h stdio.h  # and another\nlibc6-dev      libc.a\nfine           grep\n"
PYTHON = "snake\n"
TEST = "tester  no-such-tester\n"


@pytest.fixture
def setup(tmp_path):
    """setup(*arguments, with_commands={name: shell script or None for the system's own})."""
    shutil.copytree(ROOT / "tools/packages", tmp_path / "tools/packages")
    shutil.copy(ROOT / "tools/setup", tmp_path / "tools/setup")
    commands = tmp_path / "bin"
    commands.mkdir()

    def run(*arguments, build=BUILD, test=TEST, with_commands={}):
        for name, text in (("build", build), ("python", PYTHON), ("test", test)):
            if text:
                (tmp_path / f"tools/packages/{name}.txt").write_text(text)
        for name, script in (dict.fromkeys(NEEDED) | with_commands).items():
            (commands / name).unlink(missing_ok=True)
            if script is None:
                (commands / name).symlink_to(shutil.which(name))
            else:
                (commands / name).write_text(f"#!/bin/sh\n{script}\n")
                (commands / name).chmod(0o755)
        return subprocess.run([tmp_path / "tools/setup", *arguments], capture_output=True, text=True,
                              env={"PATH": str(commands)})

    return run


def test_elsewhere_what_is_missing_is_named(setup):
    done = setup(with_commands={"g++": None})
    assert done.returncode == 1 and done.stdout == ""
    assert [line for line in done.stderr.splitlines() if line.startswith("  ")] == [
        "  vector.h (Debian: libstdc++-dev)", "  cstdio.h (Debian: libstdc++-dev)"]
    assert "not Debian 12" in done.stderr and "SPOTTER_PORTABLE" not in done.stderr


def test_elsewhere_an_archive_may_be_missing(setup):
    done = setup(build="odd  libno-such.a\n", with_commands={"g++": None})
    assert done.returncode == 1 and "  libno-such.a (Debian: odd)\n" in done.stderr
    assert "-DSPOTTER_PORTABLE=OFF" in done.stderr


def test_without_a_compiler_it_says_that_it_could_not_look(setup):
    done = setup()
    assert done.returncode == 1 and "  stdio.h (Debian: libstdc++-dev)" in done.stderr
    assert "Without g++ no header" in done.stderr


def test_elsewhere_tests_need_more(setup):
    done = setup("test", build="fine  grep\n")
    assert done.returncode == 1 and "  no-such-tester (Debian: tester)\n" in done.stderr
    assert setup(build="fine  grep\n").returncode == 0


def test_all_that_building_needs_is_found_here(setup):
    done = setup(build=None, with_commands=dict.fromkeys(("cmake", "flatc", "g++", "make", "ninja", "python3")))
    assert (done.returncode, done.stderr) == (0, "")


debian_12 = pytest.mark.skipif(
    "VERSION_CODENAME=bookworm" not in pathlib.Path("/etc/os-release").read_text(), reason="this is not Debian 12")
STRANGER = {"id": "echo 1000", "apt-get": "echo installed"}  # not root, and there is no sudo


@debian_12
@pytest.mark.parametrize("arguments, missing", [((), "fine libc6-dev"), (("python",), "fine libc6-dev snake"),
                                                (("test",), "fine libc6-dev snake tester")])
def test_debians_missing_packages(setup, arguments, missing):
    # Of a package that was removed, "rc", its configuration alone is left.
    known = r"printf 'ii libstdc++-dev\nrc libc6-dev\n'; exit 1"
    done = setup(*arguments, with_commands=STRANGER | {"dpkg-query": known})
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.endswith(f"as root: apt-get install --no-install-recommends {missing}\n")


@debian_12
def test_nothing_is_done_where_nothing_is_missing(setup):
    known = r"printf 'ii libstdc++-dev\nii libc6-dev\nii fine\n'"
    done = setup(with_commands=STRANGER | {"dpkg-query": known})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_other_arguments_are_refused(setup):
    done = setup("tests")
    assert done.returncode == 2 and "usage" in done.stderr


def test_cmake_names_debians_packages(tmp_path):
    lacking = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("fmt", "Boost", "GTest")]
    done = subprocess.run(["cmake", "-S", ROOT, "-B", tmp_path, "-DISAL_INCLUDE=ISAL_INCLUDE-NOTFOUND", *lacking],
                          capture_output=True, text=True)
    assert done.returncode == 1
    assert [line.strip() for line in done.stderr.splitlines() if "(Debian: " in line] == [
        "fmt (Debian: libfmt-dev)", "Boost 1.81 (Debian: libboost1.81-dev)", "GTest (Debian: libgtest-dev)"]
