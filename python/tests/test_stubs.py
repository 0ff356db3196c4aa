"""What type checkers are told is what there is."""

import os
import pathlib
import subprocess
import sys

import pytest

import spotter

# What it says of anything that nanobind has made.
_OF_THE_BINDING = ("is not a function", "is inconsistent", "is a disjoint base")

PACKAGE = pathlib.Path(spotter.__file__).parent


def test_the_modules_stub_has_all_of_the_module(tmp_path):
    """Signatures of functions that C++ made have no parameters for stubtest to compare."""
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "spotter._core", "--ignore-missing-stub"], capture_output=True, text=True,
                          cwd=tmp_path, check=False, env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)})  # fmt: skip
    checked = [line for line in done.stdout.splitlines() if line.startswith("error: ")]
    assert checked, done.stdout + done.stderr
    wrong = [line for line in checked if not any(words in line for words in _OF_THE_BINDING)]
    assert not wrong, "\n".join(wrong)


def test_the_package_is_well_typed(tmp_path):
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "-p", "spotter", "--ignore-missing-imports", "--disable-error-code=import-untyped"],
                          capture_output=True, text=True, cwd=tmp_path, check=False, env={"MYPYPATH": str(PACKAGE.parent), "PATH": "/usr/bin"})  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]


def test_users_types_are_known(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text('''
import spotter
table: spotter.Table = spotter.operators("x", top=3)
cells: list[object] = table["name"]
report: spotter.Report = spotter.report("x", ranks=[0, 1])
note: str = report.notes[0].text
capture: spotter.Capture = spotter.agents("a").trace(duration="1s")
''')
    good = subprocess.run([sys.executable, "-m", "mypy", "user.py", "--ignore-missing-imports", "--disable-error-code=import-untyped"], capture_output=True, text=True, cwd=tmp_path, check=False,
                          env={"MYPYPATH": str(PACKAGE.parent), "PATH": "/usr/bin"})  # fmt: skip
    assert good.returncode == 0, good.stdout[-3000:]
    (tmp_path / "user.py").write_text('import spotter\nspotter.operators("x", topp=3)\nspotter.operatos("x")\n')
    bad = subprocess.run([sys.executable, "-m", "mypy", "user.py", "--ignore-missing-imports", "--disable-error-code=import-untyped"], capture_output=True, text=True, cwd=tmp_path, check=False,
                         env={"MYPYPATH": str(PACKAGE.parent), "PATH": "/usr/bin"})  # fmt: skip
    assert bad.returncode == 1 and "topp" in bad.stdout and "operatos" in bad.stdout
