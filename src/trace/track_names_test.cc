#include "trace/track_names.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace spotter::trace {
namespace {

TEST(TrackNames, ComeFromMetadataOfAnyPlaceInTheFile) {
  TraceBuilder b;
  const EventId op = b.span("cpu_op", "op", 10, 11, 0, 1);
  const EventId kernel = b.span("kernel", "k", 0, 7, 0, 1);
  const EventId nameless = b.span("kernel", "k", 1, 7, 0, 1);
  b.mark('M', "", "process_name", 10, 0, 0, {{Arg::name, "python"}});
  b.mark('M', "", "process_labels", 10, 0, 0, {{Arg::labels, "CPU"}});
  b.mark('M', "", "process_labels", 0, 0, 0, {{Arg::labels, "GPU 0"}});
  b.mark('M', "", "thread_name", 10, 11, 0, {{Arg::name, "first"}});
  b.mark('M', "", "thread_name", 10, 11, 0, {{Arg::name, "thread 11 (python)"}});
  b.mark('M', "", "thread_name", 0, 7, 0, {{Arg::name, "stream 7 "}});
  b.mark('M', "", "thread_sort_index", 0, 7, 0, {{Arg::sort_index, 7}});
  b.mark('i', "", "thread_name", 1, 7, 0, {{Arg::name, "no metadata"}});
  const TracePtr t = b.build();
  const TrackNames& names = t->track_names();
  EXPECT_EQ(names.thread[t->track[op]], "thread 11 (python)");
  EXPECT_EQ(names.process[t->track[op]], "python");
  EXPECT_EQ(names.label[t->track[op]], "CPU");
  EXPECT_EQ(names.thread[t->track[kernel]], "stream 7 ");
  EXPECT_EQ(names.process[t->track[kernel]], "");
  EXPECT_EQ(names.label[t->track[kernel]], "GPU 0");
  EXPECT_EQ(names.thread[t->track[nameless]], "");
  EXPECT_EQ(names.label[t->track[nameless]], "");
}

}  // namespace
}  // namespace spotter::trace
