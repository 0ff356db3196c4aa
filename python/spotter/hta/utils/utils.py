"""Names of kernels and what kind they are, intervals, and small things about frames and paths."""

from __future__ import annotations

import os
import re
from enum import Enum
from pathlib import Path

import numpy as np
import pandas as pd

_COMMUNICATION = re.compile(r"nccl|hip|hccl|.*ncclKernel", re.DOTALL)
_MEMORY = re.compile(r"Memcpy|Memset|hipMemcpy|hipMemset|dma")
_NO_COMPUTATION = re.compile(
    r"nccl|hip|hccl|runFunction|job_exe|packet|pe_exe|cpum_exe_subgraph|collective_subgraph_execution|Stream Wait Event"
    r"|cuda.*LaunchKernel|.*(?:Memcpy|Memset|dma|Sync)",
    re.DOTALL,
)
_BRACKET = re.compile(r"->|[<>()]")
_MEMORY_SHARE = 0.8


class KernelType(Enum):
    """What a kernel is for."""

    COMMUNICATION = 0
    MEMORY = 1
    COMPUTATION = 2
    OTHER = 3


class IdleTimeType(Enum):
    """What a stream waited for."""

    HOST_WAIT = 0
    KERNEL_WAIT = 1
    OTHER = 2


def is_comm_kernel(name: str) -> bool:
    """Whether a kernel moves data between devices, by its name."""
    return _COMMUNICATION.match(name) is not None


def is_memory_kernel(name: str) -> bool:
    """Whether it copies or fills memory."""
    return _MEMORY.match(name) is not None


def is_compute_kernel(name: str) -> bool:
    """Whether it computes: its name says nothing else."""
    return _NO_COMPUTATION.match(name) is None


def is_computer_kernel(name: str) -> bool:
    """As `is_compute_kernel`."""
    return is_compute_kernel(name)


def get_kernel_type(name: str) -> str:
    """The name of a `KernelType`: the first that holds."""
    if is_comm_kernel(name):
        return KernelType.COMMUNICATION.name
    if is_memory_kernel(name):
        return KernelType.MEMORY.name
    if is_compute_kernel(name):
        return KernelType.COMPUTATION.name
    return KernelType.OTHER.name


def get_memory_kernel_type(name: str) -> str:
    """As "Memcpy DtoH" or "Memset"; "Memcpy Unknown" for a name of neither kind."""
    if name.startswith("Memset"):
        return "Memset"
    return name[:11] if name.startswith("Memcpy") else "Memcpy Unknown"


def shorten_name(name: str) -> str:
    """A function's name without return type, template parameters and arguments; copies and fills keep theirs."""
    if is_memory_kernel(name) or ("<" not in name and "(" not in name):
        return name
    words = _without_brackets(name).split()
    return words[-1] if words else name


def merge_kernel_intervals(kernel_df: pd.DataFrame) -> pd.DataFrame:
    """The union of `ts` ... `ts + dur`: columns `ts`, `end`, in order of time, with a gap between any two rows."""
    ordered = kernel_df.sort_values("ts", kind="stable")
    starts = ordered["ts"].to_numpy()
    ends = starts + ordered["dur"].to_numpy()
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = starts[1:] > np.maximum.accumulate(ends)[:-1]
    places = np.flatnonzero(first)
    return pd.DataFrame({"ts": starts[places], "end": np.maximum.reduceat(ends, places) if len(places) else ends})


def flatten_column_names(df: pd.DataFrame) -> None:
    """Columns of several levels become one text each, the parts joined by "_". Changes the frame."""
    if isinstance(df.columns, pd.MultiIndex):
        df.columns = pd.Index(["_".join(str(part) for part in parts if part != "") for parts in df.columns])


def get_symbol_column_names(df: pd.DataFrame) -> tuple[str, str]:
    """The columns that hold names and categories as texts: `s_name` or `name`, `s_cat` or `cat`; "" where there is none."""

    def text_column(column: str) -> str:
        if f"s_{column}" in df.columns:
            return f"s_{column}"
        return column if column in df.columns and pd.api.types.is_string_dtype(df[column]) else ""

    return text_column("name"), text_column("cat")


def normalize_gpu_stream_numbers(df: pd.DataFrame) -> None:
    """Makes the column `stream` integer, -1 where it holds no number. Changes the frame; one without the column stays."""
    if "stream" in df.columns:
        df["stream"] = pd.to_numeric(df["stream"], errors="coerce").fillna(-1).astype(np.int64)


def normalize_path(path: str) -> str:
    """With "~/" and "./" at its beginning replaced by what they stand for."""
    if path.startswith("~/"):
        return str(Path.home() / path[2:])
    return str(Path.cwd() / path[2:]) if path.startswith("./") else path


def get_mp_pool_size(obj_size: int, num_objs: int) -> int:
    """How many processes may each hold an object of `obj_size` bytes: at least one, and not more than there are objects or
    processors."""
    available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(int(_MEMORY_SHARE * available / max(obj_size, 1)), num_objs, os.cpu_count() or 1))


def _without_brackets(name: str) -> str:
    """Without every pair of brackets that closes, and what is in it. A ">" that no "<" fits, and "->", are ordinary text."""
    open_places: list[tuple[str, int]] = []
    pairs: list[tuple[int, int]] = []
    for match in _BRACKET.finditer(name):
        bracket, place = match.group(), match.start()
        if bracket in "<(":
            open_places.append((bracket, place))
            continue
        fits = len(open_places) - 1
        if bracket == ")":
            while fits >= 0 and open_places[fits][0] != "(":
                fits -= 1
        if fits >= 0 and open_places[fits][0] == {")": "(", ">": "<"}.get(bracket):
            pairs.append((open_places[fits][1], place + 1))
            del open_places[fits:]
    kept, end = [], 0
    for begin, after in sorted(pairs):
        if begin >= end:
            kept.append(name[end:begin])
            end = after
    return "".join([*kept, name[end:]])
