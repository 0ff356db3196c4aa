"""Parameters that a later HTA calls otherwise, or has besides."""

from __future__ import annotations

import functools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])


def accepts(**later: str | None) -> Callable[[F], F]:
    """accepts(new="old"): the function's `old` may be said as `new`; accepts(new=None): it may be said to be None. The signature stays
    the one of HTA 0.5.0."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            known = {}
            for name, value in kwargs.items():
                own = later.get(name, name)
                if own is not None:
                    known[own] = value
                elif value is not None:
                    raise NotImplementedError(f"{function.__name__}(): {name} of HTA 0.6 is not there; leave it out")
            return function(*args, **known)

        return call  # type: ignore[return-value]

    return decorate
