"""Writes spotter/functions.py: of each analysis a function with its parameters and the definition of its numbers, from the
records that the program has. usage: make_functions.py FOLDER OUTPUT, with the package's module _core in FOLDER/spotter."""

import pathlib
import sys
import textwrap

_HEAD = '''"""One function for each analysis, made from the program's records when the package was built."""

from __future__ import annotations

from spotter.runs import one
from spotter.tables import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spotter.engines import Engine
    from spotter.runs import Paths, Progress, Ranks, Steps
'''
_COMMON = """ranks: Ranks = None,
    steps: Steps = None,
    threads: int | None = None,
    memory: int | None = None,
    compat: str | None = None,
    progress: Progress = True,
    engine: str | Engine = "local","""


def _wrapped(text: str, indent: str, hanging: str = "") -> str:
    return textwrap.fill(" ".join(text.split()), 118, initial_indent=indent, subsequent_indent=indent + hanging,
                         break_long_words=False, break_on_hyphens=False)


def _docstring(summary: str, doc: str, params: list, columns: list) -> str:
    args = [(name, help) for name, _, help in params] + [("others", "those of `spotter.analyze()`.")]
    units = [(name, "" if unit in ("none", "count") else f" ({unit})", help) for name, _, unit, _, help in columns]
    lines = [
        summary, "", _wrapped(doc, "    "), "", "    Args:",
        *(_wrapped(f"{name}: {help}", "        ", "    ") for name, help in args), "", "    Columns:",
        *(_wrapped(f"{name}{unit}: {help}", "        ", "    ") for name, unit, help in units), "    ",
    ]  # fmt: skip
    return "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")


def _function(name: str, summary: str, doc: str, params: list, columns: list) -> str:
    own = "".join(f"{p}: {type(default).__name__} = {default!r},\n    " for p, default, _ in params)
    settings = ", ".join(f"{p!r}: ({p}, {default!r})" for p, default, _ in params)
    return f'''

def {name}(
    paths: Paths,
    *,
    {own}{_COMMON}
) -> Table:
    """{_docstring(summary, doc, params, columns)}"""
    return one({name!r}, paths, {{{settings}}}, ranks, steps, threads, memory, compat, progress, engine)
'''


def main(folder: str, output: str) -> None:
    # The package itself would import what is to be written.
    sys.path.insert(0, str(pathlib.Path(folder, "spotter")))
    import _core

    records = _core.analyses()
    names = ", ".join(repr(name) for name, *_ in records)
    text = _HEAD + f"\n__all__ = [{names}]\n"
    for name, summary, doc, _, params, columns in records:
        text += _function(name, summary, doc, params, columns)
    path = pathlib.Path(output)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
