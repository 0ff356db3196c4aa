"""The arguments of events that the frames know. They are a list here: no file is read, and PyYAML is not needed."""

from __future__ import annotations

from functools import lru_cache

from spotter.hta.configs.default_values import AttributeSpec, EventArgs, ValueType, YamlVersion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_FIRST = YamlVersion(1, 0, 0)

_KNOWN: list[tuple[str, str, str, ValueType, Any]] = [
    ("index::ev_idx", "ev_idx", "Ev Idx", ValueType.Int, -1),
    ("index::external_id", "external_id", "External id", ValueType.Int, -1),
    ("cpu_op::concrete_inputs", "concrete_inputs", "Concrete Inputs", ValueType.Object, "[]"),
    ("cpu_op::fwd_thread", "fwd_thread_id", "Fwd thread id", ValueType.Int, -1),
    ("cpu_op::input_dims", "input_dims", "Input Dims", ValueType.Object, "-1"),
    ("cpu_op::input_type", "input_type", "Input type", ValueType.Object, "-1"),
    ("cpu_op::input_strides", "input_strides", "Input Strides", ValueType.Object, "-1"),
    ("cpu_op::sequence_number", "sequence", "Sequence number", ValueType.Int, -1),
    ("cpu_op::kernel_backend", "kernel_backend", "kernel_backend", ValueType.String, ""),
    ("cpu_op::kernel_hash", "kernel_hash", "kernel_hash", ValueType.String, ""),
    ("correlation::cbid", "cbid", "cbid", ValueType.Int, -1),
    ("correlation::cpu_gpu", "correlation", "correlation", ValueType.Int, -1),
    ("sm::blocks", "blocks_per_sm", "blocks per SM", ValueType.Object, "[]"),
    ("sm::occupancy", "est_occupancy", "est. achieved occupancy %", ValueType.Int, -1),
    ("sm::warps", "warps_per_sm", "warps per SM", ValueType.Float, 0.0),
    ("data::bytes", "bytes", "bytes", ValueType.Int, -1),
    ("data::bandwidth", "memory_bw_gbps", "memory bandwidth (GB/s)", ValueType.Float, 0.0),
    ("cuda::context", "context", "context", ValueType.Int, -1),
    ("cuda::device", "device", "device", ValueType.Int, -1),
    ("cuda::stream", "stream", "stream", ValueType.Int, -1),
    ("kernel::queued", "queued", "queued", ValueType.Int, -1),
    ("kernel::shared_memory", "shared_memory", "shared memory", ValueType.Int, -1),
    ("threads::block", "block", "block", ValueType.Object, "[]"),
    ("threads::grid", "grid", "grid", ValueType.Object, "[]"),
    ("threads::registers", "registers_per_thread", "registers per thread", ValueType.Int, -1),
    ("cuda_sync::stream", "wait_on_stream", "wait_on_stream", ValueType.Int, -1),
    ("cuda_sync::event", "wait_on_cuda_event_record_corr_id", "wait_on_cuda_event_record_corr_id", ValueType.Int, -1),
    ("info::finished", "finished", "finished", ValueType.String, ""),
    ("info::labels", "labels", "labels", ValueType.String, ""),
    ("info::name", "name", "name", ValueType.Int, -1),
    ("info::op_count", "op_count", "Op count", ValueType.Int, -1),
    ("info::sort_index", "sort_index", "sort_index", ValueType.Int, -1),
    ("nccl::collective_name", "collective_name", "Collective name", ValueType.String, ""),
    ("nccl::in_msg_nelems", "in_msg_nelems", "In msg nelems", ValueType.Int, 0),
    ("nccl::out_msg_nelems", "out_msg_nelems", "Out msg nelems", ValueType.Int, 0),
    ("nccl::in_msg_size", "in_msg_size", "In msg size", ValueType.Int, 0),
    ("nccl::out_msg_size", "out_msg_size", "Out msg size", ValueType.Int, 0),
    ("nccl::group_size", "group_size", "Group size", ValueType.Int, 0),
    ("nccl::dtype", "msg_dtype", "dtype", ValueType.String, ""),
    ("nccl::in_split_size", "in_split_size", "In split size", ValueType.Object, "[]"),
    ("nccl::out_split_size", "out_split_size", "Out split size", ValueType.Object, "[]"),
    ("nccl::input_tensors_start", "input_tensors_start", "Input Tensors start", ValueType.Object, "[]"),
    ("nccl::output_tensors_start", "output_tensors_start", "Output Tensors start", ValueType.Object, "[]"),
    ("nccl::process_group_name", "process_group_name", "Process Group Name", ValueType.String, ""),
    ("nccl::process_group_desc", "process_group_desc", "Process Group Description", ValueType.String, ""),
    ("nccl::process_group_ranks", "process_group_ranks", "Process Group Ranks", ValueType.Object, "[]"),
    ("nccl::rank", "process_rank", "Rank", ValueType.Int, -1),
    ("inference::batch_size", "batch_size", "batchSize", ValueType.Int, -1),
    ("inference::batch_id", "batch_id", "batchId", ValueType.String, ""),
]
"""Key, column, name in the file, type, default."""

