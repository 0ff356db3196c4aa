"""Trace files: which rank each is of, reading and writing."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import zlib

from spotter import _core
from spotter.errors import Error
from spotter.hta.configs.config import logger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

_RANK = re.compile(rb'"rank"\s*:\s*(\d+)')
_BLOCK = 1 << 20
_LONGEST = 64


def get_trace_files(trace_path: str) -> dict[int, str]:
    """The traces (.json, .gz) of a folder by rank; what is wrong with it goes to the log, and {} comes back."""
    return create_rank_to_trace_dict_from_dir(trace_path)[1]


def files_of(trace_files: list[str] | dict[int, str] | None, folder: str) -> dict[int, str]:
    """What a `Trace` of these goes over, by rank: None: the traces of the folder. What is wrong goes to the log, and {} comes back."""
    if trace_files is None:
        return get_trace_files(folder) if os.path.isdir(folder) else _none(f"{folder} is no folder")
    if isinstance(trace_files, dict):
        return {int(rank): _within(folder, path) for rank, path in trace_files.items()}
    if isinstance(trace_files, list):
        is_known, by_rank = create_rank_to_trace_dict([_within(folder, path) for path in trace_files])
        return by_rank if is_known else _none("the ranks of the trace files are not known")
    return _none(f"trace_files is a {type(trace_files).__name__}; a list of paths or a dict of them by rank is wanted")


def create_rank_to_trace_dict_from_dir(trace_dir: str) -> tuple[bool, dict[int, str]]:
    """The traces of a folder by rank, and whether there are any. Folders in it are not looked into.

    Raises:
        NotADirectoryError: it is a file.
    """
    if not os.access(trace_dir, os.R_OK):
        logger.error("the folder %s is not there or cannot be read", trace_dir)
        return False, {}
    paths = [os.path.join(trace_dir, name) for name in sorted(os.listdir(trace_dir)) if name.endswith((".gz", ".json"))]
    paths = _traces_among(trace_dir, [path for path in paths if not os.path.isdir(path)])
    if not paths:
        logger.warning("there is no trace (.json, .gz) in %s", trace_dir)
        return False, {}
    return create_rank_to_trace_dict(paths)


def create_rank_to_trace_dict(file_list: list[str]) -> tuple[bool, dict[int, str]]:
    """Traces by the rank that stands in them; True comes with it. One that names no rank is of rank 0, unless another one says
    that it is; of two with the same rank, the later one counts, but for those that were written beside traces by this package.
    Each goes to the log.

    Raises:
        FileNotFoundError: one is not there.
    """
    by_rank: dict[int, str] = {}
    says_so: set[int] = set()
    for path in sorted(file_list, key=lambda path: not _is_written_beside(path)):
        try:
            rank = _rank_of(path)
        except (EOFError, gzip.BadGzipFile, zlib.error):  # who reads it will say more
            rank = None
        if rank is None:
            logger.warning("this trace file does not have the rank in it, and counts as rank 0: %s", path)
            if 0 in says_so:
                logger.warning("%s has the same rank, 0, as %s says of itself, and is left out", path, by_rank[0])
                continue
        else:
            says_so.add(rank)
        if (rank or 0) in by_rank:
            logger.warning("%s has the same rank, %d, as %s, and is taken instead", path, rank or 0, by_rank[rank or 0])
        by_rank[rank or 0] = path
    return True, by_rank


def read_trace(file_path: str) -> dict[str, Any]:
    """The whole document of a trace.

    Raises:
        ValueError: the name ends in neither .gz nor .json, or it is not JSON.
    """
    if not file_path.endswith((".gz", ".json")):
        raise ValueError(f"{file_path} is no trace: its name has to end in .json or .gz")
    with open_text(file_path) as file:
        return json.load(file)


def write_trace(trace_data: dict[str, Any], file_path: str) -> None:
    """Writes a trace, whole or not at all; compressed if the name ends in .gz. Folders that are missing are made."""
    os.makedirs(os.path.dirname(file_path) or ".", exist_ok=True)
    write_json(trace_data, file_path, file_path.endswith(".gz"))


def write_json(document: dict[str, Any], path: str, compressed: bool) -> None:
    """Whole or not at all."""
    partial = f"{path}.partial"
    try:
        with gzip.open(partial, "wb", compresslevel=5) if compressed else open(partial, "wb") as file:
            file.write(json.dumps(document).encode())  # dump() would not use the encoder that is in C
        os.replace(partial, path)
    finally:
        if os.path.exists(partial):
            os.remove(partial)


def open_bytes(path: str) -> BinaryIO:
    """For reading; what it looks like, not its name, says whether it is compressed."""
    file = open(path, "rb")
    return gzip.open(file) if file.peek(2)[:2] == b"\x1f\x8b" else file  # type: ignore[return-value]


def open_text(path: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(open_bytes(path), encoding="utf-8", errors="replace")


def update_trace_rank(file_path: str, rank: int) -> None:
    """Writes a rank into a trace."""
    trace = read_trace(file_path)
    trace.setdefault("distributedInfo", {})["rank"] = rank
    write_trace(trace, file_path)


def _none(why: str) -> dict[int, str]:
    logger.error(why)
    return {}


def _within(folder: str, path: str | os.PathLike) -> str:
    """Relative ones are in the folder, but those that say so themselves."""
    path = os.path.expanduser(os.fspath(path))
    return path if os.path.isabs(path) or path.startswith(folder.rstrip("/") + "/") else os.path.join(folder, path)


def _traces_among(folder: str, paths: list[str]) -> list[str]:
    """Without what is plainly something else: receipts of captures, settings, results."""
    try:
        known = {os.path.abspath(path) for path, *_ in _core.open_job([os.fsencode(folder)]).files}
    except Error:
        return paths
    return [path for path in paths if os.path.abspath(path) in known and not _is_execution_trace(path)] or paths


def _is_execution_trace(path: str) -> bool:
    try:
        with open_bytes(path) as file:
            return re.match(rb'\s*\{\s*"schema"\s*:', file.read(_LONGEST)) is not None
    except (OSError, EOFError, zlib.error):
        return False


def _is_written_beside(path: str) -> bool:
    """The trace with something drawn in."""
    name = os.path.basename(path)
    return name.startswith("overlaid_") or "_with_counters." in name


def _rank_of(path: str) -> int | None:
    """The first number after a key "rank", which may stand anywhere."""
    with open_bytes(path) as file:
        text = b""
        while block := file.read(_BLOCK):
            text = text[-_LONGEST:] + block
            found = _RANK.search(text)
            if found and (found.end() < len(text) or not (more := file.read(_LONGEST))):
                return int(found.group(1))
            if found:
                return int(_RANK.search(text + more).group(1))  # type: ignore[union-attr]
    return None
