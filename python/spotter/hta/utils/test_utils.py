"""For tests of scripts that use the package."""

from __future__ import annotations

import functools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


def data_provider(data_function: Callable[[], Iterable[Any]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Runs a test method with each case: a dict of keyword arguments, a tuple of positional ones, or a single one."""

    def decorator(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def with_each_case(self: Any, *args: Any, **kwargs: Any) -> None:
            for case in data_function():
                if isinstance(case, dict):
                    test(self, *args, **kwargs, **case)
                else:
                    test(self, *args, *(case if isinstance(case, tuple) else (case,)), **kwargs)

        return with_each_case

    return decorator
