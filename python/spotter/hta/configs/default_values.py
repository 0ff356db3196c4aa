"""What a column of a frame is read from, and the defaults of the package."""

from __future__ import annotations

import re
import tempfile
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

DEFAULT_CONFIG_FILENAME = "trace_analyzer.json"
DEFAULT_TRACE_DIR = str(Path(tempfile.gettempdir()) / "trace")
DF_SYMBOL_COLUMNS = ["cat", "name"]
"""The columns of a frame that hold symbol ids."""


class ValueType(Enum):
    """Of what type an argument's values are."""

    Int = 1
    Float = 2
    String = 3
    Object = 4


class YamlVersion(NamedTuple):
    """Version of a list of arguments."""

    major: int
    minor: int
    patch: int

    def get_version_str(self) -> str:
        """As "1.0.0"."""
        return f"{self.major}.{self.minor}.{self.patch}"

    @staticmethod
    def from_string(version_str: str) -> YamlVersion:
        """Of "1.0.0".

        Raises:
            ValueError: it is not three numbers with dots between.
        """
        match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version_str)
        if match is None:
            raise ValueError(f'a version is three numbers, as in "1.0.0", not "{version_str}"')
        return YamlVersion(*map(int, match.groups()))


class AttributeSpec(NamedTuple):
    """An argument of events: the frame's column, the key in `args`, and what stands in rows of events without it."""

    name: str
    raw_name: str
    value_type: ValueType
    default_value: Any
    min_supported_version: YamlVersion


class EventArgs(NamedTuple):
    """The known arguments by their key ("family::argument"), and groups of them."""

    AVAILABLE_ARGS: dict[str, AttributeSpec]
    ARGS_INPUT_SHAPE: list[AttributeSpec]
    ARGS_BANDWIDTH: list[AttributeSpec]
    ARGS_SYNC: list[AttributeSpec]
    ARGS_MINIMUM: list[AttributeSpec]
    ARGS_COMPLETE: list[AttributeSpec]
    ARGS_INFO: list[AttributeSpec]
    ARGS_COMMUNICATION: list[AttributeSpec]
    ARGS_TRITON_KERNELS: list[AttributeSpec]
    ARGS_DEFAULT: list[AttributeSpec]
