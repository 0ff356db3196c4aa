"""Of the same name in HTA: trace files as frames. There is one reader, whatever backend is named."""

from __future__ import annotations

import io
import json
from typing import Any, Dict, Tuple

import numpy
import pandas as pd

from spotter.hta import _frames
from spotter.hta.common.trace_file import open_bytes, read_trace
from spotter.hta.common.trace_symbol_table import TraceSymbolTable
from spotter.hta.configs.env_options import disable_ns_rounding
from spotter.hta.configs.parser_config import ParserBackend, ParserConfig

MetaData = Dict[str, Any]

_backend = ParserBackend.JSON


def parse_trace_dict(trace_file_path: str) -> Dict[str, Any]:
    """The file as Python's JSON has it."""
    return read_trace(trace_file_path)


def parse_trace_dataframe(trace_file_path: str, cfg: ParserConfig) -> Tuple[MetaData, pd.DataFrame, TraceSymbolTable]:
    """What else is in the file, its frame, and the symbols of that."""
    symbols = TraceSymbolTable()
    parsed = _frames.parse(trace_file_path, cfg, symbols)
    return parsed.metadata, parsed.frame, symbols


def parse_metadata_ijson(fh: io.BufferedIOBase) -> MetaData:
    """What else is in the file."""
    return {key: value for key, value in json.load(fh).items() if key != "traceEvents"}


def round_down_time_stamps(df: pd.DataFrame) -> None:
    """Makes times with fractions whole us, in place: starts are rounded up, ends down; adds `end`."""
    if df["ts"].dtype.kind != "f" or disable_ns_rounding():
        return
    end = numpy.floor(df["ts"] + df["dur"])
    df["ts"] = numpy.ceil(df["ts"]).astype(numpy.int64)
    df["end"] = end
    df["dur"] = end - df["ts"]


def get_default_trace_parsing_backend() -> ParserBackend:
    return _backend


def set_default_trace_parsing_backend(parser_backend: ParserBackend) -> None:
    """It is remembered, and changes nothing."""
    global _backend
    _backend = parser_backend


def _auto_detect_parser_backend() -> ParserBackend:
    return ParserBackend.JSON


_open_trace_file = open_bytes  # HTA's own tests look for it
