#include "trace/facts/collective_marks.h"

#include <gtest/gtest.h>

namespace spotter::trace {
namespace {

TEST(CollectiveMarks, BackendsWorkOnTheHostOrOnADevice) {
  for (const char* name : {"gloo:all_reduce", "mpi:broadcast"})
    EXPECT_EQ(backend_of_mark(name).backend, CollectiveBackend::on_host) << name;
  for (const char* name : {"nccl:all_reduce", "rccl:send 0->1", "xccl:barrier", "hccl:x", "ucc:x"})
    EXPECT_EQ(backend_of_mark(name).backend, CollectiveBackend::on_device) << name;
  for (const char* name : {"", "nccl", "ncclx:all_reduce", "aten::add", "c10d::allreduce_", "my gloo:x"})
    EXPECT_FALSE(is_collective_mark(name)) << name;
  EXPECT_EQ(backend_of_mark("gloo:all_reduce").name, "gloo");
}

}  // namespace
}  // namespace spotter::trace
