#include "read/assemble.h"

#include <gtest/gtest.h>

#include "read/test_read.h"
#include "trace/load.h"

namespace spotter::read {
namespace {

TEST(Assembler, OfTooManyTextsTheFirstAreToldApartAndTheOthersCounted) {
  std::string text = R"({"traceEvents": [)";
  for (int i = 0; i < 100; ++i)
    text += fmt::format(R"({}{{"ph":"X","cat":"cpu_op","name":"n{}","pid":1,"tid":1,"ts":{},"dur":1}})",
                        i > 0 ? "," : "", i, i);
  text += "]}";
  const Result<std::unique_ptr<RawInput>> nothing = RawInput::open("/dev/null");
  ASSERT_TRUE(nothing);
  for (const int threads : {1, 3}) {
    TextSource source(text);
    LoadRequest request;
    request.threads = threads;
    request.most_texts = 12;
    const Result<TraceData> trace = read_events(**nothing, source, request, {});
    ASSERT_TRUE(trace);
    ASSERT_EQ(trace->ts.size(), 100U);
    EXPECT_EQ(trace->strings[trace->name[0]], "n0");
    EXPECT_EQ(trace->strings[trace->name[99]], kTextLeftOut);
    EXPECT_LE(trace->strings.size(), 13U);
    const auto& notes = trace->notes.all();
    const auto note = std::ranges::find(notes, "texts_left_out", &Note::kind);
    ASSERT_NE(note, notes.end());
    EXPECT_EQ(note->severity, Severity::loss);
    EXPECT_GT(note->count, 85);
  }
}

}  // namespace
}  // namespace spotter::read
