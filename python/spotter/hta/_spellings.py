"""Parameters that a later HTA calls otherwise."""

from __future__ import annotations

import functools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])


def accepts(**later: str) -> Callable[[F], F]:
    """accepts(new="old"): the function's `old` may be said as `new`. Its signature stays the one of HTA 0.5.0."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **{later.get(name, name): value for name, value in kwargs.items()})

        return call  # type: ignore[return-value]

    return decorate
