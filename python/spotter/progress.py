"""How far a run is, where somebody looks: a line on a terminal, a display in a notebook, nothing elsewhere."""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_AFTER = 0.5  # seconds: what takes less needs no display
_EVERY = 0.2


def silent(done: int, total: int) -> None:
    """Nobody looks."""


def _text(done: int, total: int) -> str:
    return f"reading {100 * done // total} % of {total / 1e6:.0f} MB" if total else "reading"


class _Paced:
    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._next = time.monotonic() + _AFTER

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _EVERY
            self._show(_text(done, total))


class _Line(_Paced):
    """Is wiped when it goes."""

    def __init__(self) -> None:
        super().__init__(self._write)
        self._width = 0

    def _write(self, text: str) -> None:
        print("\r" + text.ljust(self._width), end="", file=sys.stderr, flush=True)
        self._width = len(text)

    def __del__(self) -> None:
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)


class _Display(_Paced):
    """Of a notebook, taken away at the end."""

    def __init__(self) -> None:
        super().__init__(self._update)
        self._handle = None

    def _update(self, text: str) -> None:
        from IPython.display import display

        shown = {"text/plain": text}
        if self._handle is None:
            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)

    def __del__(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


def shown() -> Callable[[int, int], None]:
    if _in_notebook():
        return _Display()
    return _Line() if sys.stderr is not None and sys.stderr.isatty() else silent
