#include "analyze/communication/collective_names.h"

#include <gtest/gtest.h>

namespace spotter::analyze {
namespace {

TEST(CollectiveNames, OperationsByAnyName) {
  const struct {
    const char *name, *operation;
  } cases[] = {
      {"allreduce", "all_reduce"},
      {"all_reduce", "all_reduce"},
      {"allreduce_coalesced", "all_reduce"},
      {"nccl:all_reduce", "all_reduce"},
      {"gloo:all_reduce", "all_reduce"},
      {"_allgather_base", "all_gather"},
      {"nccl:_all_gather_base", "all_gather"},
      {"all_gather_single", "all_gather"},
      {"allgather_into_tensor_coalesced", "all_gather"},
      {"_reduce_scatter_base", "reduce_scatter"},
      {"reduce_scatter_tensor_coalesced", "reduce_scatter"},
      {"all_to_allv", "all_to_all"},
      {"nccl:all_to_all", "all_to_all"},
      {"broadcast", "broadcast"},
      {"nccl:_broadcast_oop", "broadcast"},
      {"nccl:_reduce_oop", "reduce"},
      {"gather", "gather"},
      {"scatter", "scatter"},
      {"barrier", "barrier"},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "all_reduce"},
      {"ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", "reduce_scatter"},
      {"ncclDevKernel_Reduce_Sum_f32_RING_LL", "reduce"},
      {"ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_f32(ncclSymkDevWorkArgs4K)", "all_reduce"},
      {"ncclSymkDevKernel_ReduceScatter_LL_sum_bf16", "reduce_scatter"},
      {"ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", "all_gather"},
      {"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "all_reduce"},
      {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)", "all_reduce"},
      {"void mscclpp::allreduce<AllGather>(float*)", "all_reduce"},
      {"mscclKernel_Sum_half_Simple_false(ncclDevComm*)", "mscclKernel_Sum_half_Simple_false"},
      {"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_Generic"},
      {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
       "all_reduce"},
      {"void deep_ep::intranode::dispatch<8, 768>(int4*)", "deep_ep::intranode::dispatch"},
      {"", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(operation_of(c.name), c.operation) << c.name;
}

TEST(CollectiveNames, SendsAndReceives) {
  for (const char* name : {"nccl:send 0->1", "nccl:recv 0<-1", "recv", "ncclDevKernel_SendRecv"})
    EXPECT_TRUE(is_point_to_point(name)) << name;
  EXPECT_FALSE(is_point_to_point("nccl:all_to_all"));
}

TEST(CollectiveNames, TheShareOfAMessageThatCrossesALink) {
  EXPECT_DOUBLE_EQ(bus_factor("all_reduce", 8).value(), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor("all_reduce", 1).value(), 0);
  for (const char* operation : {"all_gather", "reduce_scatter", "all_to_all", "gather", "scatter"})
    EXPECT_DOUBLE_EQ(bus_factor(operation, 4).value(), 0.75) << operation;
  EXPECT_DOUBLE_EQ(bus_factor("broadcast", 4).value(), 1);
  EXPECT_DOUBLE_EQ(bus_factor("reduce", 0).value(), 1);  // the same for all sizes
  EXPECT_FALSE(bus_factor("all_reduce", 0));
  EXPECT_FALSE(bus_factor("barrier", 4));
  EXPECT_FALSE(bus_factor("mscclKernel_Sum_half_Simple_false", 4));
}

}  // namespace
}  // namespace spotter::analyze
