"""The door to the program: analyses over the rows of files that HTA would have, or that users have left of them."""

from __future__ import annotations

import os
from collections import namedtuple
from enum import IntEnum

from spotter import _core
from spotter.hta.configs.env_options import disable_ns_rounding
from spotter.progress import silent
from spotter.runs import part_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

File = namedtuple("File", "path rank which rows")
File.__doc__ = """`which`: `Rows`; `rows`: for `these` their places in the file, ascending, as bytes of 32-bit integers."""

Facts = namedtuple("Facts", "has_whole_durations base_ns first_us last_row streams correlations has_text_processes order_of_streams losses rows")
Facts.__doc__ = """Of a file, what the frame that HTA makes of it is like: every event has a duration in whole us; when its times count from
(Unix time, ns); its first start (us); its last row; the extents of its streams and correlations; some process is a text; the streams in
the order in which they first have work; what is missing of it, in sentences; and, if that was asked for, the rows that were analysed, as bytes of 32-bit integers."""


class Rows(IntEnum):
    """As in python/core/hta.cc."""

    kept = 0  # as HTA leaves out the last step
    kept_with_last_step = 1
    all = 2
    these = 3


def run(files: list[File], names: list[str], params: dict[str, Any], wants_rows: bool = False) -> tuple[list[Any], dict[int, Facts]]:
    """The tables of these analyses, and by rank what the files are like.

    Raises:
        spotter.Error: a file cannot be read, or is no longer the one of which `rows` are.
    """
    if not files:
        return [], {}
    rounds = not disable_ns_rounding()
    asked = [(os.fsencode(file.path), file.rank, int(file.which), file.rows) for file in files]
    tables, facts = _core.hta_run(asked, names, list(params.items()), part_of(None, None, None, None), rounds, wants_rows, silent)
    return tables, {rank: Facts(**of) for rank, of in facts.items()}
