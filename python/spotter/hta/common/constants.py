"""Numbers that several analyses use."""

from __future__ import annotations

CUDA_MAX_LAUNCH_QUEUE_PER_STREAM = 1024
"""Launches that a CUDA stream queues before the next one waits."""
