"""Spotter: what holds a PyTorch training job back.

    import spotter
    spotter.report("traces/")                      # what stands out, and where the time went
    spotter.operators("traces/", top=50)           # one table; `spotter.analyses()` lists them
    spotter.analyze("traces/", ["steps", "mfu"])   # several, in one pass over the files

Tables go to pandas, polars, pyarrow and duckdb. Nothing else is imported before it is needed.
"""

from __future__ import annotations

from spotter._core import version as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spotter.engines import Engine
    from spotter.errors import Busy, Cancelled, Corrupt, Denied, Error, Invalid, NotFound, ReadWriteFailed, Unsupported
    from spotter.functions import *  # noqa: F403
    from spotter.live import Agents, Capture, agents
    from spotter.program import simulate
    from spotter.runs import Analysis, Diff, Param, Report, Results, analyses, analyze, diff, export, report
    from spotter.tables import Field, Note, Table
    from spotter.traces import Trace, load
    from spotter.training import on_trace_ready

# Where each name is. Modules are imported when a name of theirs is first used, so that `import spotter` costs next to nothing.
_HOMES = {
    "engines": ("Engine",),
    "errors": ("Busy", "Cancelled", "Corrupt", "Denied", "Error", "Invalid", "NotFound", "ReadWriteFailed", "Unsupported"),
    "live": ("Agents", "Capture", "agents"),
    "program": ("simulate",),
    "runs": ("Analysis", "Diff", "Param", "Report", "Results", "analyses", "analyze", "diff", "export", "report"),
    "tables": ("Field", "Note", "Table"),
    "traces": ("Trace", "load"),
    "training": ("on_trace_ready",),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}
_OTHERS = ("functions", "hta", "plots")  # modules that users import by name


if not TYPE_CHECKING:  # to whom any name would be there

    def __getattr__(name: str) -> object:
        import importlib

        if name.startswith("__"):
            raise AttributeError(f"module 'spotter' has no attribute {name!r}")
        if name in _HOMES or name in _OTHERS:
            return importlib.import_module(f"spotter.{name}")
        module = importlib.import_module(f"spotter.{_MODULES.get(name, 'functions')}")
        if name not in _MODULES and name not in module.__all__:
            raise AttributeError(f"module 'spotter' has no attribute {name!r}")
        value = globals()[name] = getattr(module, name)
        return value


def __dir__() -> list[str]:
    from spotter import functions

    return sorted({"__version__", "plots", *_MODULES, *functions.__all__})
