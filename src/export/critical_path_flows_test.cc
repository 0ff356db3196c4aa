#include "export/critical_path_flows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trace/builder.h"

namespace spotter::export_ {
namespace {

TEST(CriticalPathFlows, LeadFromTheLaunchOverTheDeviceToTheCallThatWaits) {
  trace::TraceBuilder builder;
  builder.span("user_annotation", "ProfilerStep#1", 1, 1, 0, 100);
  const auto launch = [&](Ns start, i64 correlation) {
    return builder.span("cuda_runtime", "cudaLaunchKernel", 1, 1, start, 2,
                        {{Arg::correlation, correlation}});
  };
  const auto work = [&](Ns start, Ns dur, i64 correlation) {
    return builder.span("kernel", "gemm", 0, 7, start, dur,
                        {{Arg::correlation, correlation}, {Arg::device, i64{0}}, {Arg::stream, i64{7}}});
  };
  const EventId call = launch(10, 1);
  launch(13, 2);
  launch(16, 3);
  const EventId a = work(15, 25, 1), b = work(40, 20, 2), c = work(61, 9, 3);
  const EventId wait =
      builder.span("cuda_runtime", "cudaDeviceSynchronize", 1, 1, 20, 53, {{Arg::correlation, i64{4}}});
  const TracePtr trace = builder.build();
  std::vector<std::string> arrows;
  for (const ExtraFlow& flow : critical_path_flows(*trace))
    arrows.push_back(
        fmt::format("{}{} {}{}", flow.from, flow.from_end ? "e" : "s", flow.to, flow.to_end ? "e" : "s"));
  const std::vector<std::string> expected = {
      fmt::format("{}s {}s", call, a),  // the launch delay
      fmt::format("{}e {}s", a, b),     // right after each other
      fmt::format("{}e {}s", b, c),     // a gap
      fmt::format("{}e {}e", c, wait),  // the host is told
  };
  EXPECT_EQ(arrows, expected);
}

}  // namespace
}  // namespace spotter::export_
