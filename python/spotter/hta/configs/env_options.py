"""Options that the environment sets: "1" is yes, all else no. They are looked up whenever they are asked for."""

from __future__ import annotations

import os

HTA_DISABLE_NS_ROUNDING_ENV = "HTA_DISABLE_NS_ROUNDING"
HTA_DISABLE_CG_DEPTH_ENV = "HTA_DISABLE_CG_DEPTH"
CP_LAUNCH_EDGE_ENV = "CRITICAL_PATH_ADD_ZERO_WEIGHT_LAUNCH_EDGE"
CP_LAUNCH_EDGE_SHOW_ENV = "CRITICAL_PATH_SHOW_ZERO_WEIGHT_LAUNCH_EDGE"
CP_STRICT_NEG_WEIGHT_CHECK_ENV = "CRITICAL_PATH_STRICT_NEGATIVE_WEIGHT_CHECKS"


def disable_ns_rounding() -> bool:
    """Times of nanosecond traces are not rounded to microseconds."""
    return _is_set(HTA_DISABLE_NS_ROUNDING_ENV)


def disable_call_graph_depth() -> bool:
    """Call graphs add no depth to the frame."""
    return _is_set(HTA_DISABLE_CG_DEPTH_ENV)


def critical_path_add_zero_weight_launch_edges() -> bool:
    """The critical path's graph has launch edges without weight as well."""
    return _is_set(CP_LAUNCH_EDGE_ENV)


def critical_path_show_zero_weight_launch_edges() -> bool:
    """And the overlay shows them."""
    return _is_set(CP_LAUNCH_EDGE_SHOW_ENV)


def critical_path_strict_negative_weight_check() -> bool:
    """An edge of negative weight is an error."""
    return _is_set(CP_STRICT_NEG_WEIGHT_CHECK_ENV)


def get_options() -> str:
    """What is set, a line each."""
    names = (
        HTA_DISABLE_NS_ROUNDING_ENV,
        HTA_DISABLE_CG_DEPTH_ENV,
        CP_LAUNCH_EDGE_ENV,
        CP_LAUNCH_EDGE_SHOW_ENV,
        CP_STRICT_NEG_WEIGHT_CHECK_ENV,
    )
    return "\n".join(f"{name}={os.environ.get(name, 'unset')}" for name in names)


def _is_set(name: str) -> bool:
    return os.environ.get(name) == "1"
