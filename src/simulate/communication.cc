#include "simulate/communication.h"

#include <utility>

namespace spotter::simulate {

// What one collective is called on each level.
struct Communication::Words {
  const char *op, *annotation, *kernel;
};

namespace {

constexpr const char* kAllReduceKernel = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";
constexpr const char* kGatherKernel = "ncclDevKernel_AllGather_RING_LL";
constexpr const char* kScatterKernel = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL";
constexpr const char* kSendRecvKernel = "ncclDevKernel_SendRecv";
constexpr Ns kRecord = 6'000;  // what ProcessGroupNCCL does around the launch

}  // namespace

void Communication::issue(const Words& words, Collective collective, Stream stream) {
  const u32 index = b_.collective(std::move(collective), std::string(words.kernel) + spec_.era->nccl_args);
  const auto op = b_.operation(words.op);
  const auto record = b_.comms_record(index);
  const auto annotation = b_.annotation(words.annotation);
  b_.work(kRecord);
  b_.start(index, stream);
}

void Communication::reduce_tensor(i64 elements) {
  const i64 n = spec_.tensor;
  if (n == 1) return;
  const i64 bytes = elements * kElementBytes;
  issue({"c10d::allreduce_", "nccl:all_reduce", kAllReduceKernel},
        {.group = GroupKind::tensor,
         .name = "allreduce",
         .in_elements = elements,
         .out_elements = elements,
         .bytes = 2 * bytes * (n - 1) / n,
         .rounds = 2},
        kTensor);
  b_.wait(kCompute, kTensor);
}

void Communication::wait_if_unoverlapped(Stream stream) {
  b_.for_faults(FaultType::unoverlapped_communication, [&](const Fault&) { b_.wait(kCompute, stream); });
}

void Communication::gather_parameters(i64 elements) {
  const i64 n = spec_.data();
  const auto annotation = b_.annotation("FSDP::all_gather");
  issue({"c10d::_allgather_base_", "nccl:_all_gather_base", kGatherKernel},
        {.group = GroupKind::data,
         .name = "_allgather_base",
         .in_elements = elements / n,
         .out_elements = elements,
         .bytes = elements * kElementBytes * (n - 1) / n},
        kData);
  wait_if_unoverlapped(kData);
}

void Communication::scatter_gradients(i64 elements) {
  const i64 n = spec_.data();
  const auto annotation = b_.annotation("FSDP::post_backward_reduce");
  issue({"c10d::_reduce_scatter_base_", "nccl:_reduce_scatter_base", kScatterKernel},
        {.group = GroupKind::data,
         .name = "_reduce_scatter_base",
         .in_elements = elements,
         .out_elements = elements / n,
         .bytes = elements * kElementBytes * (n - 1) / n},
        kScatter);
  wait_if_unoverlapped(kScatter);
}

void Communication::exchange_tokens(i64 elements) {
  const i64 n = spec_.expert;
  issue({"c10d::alltoall_base_", "nccl:all_to_all", kSendRecvKernel},
        {.group = GroupKind::expert,
         .name = "all_to_all",
         .in_elements = elements,
         .out_elements = elements,
         .bytes = elements * kElementBytes * (n - 1) / n},
        kExpert);
  b_.wait(kCompute, kExpert);
}

// Ranks that share the experts out have other ones each: their gradients are nobody else's.
void Communication::add_gradient(i64 bytes, bool of_experts) {
  if (!of_experts)
    bucket_bytes_ += bytes;
  else if (reduces_experts())
    expert_bucket_bytes_ += bytes;
}

void Communication::flush_buckets(bool all) {
  flush(GroupKind::data, kData, all, bucket_bytes_);
  flush(GroupKind::expert_data, kExpertData, all, expert_bucket_bytes_);
}

void Communication::flush(GroupKind group, Stream stream, bool all, i64& bucket_bytes) {
  const i64 n = group == GroupKind::data ? spec_.data() : spec_.data() / spec_.expert;
  const i64 full = spec_.bucket_mb << 20;
  while (bucket_bytes >= full || (all && bucket_bytes > 0)) {
    const i64 bytes = std::min(bucket_bytes, full);
    bucket_bytes -= bytes;
    issue({"c10d::allreduce_", "nccl:all_reduce", kAllReduceKernel},
          {.group = group,
           .name = "allreduce",
           .in_elements = bytes / kElementBytes,
           .out_elements = bytes / kElementBytes,
           .bytes = 2 * bytes * (n - 1) / n,
           .rounds = 2},
          stream);
    wait_if_unoverlapped(stream);
  }
}

void Communication::send(bool forward, i64 elements) {
  using Way = Collective::Way;
  issue({"c10d::send", "nccl:send", kSendRecvKernel},
        {.group = GroupKind::pipeline,
         .way = forward ? Way::send_next : Way::send_previous,
         .name = "send",
         .in_elements = elements,
         .out_elements = elements,
         .bytes = elements * kElementBytes},
        kSend);
}

// ProcessGroupNCCL tells the calls one by one, and launches their kernel when their group ends.
void Communication::exchange(bool with_next, i64 elements) {
  using Way = Collective::Way;
  const auto known = [&](Way way, const char* name) {
    return b_.collective({.group = GroupKind::pipeline,
                          .way = way,
                          .name = name,
                          .in_elements = elements,
                          .out_elements = elements,
                          .bytes = elements * kElementBytes},
                         std::string(kSendRecvKernel) + spec_.era->nccl_args);
  };
  const u32 send = known(with_next ? Way::send_next : Way::send_previous, "send");
  const u32 receive = known(with_next ? Way::receive_next : Way::receive_previous, "recv");
  const u32 both = known(with_next ? Way::exchange_next : Way::exchange_previous, "coalesced");
  for (const auto& [op, collective] : {std::pair("c10d::send", send), std::pair("c10d::recv_", receive)}) {
    const auto operation = b_.operation(op);
    const auto record = b_.comms_record(collective);
    b_.work(kRecord);
  }
  {
    const auto annotation = b_.annotation("nccl:coalesced");
    b_.start(both, kSend);
  }
  b_.wait(kCompute, kSend);
}

void Communication::receive(bool forward, i64 elements) {
  using Way = Collective::Way;
  issue({"c10d::recv_", "nccl:recv", kSendRecvKernel},
        {.group = GroupKind::pipeline,
         .way = forward ? Way::receive_previous : Way::receive_next,
         .name = "recv",
         .in_elements = elements,
         .out_elements = elements,
         .bytes = elements * kElementBytes},
        kReceive);
  b_.wait(kCompute, kReceive);
}

}  // namespace spotter::simulate
