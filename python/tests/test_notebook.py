"""The notebooks of the documentation run."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_notebooks_run():
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    done = subprocess.run([sys.executable, ROOT / "tools" / "notebook"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def test_a_notebook_shows_what_it_showed():
    """What is committed has no error, and its report first says what is wrong."""
    import json

    for path in (ROOT / "docs" / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        outputs = [output for cell in cells if cell["cell_type"] == "code" for output in cell["outputs"]]
        assert outputs and not [output for output in outputs if output["output_type"] == "error"]
