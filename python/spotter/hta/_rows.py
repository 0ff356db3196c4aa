"""Which rows of a file an analysis goes over: frames belong to users, who drop rows and analyse again."""

from __future__ import annotations

import os
import threading
from collections import namedtuple
from typing import Any, Dict

import numpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, ItemsView, Iterator, ValuesView

    import pandas

Handed = namedtuple("Handed", "ids columns is_usual")
Handed.__doc__ = """A frame as it was given out: places in the file (ascending), with what analyses read of them; `is_usual`: they are the
rows that an analysis would choose by itself."""

# Analyses read these from the file, and would not see that they were changed.
_READ = ("ts", "dur", "name", "cat", "stream", "correlation")


class _Reading:
    """One thread at a time makes frames: two would make two of a rank, and add to one table of symbols."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self.lock = threading.RLock()


_reading = _Reading()


class ByRank(Dict[int, Any]):
    """Something of each rank, which is read when it is first asked for."""

    def __init__(self, read: Callable[[int], Any], ranks: list[int]) -> None:
        super().__init__((rank, None) for rank in ranks)
        self._read = read

    def held(self, rank: int) -> Any:
        """None: it has not been read yet."""
        return super().get(rank)

    def __getitem__(self, rank: int) -> Any:
        value = super().__getitem__(rank)
        if value is None:
            with _reading.lock:
                value = super().__getitem__(rank)
                if value is None:
                    value = self._read(rank)
                    super().__setitem__(rank, value)
        return value

    def get(self, rank: int, default: Any = None) -> Any:
        return self[rank] if rank in self else default

    def pop(self, rank: int, *default: Any) -> Any:
        value = self.get(rank, *default) if default or rank not in self else self[rank]
        super().pop(rank, *default)
        return value

    def setdefault(self, rank: int, default: Any = None) -> Any:
        return self[rank] if rank in self else super().setdefault(rank, default)

    def popitem(self) -> tuple[int, Any]:
        rank = list(self)[-1]
        return rank, self.pop(rank)

    def _all(self) -> dict[int, Any]:
        return {rank: self[rank] for rank in list(self)}

    def items(self) -> ItemsView[int, Any]:  # type: ignore[override]
        return self._all().items()

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        return self._all().values()

    def copy(self) -> dict[int, Any]:
        return self._all()

    def __iter__(self) -> Iterator[int]:  # so that dict(self) asks for each
        return super().__iter__()

    def __eq__(self, other: object) -> bool:
        return self._all() == other

    def __repr__(self) -> str:
        return f"<of ranks {', '.join(map(str, self))}>"

    def __reduce__(self) -> tuple:
        return _empty, (), {"_read": self._read}, None, iter(super().items())


def _empty() -> ByRank:
    return ByRank(lambda rank: None, [])


def handed(frame: pandas.DataFrame, is_usual: bool) -> Handed:
    order = numpy.argsort(ids_of(frame), kind="stable")
    columns = {column: frame[column].to_numpy()[order] for column in _READ}
    return Handed(ids_of(frame)[order], columns, is_usual)


def ids_of(frame: pandas.DataFrame) -> numpy.ndarray:
    return (frame["index"] if "index" in frame.columns else frame.index).to_numpy().astype(numpy.uint32)


def by_id(frame: pandas.DataFrame) -> pandas.DataFrame:
    """The frame, indexed by the events' places in the file, whatever its index has become."""
    if "index" not in frame.columns or numpy.array_equal(frame.index.to_numpy(), frame["index"].to_numpy()):
        return frame
    return frame.set_axis(frame["index"].to_numpy())


def rows_left(rank: int, frame: pandas.DataFrame, given: Handed | None) -> numpy.ndarray | None:
    """Places of the rows of a user's frame, ascending; None: they are the usual ones.

    Raises:
        ValueError: it is not what was handed out but for missing rows and more columns.
    """
    if given is None:
        raise ValueError(f"the frame of rank {rank} was not made from a trace file, of which the analyses read the rows")
    order = numpy.argsort(ids_of(frame), kind="stable")
    ids = ids_of(frame)[order]
    places = numpy.searchsorted(given.ids, ids)
    is_known = places < len(given.ids)
    is_known[is_known] = given.ids[places[is_known]] == ids[is_known]
    if (numpy.diff(ids) == 0).any():
        raise ValueError(f"the frame of rank {rank} has rows of the same `index` twice, where it is the event's place in the trace file")
    if not is_known.all():
        raise ValueError(f"the frame of rank {rank} has rows that its trace file has not; their place in it is the column `index`")
    for column, was in given.columns.items():
        now = frame[column].to_numpy()[order] if column in frame.columns else numpy.zeros(0)
        if now.dtype.kind in "OUST" and column in ("name", "cat"):
            continue  # numbers became the texts that they stand for
        if not numpy.array_equal(now, was[places], equal_nan=now.dtype.kind == "f"):
            raise ValueError(
                f'the column "{column}" of rank {rank} was changed; analyses read it from the file, so that they would not see it: '
                "drop rows, or compute from the frame yourself"
            )
    return None if given.is_usual and len(ids) == len(given.ids) else ids
