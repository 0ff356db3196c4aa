"""Whether a trace file's arguments are of the types that their columns have."""

from __future__ import annotations

from collections import defaultdict

import pandas as pd

from spotter.hta.common.trace_file import read_trace
from spotter.hta.configs.default_values import AttributeSpec, ValueType
from spotter.hta.configs.parser_config import ParserConfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TYPES: dict[ValueType, tuple[type, ...]] = {
    ValueType.Int: (int,),
    ValueType.Float: (int, float),
    ValueType.String: (str,),
    ValueType.Object: (object,),
}


def get_argument_spec(level: str = "default") -> list[AttributeSpec]:
    """The arguments of a level: "minimal", "standard" (also "default"), or "complete".

    Raises:
        KeyError: another level.
    """
    groups = (ParserConfig.ARGS_MINIMUM, ParserConfig.ARGS_BANDWIDTH, ParserConfig.ARGS_SYNC, ParserConfig.ARGS_INPUT_SHAPE)
    standard = [spec for group in groups for spec in group]
    standard += [spec for spec in ParserConfig.ARGS_DEFAULT if spec.name == "external_id"]
    levels = {
        "minimal": ParserConfig.ARGS_MINIMUM,
        "standard": standard,
        "default": standard,
        "complete": ParserConfig.ARGS_COMPLETE,
    }
    if level not in levels:
        raise KeyError(f"{level}: there are the levels {', '.join(levels)}")
    return list(levels[level])


def get_expected_arguments(attribute_specs: list[AttributeSpec]) -> pd.DataFrame:
    """A row for each argument, with columns `arg_keys` (its name in the file), `arg_value_types`, `arg_default_values`,
    `trace_df_column_name`."""
    return pd.DataFrame(
        {
            "arg_keys": [spec.raw_name for spec in attribute_specs],
            "arg_value_types": [spec.value_type for spec in attribute_specs],
            "arg_default_values": [spec.default_value for spec in attribute_specs],
            "trace_df_column_name": [spec.name for spec in attribute_specs],
        }
    )


def validate_trace_format(
    trace_file_path: str, level: str = "standard", ignore_missing_arguments: bool = True
) -> tuple[bool, dict[str, Any]]:
    """Checks the arguments of all events of a file.

    Args:
        level: of `get_argument_spec`: the arguments that are checked.
        ignore_missing_arguments: False: arguments that are not of the level are no good, either.

    Returns:
        Whether all is well, and if not, why: `trace_read_error` (the exception), `trace_data_error` (a text),
        `type_violations` (of an argument, the last value that is of another type), `skipped_arguments` (of an argument, how
        many events have it).
    """
    try:
        trace = read_trace(trace_file_path)
    except Exception as error:  # also what no reader of files foresees
        return False, {"trace_read_error": error}
    if not isinstance(trace, dict) or "traceEvents" not in trace:
        return False, {"trace_data_error": "'traceEvents' section not found"}
    skipped, violations = _checked(trace["traceEvents"], {spec.raw_name: spec for spec in get_argument_spec(level)})
    found: dict[str, Any] = {}
    if skipped and not ignore_missing_arguments:
        found["skipped_arguments"] = skipped
    if violations:
        found["type_violations"] = violations
    return not found, found


def _checked(events: list[dict[str, Any]], specs: dict[str, AttributeSpec]) -> tuple[dict[str, int], dict[str, str]]:
    """How many events have each argument that is not among these, and what is wrong with those that are."""
    skipped: dict[str, int] = defaultdict(int)
    violations: dict[str, str] = defaultdict(str)
    for event in events:
        for key, value in (event.get("args") or {}).items():
            spec = specs.get(key)
            if spec is None:
                skipped[key] += 1
            elif not isinstance(value, _TYPES[spec.value_type]):
                violations[key] = f"{key}: {value!r} is of type {type(value).__name__}, not {spec.value_type.name}"
    return skipped, violations
