"""Holistic Trace Analysis, answered by Spotter: the modules, classes, signatures and frames of HTA 0.5.0, and 0.6.1's spellings.

    from spotter.hta.trace_analysis import TraceAnalysis
    TraceAnalysis(trace_dir="traces/").get_temporal_breakdown(visualize=False)

Scripts that say `import hta` run unchanged after

    import spotter.hta
    spotter.hta.install()

Numbers are read with HTA's own selection and rounding (`compat="hta"`); where they differ all the same, docs/coming_from_hta.md
says why. pandas is needed; figures need plotly, the critical path's graph networkx: `pip install spotter-trace[hta]`.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

__version__ = "0.5.0"
"""Of HTA whose interface this is."""


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `hta` and `hta.X` as `spotter.hta` and `spotter.hta.X`: the same module objects, so that a class is the same class by
    either name."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "hta" and not name.startswith("hta."):
            return None
        if importlib.util.find_spec(f"spotter.{name}") is None:
            return None
        return importlib.machinery.ModuleSpec(name, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(f"spotter.{spec.name}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """It has been executed under its own name, and gets that back."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def install() -> None:
    """From now on, `import hta` gives this package in place of HTA, whether that is installed or not.

    Raises:
        ImportError: HTA itself has been imported already, so that some of its classes would stay in use.
    """
    loaded = sys.modules.get("hta")
    if loaded is not None and loaded is not sys.modules[__name__]:
        raise ImportError("spotter.hta.install() has to come before the first import of hta")
    if not any(isinstance(finder, _Alias) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Alias())