_SINCE = {
    "cpu_op::kernel_hash": YamlVersion(1, 1, 0),
    "nccl::input_tensors_start": YamlVersion(1, 2, 0),
    "nccl::output_tensors_start": YamlVersion(1, 2, 0),
}
"""Arguments that are not of the first version."""


def _group(*keys: str) -> Callable[[dict[str, AttributeSpec]], list[AttributeSpec]]:
    def specs(available_args: dict[str, AttributeSpec]) -> list[AttributeSpec]:
        return [available_args[key] for key in keys]

    return specs


ARGS_MINIMUM_FUNC = _group("cuda::stream", "correlation::cpu_gpu")
ARGS_BANDWIDTH_FUNC = _group("data::bytes", "data::bandwidth")
ARGS_SYNC_FUNC = _group("cuda_sync::stream", "cuda_sync::event")
ARGS_INPUT_SHAPE_FUNC = _group("cpu_op::input_dims", "cpu_op::input_type", "cpu_op::input_strides")
ARGS_TRITON_KERNELS_FUNC = _group("cpu_op::kernel_backend", "cpu_op::kernel_hash")
ARGS_INFO_FUNC = _group("info::labels", "info::name", "info::sort_index")
ARGS_COMMUNICATION_FUNC = _group(
    "nccl::collective_name",
    "nccl::in_msg_nelems",
    "nccl::out_msg_nelems",
    "nccl::dtype",
    "nccl::group_size",
    "nccl::rank",
    "nccl::in_split_size",
    "nccl::out_split_size",
)


def ARGS_DEFAULT_FUNC(available_args: dict[str, AttributeSpec]) -> list[AttributeSpec]:  # noqa: N802
    """What a frame holds when nothing else is asked for."""
    groups = (ARGS_MINIMUM_FUNC, ARGS_BANDWIDTH_FUNC, ARGS_SYNC_FUNC, ARGS_INPUT_SHAPE_FUNC, _group("index::external_id"))
    return [spec for group in groups for spec in group(available_args)]


def ARGS_COMPLETE_FUNC(available_args: dict[str, AttributeSpec]) -> list[AttributeSpec]:  # noqa: N802
    """All but those that only metadata events have."""
    return [spec for key, spec in available_args.items() if not key.startswith("info::")]


@lru_cache(maxsize=None)
def parse_event_args_yaml(version: YamlVersion) -> EventArgs:
    """The known arguments: the same ones for every version."""
    known = {
        key: AttributeSpec(column, raw_name, value_type, default, _SINCE.get(key, _FIRST))
        for key, column, raw_name, value_type, default in _KNOWN
    }
    return EventArgs(
        AVAILABLE_ARGS=known,
        ARGS_INPUT_SHAPE=ARGS_INPUT_SHAPE_FUNC(known),
        ARGS_BANDWIDTH=ARGS_BANDWIDTH_FUNC(known),
        ARGS_SYNC=ARGS_SYNC_FUNC(known),
        ARGS_MINIMUM=ARGS_MINIMUM_FUNC(known),
        ARGS_COMPLETE=ARGS_COMPLETE_FUNC(known),
        ARGS_INFO=ARGS_INFO_FUNC(known),
        ARGS_COMMUNICATION=ARGS_COMMUNICATION_FUNC(known),
        ARGS_TRITON_KERNELS=ARGS_TRITON_KERNELS_FUNC(known),
        ARGS_DEFAULT=ARGS_DEFAULT_FUNC(known),
    )
