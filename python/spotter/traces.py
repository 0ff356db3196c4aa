"""One trace, as it was read: for questions that no analysis answers."""

from __future__ import annotations

import os

from spotter import _core
from spotter.errors import Invalid, NotFound
from spotter.runs import lasting, open_job, processors, teller, words_of
from spotter.tables import Note, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spotter.runs import Progress


class Trace:
    """The events of one process. It is read when something of it is first asked for; a pickle of it is its path."""

    def __init__(self, path: str | bytes | os.PathLike, progress: Progress = True) -> None:
        self.path = lasting(os.fsdecode(path))
        self._progress = progress
        self._core: _core.Trace | None = None
        self._args: list[str] | None = None

    def _read(self) -> _core.Trace:
        if self._core is None:
            self._core = _core.load(open_job(self.path), 0, processors(), teller(self._progress))
        return self._core

    @property
    def rank(self) -> int | None:
        return self._read().info[1]

    @property
    def world_size(self) -> int | None:
        return self._read().info[2]

    @property
    def host(self) -> str | None:
        return self._read().info[3] or None

    @property
    def backend(self) -> str | None:
        """Of torch.distributed: nccl, gloo ..."""
        return self._read().info[4] or None

    @property
    def metadata(self) -> dict[str, Any]:
        """What stands in the file beside its events: deviceProperties, distributedInfo ..."""
        import json

        return {key: json.loads(text) for key, text in self._read().info[6]}

    @property
    def base_ns(self) -> int:
        """When the times in the file count from: Unix time in ns; 0 where it does not say."""
        return self._read().info[5]

    @property
    def args(self) -> list[str]:
        """The names of the arguments that its events have; `id`, `.bp` and `.s` are members of events themselves."""
        if self._args is None:
            self._args = self._read().args
        return list(self._args)

    @property
    def json_args(self) -> list[str]:
        """Those of them that are a list or an object in some event: `events()` has their JSON."""
        return self._read().json_args

    @property
    def notes(self) -> list[Note]:
        """What was damaged or mended in it."""
        return [Note(*note) for note in self._read().notes]

    def events(self, args: Sequence[str] = ()) -> Table:
        """A row for each event, in the order of the file; `args`: these of its arguments as columns, null where an event has
        none of that name. Integers, numbers and flags are such columns where all of them are; else they are text. An argument
        that is called as one of the table's own columns is there as `args.NAME`."""
        known, args = set(self.args), list(args)
        unknown = [arg for arg in args if arg not in known]
        if unknown:
            raise Invalid(f"no event has the argument {unknown[0]}; there are {', '.join(self.args)}")
        twice = [arg for place, arg in enumerate(args) if arg in args[:place]]
        if twice:
            raise Invalid(f"the argument {twice[0]} is named twice")
        return Table(self._read().events(args))

    def __len__(self) -> int:
        return self._read().length

    def __bool__(self) -> bool:
        return True

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.events().__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> tuple:
        return Trace, (self.path,)

    def __repr__(self) -> str:
        return f"<spotter.Trace {self.path}>"


def load(paths: str | os.PathLike | Sequence, rank: int | None = None, *, progress: Progress = True) -> Trace:
    """One trace of a job.

    Args:
        paths: a trace file; or several, or folders of them, of which `rank` says one.
        rank: as the files say it in their first part or in their names.

    Raises:
        NotFound: no file is of that rank. Invalid: there are several, and no rank is named.
    """
    files = open_job(paths).files
    if rank is not None:
        files = [file for file in files if file[3] == rank]
        if not files:
            raise NotFound(f"{', '.join(words_of(paths))}: no trace is known to be of rank {rank}")
    if len(files) != 1:
        raise Invalid(f"{len(files)} traces are there; name one of them, or its rank")
    return Trace(files[0][0], progress)
