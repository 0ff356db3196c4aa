"""The documentation is that of this build."""

import importlib.machinery
import importlib.util
import pathlib
import re

import spotter

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_reference_is_up_to_date():
    loader = importlib.machinery.SourceFileLoader("python_reference", str(ROOT / "tools" / "python_reference"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    path = ROOT / "docs" / "python_reference.md"
    assert path.read_text(encoding="utf-8") == module.reference(), "run tools/python_reference docs/python_reference.md"


def test_what_the_page_names_is_there():
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8") + (ROOT / "README.md").read_text(encoding="utf-8")
    names = set(re.findall(r"\bspotter\.(\w+)\(", text))
    assert names >= {"report", "operators", "analyze", "agents"}
    assert not [name for name in names if not hasattr(spotter, name)]
