#include "read/event_texts.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "read/json.h"
#include "read/test_events.h"

namespace spotter::read {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = 500'000;  // of a shared file: all of them take a minute with sanitizers

struct Event {
  char phase = 'X';
  std::string name, times;
  bool operator==(const Event&) const = default;
};

// What an event's own text says, found without the scanner. Of a member that occurs twice the last counts.
Event read_alone(std::string_view text) {
  const Result<TraceData> data = read_text(fmt::format("[{}]", text));
  EXPECT_TRUE(data && data->ts.size() == 1) << text;
  if (!data || data->ts.size() != 1) return {};
  return {data->kinds[data->kind[0]].phase, std::string(data->strings[data->name[0]]),
          fmt::format("{} {}", data->ts[0], data->dur[0])};
}

// The text under each number is that of the event that the trace has there.
void check(const std::string& path, const ArgSet& args, int threads, size_t step) {
  TraceFile file;
  file.path = path;
  LoadRequest request;
  request.args = args;
  request.threads = threads;
  const Result<TracePtr> trace = load(file, request);
  if (!trace) return;
  EventId expected = 0;
  ASSERT_TRUE(for_each_event_text(file, request, [&](EventId e, std::string_view text) -> Result<void> {
    EXPECT_EQ(e, expected++);
    if (e >= (*trace)->size()) return fail(Code::internal, "too many");
    EXPECT_EQ(text.front(), '{');
    EXPECT_EQ(text.back(), '}');
    if (e % step) return {};
    const Event alone = read_alone(text), there{(*trace)->kind_of(e).phase, std::string((*trace)->name_of(e)),
                                                fmt::format("{} {}", (*trace)->ts[e], (*trace)->dur[e])};
    EXPECT_EQ(alone.name, there.name) << path << ' ' << e;
    EXPECT_EQ(alone.phase, there.phase) << path << ' ' << e;
    EXPECT_EQ(alone.times, there.times) << path << ' ' << e;
    return testing::Test::HasFailure() ? fail(Code::internal, "differs") : Result<void>();
  }));
  EXPECT_EQ(expected, (*trace)->size()) << path;
}

TEST(EventTexts, EveryTrace) {
  std::vector<std::string> folders = {"tests/fixtures/traces", "../shared/traces"};
  if (const char* named = std::getenv("SPOTTER_REFERENCE_TRACES")) folders.emplace_back(named);
  int files = 0;
  for (const std::string& folder : folders) {
    if (!fs::is_directory(folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file() || entry.path().extension() == ".md" || entry.file_size() > kMostBytes)
        continue;
      check(entry.path(), ArgSet(), 1 + files++ % 3, entry.file_size() > 50'000 ? 97 : 7);
    }
  }
  EXPECT_GT(files, 3);
}

TEST(EventTexts, DamagedFiles) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    RandomEvents events(seed);
    std::string text = fmt::format("{{\"traceEvents\": [{}]}}", events.text(40, nullptr));
    for (size_t changes = seed % 6; changes > 0; --changes)
      text[events.random.below(text.size() - 20) + 17] = static_cast<char>(events.random.below(256));
    if (seed % 7 == 0) text.resize(text.size() / 2);
    const TemporaryFile file(text);
    // A damaged event alone need not be read as it is in its place: of these the numbers are checked.
    check(file.path(), seed % 2 ? ArgSet() : ArgSet::everything(), 1, 1'000'000);
  }
}

TEST(EventTexts, AnErrorEndsTheReading) {
  const TemporaryFile file("[{\"ph\": \"X\"}, {\"ph\": \"i\"}]");
  TraceFile trace;
  trace.path = file.path();
  int seen = 0;
  const Result<void> done = for_each_event_text(trace, {}, [&](EventId, std::string_view) -> Result<void> {
    ++seen;
    return fail(Code::io, "full");
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "full");
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace spotter::read
