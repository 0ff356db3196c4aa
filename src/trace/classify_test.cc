#include "trace/classify.h"

#include <gtest/gtest.h>

namespace spotter::trace {
namespace {

TEST(Classify, KernelsByName) {
  const struct {
    const char* name;
    WorkKind kind;
  } cases[] = {
      {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", WorkKind::communication},
      {"void ncclKernel_AllGather<int>()", WorkKind::communication},
      {"RCCL_main", WorkKind::communication},
      {"mscclKernel_Sum_half", WorkKind::communication},
      {"void nvshmem_put<float>()", WorkKind::communication},
      {"void deep_ep::internode::dispatch<false>()", WorkKind::communication},
      {"void vllm::cross_device_reduce_1stage<float, 8>()", WorkKind::communication},
      {"multimem_all_reduce_kernel<bf16>", WorkKind::communication},
      {"AllGather_kernel", WorkKind::communication},
      {"custom_AllReduce", WorkKind::communication},
      {"ReduceScatterKernel", WorkKind::communication},
      {"alltoall_intranode", WorkKind::communication},
      {"SendRecv", WorkKind::communication},
      {"oneShotAllReduceKernel<float>", WorkKind::communication},
      {"two_shot_allreduce", WorkKind::communication},
      {"ns::ccl_broadcast", WorkKind::communication},
      {"ccl_allreduce_medium", WorkKind::communication},
      {"xccl_broadcast", WorkKind::communication},
      {"void pccl_send<float>()", WorkKind::communication},
      // Fused operators and reductions that stay on the device.
      {"triton_red_fused_all_reduce_add_0", WorkKind::compute},
      {"triton_poi_fused_nccl_wait_0", WorkKind::compute},
      {"not_triton_poi_nccl", WorkKind::communication},
      {"block_all_reduce_sum_f32", WorkKind::compute},
      {"void ns::warpAllReduce<float>()", WorkKind::compute},
      {"thread_group_all_reduce", WorkKind::compute},
      {"ns::warp::all_reduce<float>", WorkKind::communication},  // another identifier
      {"blockAllReduce_then_all_gather", WorkKind::compute},
      {"ncclDevKernel_block_all_reduce", WorkKind::communication},
      // What looks like something else.
      {"void at::native::batch_norm_collect_statistics_SyncBatchNorm_kernel()", WorkKind::compute},
      {"void rdma_copy_kernel()", WorkKind::compute},
      {"void my_Memset_fused()", WorkKind::compute},
      {"Memcpy DtoD", WorkKind::compute},  // a name alone is no category
      {"hipblaslt_gemm", WorkKind::compute},
      {"Cijk_Ailk_Bljk_HHS", WorkKind::compute},
      {"vectorized_elementwise_kernel", WorkKind::compute},
      {"CUB::cccl::reduce", WorkKind::compute},
      {"all__reduce", WorkKind::compute},
      {"small_reduce_kernel", WorkKind::compute},
      {"smallGatherKernel", WorkKind::compute},
      {"tall_gather_rows", WorkKind::compute},
      {"firewall_to_all", WorkKind::compute},
      {"", WorkKind::compute},
  };
  for (const auto& c : cases) EXPECT_EQ(classify(Category::kernel, c.name, false), c.kind) << c.name;
}

TEST(Classify, CategoryComesFirstThenArguments) {
  EXPECT_EQ(classify(Category::gpu_memcpy, "ncclCopy", true), WorkKind::memory);
  EXPECT_EQ(classify(Category::gpu_memset, "anything", false), WorkKind::memory);
  EXPECT_EQ(classify(Category::kernel, "elementwise", true), WorkKind::communication);
  EXPECT_EQ(classify(Category::kernel, "triton_poi_fused_0", true), WorkKind::communication);
}

TEST(Classify, MtiaNamesTellCopiesFromKernels) {
  for (const char* name : {"memcpyAsync", "MemSet", "DMA in", "dma_out"})
    EXPECT_EQ(classify(Category::mtia_device, name, false), WorkKind::memory) << name;
  EXPECT_EQ(classify(Category::mtia_device, "job_exec dma", false), WorkKind::compute);
  EXPECT_EQ(classify(Category::mtia_device, "hccl::AllReduce", false), WorkKind::communication);
}

}  // namespace
}  // namespace spotter::trace
