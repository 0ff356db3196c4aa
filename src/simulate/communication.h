// Communication: the collectives of a step, as DDP, FSDP, tensor parallelism and a pipeline issue them.
#pragma once
#include "simulate/builder.h"

namespace spotter::simulate {

class Communication {
 public:
  Communication(const Spec& spec, Builder& builder) : spec_(spec), b_(builder) {}

  bool shards() const { return spec_.sharding == Sharding::fsdp && spec_.data() > 1; }
  bool reduces() const { return spec_.sharding == Sharding::ddp && spec_.data() > 1; }

  bool reduces_experts() const { return reduces() && spec_.expert > 1 && spec_.data() > spec_.expert; }

  void reduce_tensor(i64 elements);               // computation waits for it
  void exchange_tokens(i64 elements);             // with the other ranks' experts; computation waits for it
  void gather_parameters(i64 elements);           // FSDP: of a layer, which waits by await_data
  void scatter_gradients(i64 elements);           // FSDP: of a layer
  void add_gradient(i64 bytes, bool of_experts);  // DDP: full buckets go when flushed
  void flush_buckets(bool all);
  void await_data() { b_.wait(kCompute, kData); }
  void await_scatters() { b_.wait(kCompute, kScatter); }
  void await_experts() { b_.wait(kCompute, kExpertData); }
  void send(bool forward, i64 elements);
  void receive(bool forward, i64 elements);  // computation waits for it
  void exchange(bool with_next,
                i64 elements);  // a send and a receive by one kernel; computation waits for it
  void await_sends() { b_.wait(kCompute, kSend); }

 private:
  struct Words;
  void issue(const Words& words, Collective collective, Stream stream);
  void wait_if_unoverlapped(Stream stream);
  void flush(GroupKind group, Stream stream, bool all, i64& bytes);

  const Spec& spec_;
  Builder& b_;
  i64 bucket_bytes_ = 0, expert_bucket_bytes_ = 0;
};

}  // namespace spotter::simulate
