#include "respond/logs/fatal_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace spotter::respond {
namespace {

std::string kind_of(std::string_view line) {
  static const FatalLines lines;
  const auto found = lines.match(line);
  return found ? found->kind->name : "";
}

TEST(FatalLines, OfEachKind) {
  EXPECT_EQ(
      kind_of("[rank3]:[E1126 10:11:12.123 ProcessGroupNCCL.cpp:685] [Rank 3] Watchdog caught collective "
              "operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=1)"),
      "collective_timeout");
  EXPECT_EQ(kind_of("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."),
            "cuda_out_of_memory");
  EXPECT_EQ(kind_of("RuntimeError: CUDA error: an illegal memory access was encountered"), "cuda_error");
  EXPECT_EQ(
      kind_of("gpu01:123:456 [0] transport/net_ib.cc:1 NCCL WARN NET/IB : Got completion with error 12"),
      "nccl_error");
  EXPECT_EQ(kind_of("torch.distributed.elastic.multiprocessing.errors.ChildFailedError:"), "worker_failed");
  EXPECT_EQ(kind_of("Fatal Python error: Segmentation fault"), "crash");
  EXPECT_EQ(
      kind_of(" iteration 20/ 500 | number of skipped iterations:   0 | number of nan iterations:   2 |"),
      "loss_not_a_number");
  EXPECT_EQ(kind_of("step 7 loss: nan"), "loss_not_a_number");
  EXPECT_EQ(kind_of("[rank0]: Traceback (most recent call last):"), "traceback");
}

TEST(FatalLines, OthersAreNot) {
  for (const char* line : {"", "loss: 2.1", "number of nan iterations:   0 |", "cuda out of memory",
                           "NCCL INFO Bootstrap", "no traceback here"})
    EXPECT_EQ(kind_of(line), "") << line;
}

TEST(FatalLines, NameTheRank) {
  const FatalLines lines;
  EXPECT_EQ(lines.match("[Rank 37] Watchdog caught collective operation timeout")->rank, 37);
  EXPECT_EQ(lines.match("[Rank 99999999999999999999] NCCL error")->rank, std::nullopt);
  EXPECT_EQ(lines.match("NCCL error")->rank, std::nullopt);
}

}  // namespace
}  // namespace spotter::respond
