#include "export/cut.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace spotter::export_ {
namespace {

TEST(Cut, ArrowsStayWhereBothEndsDo) {
  trace::TraceBuilder builder;
  const auto launch = [&](Ns ts, i64 correlation, Ns start) {
    builder.span("cuda_runtime", "cudaLaunchKernel", 1, 1, ts, 5, {{Arg::correlation, correlation}});
    builder.span("kernel", "k", 0, 7, start, 10,
                 {{Arg::correlation, correlation}, {Arg::device, i64{0}}, {Arg::stream, i64{7}}});
    builder.mark('s', "ac2g", "ac2g", 1, 1, ts, {{Arg::flow_id, correlation}});
    builder.mark('f', "ac2g", "ac2g", 0, 7, start, {{Arg::flow_id, correlation}});
  };
  builder.mark('M', "", "process_name", 1, 1, 0, {{Arg::name, std::string("python")}});
  launch(10, 1, 120);   // rows 1 to 4: the launch lies before the window, though its kernel runs in it
  launch(110, 2, 300);  // rows 5 to 8: the launch lies in it, the kernel behind it
  launch(200, 3, 320);  // rows 9 to 12: begins at the end of the window
  builder.mark('s', "fwdbwd", "fwdbwd", 1, 1, 112,
               {{Arg::flow_id, i64{2}}});  // of another flow, with one end
  const TracePtr trace = builder.build();
  const Cut cut{{}, trace::Window{100, 200}};
  EXPECT_EQ(*rows_of(*trace, cut), (std::vector<EventId>{0, 5, 6, 7, 8}));
  EXPECT_EQ(rows_of(*trace, Cut{{}, trace::Window{INT64_MIN, INT64_MAX}})->size(), 13u);
}

TEST(Cut, StepsAndWindowBothCount) {
  trace::TraceBuilder builder;
  for (i64 n = 0; n < 3; ++n) {
    builder.span("user_annotation", fmt::format("ProfilerStep#{}", n), 1, 1, n * 100, 100);
    builder.span("cpu_op", "early", 1, 1, n * 100 + 10, 5);
    builder.span("cpu_op", "late", 1, 1, n * 100 + 60, 5);
  }
  const TracePtr trace = builder.build();
  EXPECT_EQ(*rows_of(*trace, {analyze::Range{1, 1}, {}}), (std::vector<EventId>{3, 4, 5}));
  EXPECT_EQ(*rows_of(*trace, {analyze::Range{1, 2}, trace::Window{150, 215}}),
            (std::vector<EventId>{5, 6, 7}));
  EXPECT_FALSE(rows_of(*trace, {analyze::Range{7, 8}, {}}).has_value());
}

}  // namespace
}  // namespace spotter::export_
