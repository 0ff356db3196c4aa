#include "export/export_job.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "read/json.h"
#include "read/open.h"

namespace spotter::export_ {
namespace {

constexpr const char* kTrace = "tests/fixtures/traces/gpu_training/rank";

std::string text_of(const std::vector<std::string>& paths, const ExportRequest& request) {
  const std::string out =
      std::filesystem::path(testing::TempDir()) / fmt::format("spotter_{}.json", getpid());
  const Result<Job> job = read::open_job(paths);
  Result<std::unique_ptr<TraceWriter>> writer = TraceWriter::open(out);
  const Result<Notes> notes = export_job(*job, request, read::load, **writer);
  EXPECT_TRUE(notes) << notes.error().message;
  const Result<std::string> text = read_small_file(out, size_t{1} << 30);
  std::filesystem::remove(out);
  return *text;
}

struct Event {
  std::string phase, category, id, track;
  Ns start = 0, end = 0;
};

std::vector<Event> events_of(const std::string& text) {
  std::vector<Event> events;
  for (const read::json::Member& top : read::json::members(text)) {
    if (top.key != "traceEvents") continue;
    for (const read::json::Member& element : read::json::members(top.raw)) {
      Event& event = events.emplace_back();
      std::string pid, tid;
      bool inexact = false;
      for (const read::json::Member& m : read::json::members(element.raw)) {
        if (m.key == "ph") event.phase = read::json::text_of(m.raw);
        if (m.key == "cat") event.category = read::json::text_of(m.raw);
        if (m.key == "id") event.id = read::json::text_of(m.raw);
        if (m.key == "pid") pid = read::json::text_of(m.raw);
        if (m.key == "tid") tid = read::json::text_of(m.raw);
        if (m.key == "ts") event.start = *read::json::microseconds_to_ns(read::json::text_of(m.raw), inexact);
        if (m.key == "dur") event.end = *read::json::microseconds_to_ns(read::json::text_of(m.raw), inexact);
      }
      event.end += event.start;
      event.track = pid + "/" + tid;
    }
  }
  return events;
}

// An arrow from the end of each kernel to the start of the next one in the trace.
std::vector<ExtraFlow> kernel_chain(const Trace& trace) {
  std::vector<ExtraFlow> flows;
  std::optional<EventId> before;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.category(e) != Category::kernel) continue;
    if (before) flows.push_back({*before, true, e, false, "chain", "chain", ""});
    before = e;
  }
  return flows;
}

// Every arrow has two ends, each within a kernel of the same rank; gives their number.
size_t check_chain(const std::string& text) {
  const std::vector<Event> events = events_of(text);
  std::map<std::string, std::string> phases;
  for (const Event& end : events) {
    if (end.category != "chain") continue;
    phases[end.id] += end.phase;
    const bool within = std::any_of(events.begin(), events.end(), [&](const Event& e) {
      return e.phase == "X" && e.category == "kernel" && e.track == end.track && e.start <= end.start &&
             end.start < e.end && (end.phase == "s" ? end.start == e.end - 1 : end.start == e.start);
    });
    EXPECT_TRUE(within) << end.phase << ' ' << end.track << ' ' << end.start;
  }
  for (const auto& [id, ends] : phases) EXPECT_EQ(ends, "sf") << id;
  return phases.size();
}

size_t kernels_of(const std::string& text) {
  const std::vector<Event> events = events_of(text);
  return static_cast<size_t>(std::count_if(
      events.begin(), events.end(), [](const Event& e) { return e.phase == "X" && e.category == "kernel"; }));
}

TEST(ExportJob, AddedArrowsConnectTheSpansThatWereNamed) {
  ExportRequest request;
  request.flows = kernel_chain;
  const std::string first = fmt::format("{}0.json.gz", kTrace), second = fmt::format("{}1.json.gz", kTrace);
  const std::string one = text_of({first}, request);
  EXPECT_EQ(check_chain(one), kernels_of(one) - 1);
  EXPECT_GT(kernels_of(one), 20u);
  const std::string both = text_of({first, second}, request);
  EXPECT_EQ(check_chain(both), kernels_of(both) - 2);
  request.from = 500'000;
  request.to = 1'500'000;
  const std::string part = text_of({first, second}, request);
  EXPECT_EQ(check_chain(part), kernels_of(part) - 2);
  EXPECT_LT(kernels_of(part), kernels_of(both));
}

TEST(ExportJob, ProgressComesToItsEnd) {
  ExportRequest request;
  i64 done = 0, total = 0;
  request.on_progress = [&](i64 d, i64 t) { done = d, total = t; };
  text_of({fmt::format("{}0.json.gz", kTrace)}, request);
  EXPECT_GT(total, 0);
  EXPECT_EQ(done, total);
}

TEST(ExportJob, CancellingLeavesNoFile) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / fmt::format("spotter_export_{}", getpid());
  std::filesystem::create_directory(folder);
  const std::atomic<bool> cancelled = true;
  ExportRequest request;
  request.cancelled = &cancelled;
  {
    const std::string path = fmt::format("{}0.json.gz", kTrace);
    const Result<Job> job = read::open_job(std::span(&path, 1));
    Result<std::unique_ptr<TraceWriter>> writer = TraceWriter::open(folder / "out.json");
    const Result<Notes> notes = export_job(*job, request, read::load, **writer);
    ASSERT_FALSE(notes);
    EXPECT_EQ(notes.error().code, Code::cancelled);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
}

}  // namespace
}  // namespace spotter::export_
