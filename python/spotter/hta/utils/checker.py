"""Checks of what is handed in."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass
class OperationOutcome:
    """Whether something is as it should be, and if not, why."""

    success: bool
    reason: str


def is_valid_directory(path_to_directory: str, must_be_writable: bool = False) -> OperationOutcome:
    """Whether a folder is there, and if asked for, can be written into."""
    if not path_to_directory:
        return OperationOutcome(False, "a folder is needed, and none is named")
    if not os.path.exists(path_to_directory):
        return OperationOutcome(False, f"{path_to_directory} does not exist")
    if not os.path.isdir(path_to_directory):
        return OperationOutcome(False, f"{path_to_directory} is not a folder")
    if must_be_writable and not os.access(path_to_directory, os.W_OK):
        return OperationOutcome(False, f"{path_to_directory} cannot be written into")
    return OperationOutcome(True, "")
