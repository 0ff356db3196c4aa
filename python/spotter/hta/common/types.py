"""Kinds of devices, and patterns that put names and categories into groups."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pandas as pd


class DeviceType(Enum):
    """Where an event happened."""

    UNKNOWN = 0
    CPU = 1
    GPU = 2
    ALL = 3


class MemcpyType(Enum):
    """From where to where a copy goes."""

    DTOD = 0
    DTOH = 1
    HTOD = 2
    UNKNOWN = 3


MEMCPY_TYPE_TO_STR: dict[MemcpyType, str] = {
    MemcpyType.DTOD: "memcpy_dtod",
    MemcpyType.DTOH: "memcpy_dtoh",
    MemcpyType.HTOD: "memcpy_htod",
    MemcpyType.UNKNOWN: "memcpy_type_unknown",
}


@dataclass
class GroupingPattern:
    """A group of names: those that begin with what the pattern says, or with `inverse_match` those that do not."""

    pattern: re.Pattern[str]
    inverse_match: bool = False
    group_name: str = ""

    def match(self, name: str) -> bool:
        """Whether a name belongs to it."""
        return (self.pattern.match(name) is None) == self.inverse_match

    def __hash__(self) -> int:
        return hash((self.pattern, self.inverse_match, self.group_name))


def _group(group_name: str, pattern: str, inverse_match: bool = False) -> GroupingPattern:
    return GroupingPattern(re.compile(pattern), inverse_match, group_name)


ProfilerStepGroupingPattern = _group("Profiler Step", r"^ProfilerStep#(\d+)")
MemoryKernelGroupingPattern = _group("Memory", r"(^(hip)?Memcpy)|(^(hip)?Memset)|(^dma)")
MTIAMemoryKernelGroupingPattern = _group("MTIA Memory", r"(^dma)")
CommunicateKernelGroupingPattern = _group("Communicate", r"(^nccl)")
ComputeKernelGroupingPattern = _group(
    "Compute",
    r"(^nccl)|(.*Memcpy)|(.*Memset)|(.*dma)|(^.*Sync)|(cuda.*LaunchKernel)|(^runFunction)",
    inverse_match=True,
)
common_grouping_patterns: dict[str, GroupingPattern] = {
    "memory_kernels": MemoryKernelGroupingPattern,
    "compute_kernels": ComputeKernelGroupingPattern,
    "communicate_kernels": CommunicateKernelGroupingPattern,
}

KERNEL_CATEGORY_PATTERN = _group("GPU Kernels", r"(kernel)|(gpu_mem.+)|(mtia_ccp_events)")
KERNEL_LAUNCH_CATEGORY_PATTERN = _group("Kernel Launch", r"(cuda.*LaunchKernel)|(cuLaunchKernel)|(^runFunction)")
CPU_OP_CATEGORY_PATTERN = _group("CPU Ops", r"(cpu_op)|(user_annotation)")
CPU_EVENTS_CATEGORY_PATTERN = _group("CPU Events", r"(cpu_op)|(user_annotation)|(^(.+)_runtime)")
DEVICE_RUNTIME_CATEGORY_PATTERN = _group("Device Runtimes", r"(cuda_runtime)|(mtia_runtime)")
MEMORY_CATEGORY_PATTERN = _group("Memory", r"(gpu_mem.+)|(mtia_ccp_events)")
GPU_EVENT_CATEGORY_PATTERN = _group("GPU Events", r"(.*kernel)|(^gpu_mem)|(^mtia_ccp_events)|(^cuda_sync)")
CPU_AND_GPU_EVENTS_CATEGORY_PATTERN = _group(
    "CPU/GPU Events",
    r"(cpu_op)|(user_annotation)|(cuda_runtime)|(.*kernel)|(^gpu_mem)|(^mtia_ccp_events)|(^cuda_sync)",
)
PYTHON_FUNCTION_PATTERN = _group("Python Functions", r"(python_function)")
CUDA_SYNC_PATTERN = _group("CUDA Sync", r"(cuda_sync)")
ALL_CATEGORY_PATTERN = _group("All", r".*")


def to_grouping_pattern(
    pattern: str | list[str] | re.Pattern[str] | GroupingPattern,
    group_name: str | None = None,
    inverse_match: bool | None = None,
) -> GroupingPattern:
    """A group from a regular expression, or from several of which one has to fit; a group stays as it is.

    Raises:
        ValueError: the pattern is none of these.
    """
    if isinstance(pattern, GroupingPattern):
        return pattern
    if isinstance(pattern, list):
        pattern = "|".join(f"({part})" for part in pattern)
    if not isinstance(pattern, (str, re.Pattern)):
        kind = type(pattern).__name__
        raise ValueError(f"a pattern is a text, a list of texts, a compiled pattern or a group, not of type {kind}")
    return GroupingPattern(re.compile(pattern), bool(inverse_match), group_name or "")


def infer_device_type(df: pd.DataFrame) -> DeviceType:
    """Where the events of a frame happened: on a GPU if all have a stream, on the CPU if none has; else it is unknown."""
    if "stream" not in df.columns or df.empty:
        return DeviceType.UNKNOWN
    on_stream = df["stream"].ge(0)
    if on_stream.all():
        return DeviceType.GPU
    return DeviceType.UNKNOWN if on_stream.any() else DeviceType.CPU
