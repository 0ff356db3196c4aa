#include "trace/args.h"

namespace spotter {
namespace {

// All spellings of Kineto's JSON, from the 2020 samples to today; of each argument today's comes first. Keys
// are told apart by case: "bytes" is the size of a copy, "Bytes" that of an allocation. "Device" (2021, the
// pid of an operator) is not the device.
constexpr ArgSpelling kSpellings[] = {
    {"correlation", Arg::correlation, false},
    {"External id", Arg::external_id, false},
    {"external id", Arg::external_id, false},               // to 2021
    {"Record function id", Arg::record_function_id, true},  // 0 without an execution trace observer
    {"Ev Idx", Arg::ev_idx, false},
    {"Profiler Event Index", Arg::ev_idx, false},  // 1.11 to 1.13
    {"Sequence number", Arg::sequence_number, false},
    {"Fwd thread id", Arg::fwd_thread_id, true},
    {"id", Arg::flow_id, false},  // a member of the event itself, beside "args"

    {"device", Arg::device, true},
    {"context", Arg::context, true},
    {"stream", Arg::stream, true},
    {"queued", Arg::queued, true},
    {"bytes", Arg::bytes, false},
    {"size", Arg::bytes, false},  // ROCm allocations, MTIA copies
    {"memory bandwidth (GB/s)", Arg::memory_bandwidth, false},
    {"grid", Arg::grid, false},
    {"block", Arg::block, false},
    {"registers per thread", Arg::registers_per_thread, true},
    {"shared memory", Arg::shared_memory, true},
    {"blocks per SM", Arg::blocks_per_sm, false},
    {"warps per SM", Arg::warps_per_sm, false},
    {"est. achieved occupancy %", Arg::occupancy, false},
    {"graph id", Arg::graph_id, true},
    {"graph node id", Arg::graph_node_id, false},
    {"priority", Arg::priority, true},
    {"kind", Arg::kind, true},
    {"fromDevice", Arg::from_device, true},
    {"toDevice", Arg::to_device, true},

    {"wait_on_stream", Arg::wait_on_stream, true},
    {"wait_on_cuda_event_record_corr_id", Arg::wait_on_event_corr, false},
    {"wait_on_cuda_event_id", Arg::wait_on_event_id, false},
    {"cuda_sync_kind", Arg::sync_kind, true},
    {"event_id", Arg::event_id, false},

    {"cbid", Arg::cbid, true},
    {"cid", Arg::cbid, true},  // ROCm

    {"Input Dims", Arg::input_dims, false},
    {"Input dims", Arg::input_dims, false},  // to 2021
    {"Input Strides", Arg::input_strides, false},
    {"Input type", Arg::input_type, false},
    {"Concrete Inputs", Arg::concrete_inputs, false},
    {"Call stack", Arg::call_stack, false},
    {"Module Hierarchy", Arg::module_hierarchy, false},
    {"finished", Arg::finished, true},

    {"Collective name", Arg::collective_name, true},
    {"dtype", Arg::dtype, true},
    {"In msg nelems", Arg::in_msg_nelems, false},
    {"In msg size", Arg::in_msg_nelems, false},  // 2.2; elements in spite of its name
    {"Out msg nelems", Arg::out_msg_nelems, false},
    {"Out msg size", Arg::out_msg_nelems, false},  // 2.2
    {"In split size", Arg::in_split_size, false},
    {"Out split size", Arg::out_split_size, false},
    {"Group size", Arg::group_size, true},
    {"Process Group Name", Arg::group_name, true},
    {"Process Group ID", Arg::group_name, true},  // 2.3
    {"Process Group Description", Arg::group_desc, true},
    {"Process Group Ranks", Arg::group_ranks, false},
    {"Rank", Arg::rank, true},
    {"Src Rank", Arg::src_rank, true},
    {"Dst Rank", Arg::dst_rank, true},
    {"Seq", Arg::seq, false},
    {"Comms Id", Arg::comms_id, false},
    {"Global rank start", Arg::global_rank_start, true},
    {"Global rank stride", Arg::global_rank_stride, true},

    {"Addr", Arg::addr, false},
    {"Bytes", Arg::mem_bytes, false},
    {"Total Allocated", Arg::total_allocated, false},
    {"Total Reserved", Arg::total_reserved, true},
    {"Device Type", Arg::device_type, true},
    {"Device Id", Arg::device_id, true},

    {"Python id", Arg::python_id, false},
    {"Python parent id", Arg::python_parent_id, false},
    {"Python module id", Arg::python_module_id, false},
    {"Python thread", Arg::python_thread, true},

    {"name", Arg::name, false},
    {"labels", Arg::labels, false},
    {"sort_index", Arg::sort_index, false},
};

}  // namespace

std::span<const ArgSpelling> arg_spellings() { return kSpellings; }

}  // namespace spotter
