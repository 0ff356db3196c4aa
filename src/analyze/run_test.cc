#include "analyze/run.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

#include "analyze/list.h"
#include "analyze/test_trace.h"

namespace spotter::analyze {
namespace {

// What stands in for a trace file.
struct FakeFile {
  std::optional<i64> rank;     // in its contents
  int operators = 1;           // 0: a launcher's trace
  std::optional<Error> error;  // instead of a trace
  bool rank_known = false;     // before it is read
};

using Files = std::map<std::string, FakeFile>;  // by path

// A loader of fake files that counts what it is asked for.
class FakeReader {
 public:
  explicit FakeReader(Files files) : files_(std::move(files)) {}

  Job job() const {
    Job job;
    for (const auto& [path, file] : files_) {
      TraceFile entry;
      entry.path = path;
      entry.bytes = entry.json_bytes = 1000;
      if (file.rank_known) entry.rank = file.rank, entry.rank_source = RankSource::file_contents;
      job.files.push_back(entry);
    }
    return job;
  }

  Loader loader() {
    return [this](const TraceFile& file, const LoadRequest& how) -> Result<TracePtr> {
      {
        const std::lock_guard lock(mutex_);
        ++loads[file.path];
        most_at_once = std::max(most_at_once, ++at_once_);
        threads = how.threads;
        args = how.args;
      }
      if (how.on_bytes) how.on_bytes(file.bytes);
      if (on_load) on_load(file);
      const std::lock_guard lock(mutex_);
      --at_once_;
      const FakeFile& fake = files_.at(file.path);
      if (fake.error) return tl::unexpected(*fake.error);
      return trace_of(file.path, fake);
    };
  }

  std::map<std::string, int> loads;
  int most_at_once = 0, threads = 0;
  ArgSet args;
  std::function<void(const TraceFile&)> on_load;

 private:
  static TracePtr trace_of(const std::string& path, const FakeFile& fake) {
    trace::TraceBuilder b;
    b.info().path = path;
    b.info().rank = fake.rank;
    b.mark('M', "", "process_name", 1, 1, 0);
    for (int i = 0; i < fake.operators; ++i) b.span("cpu_op", "aten::add", 1, 1, 100 * i, 10);
    for (int i = 0; i < fake.operators; ++i)
      b.span("user_annotation", fmt::format("ProfilerStep#{}", i), 1, 1, 100 * i, 50);
    return b.build();
  }

  Files files_;
  std::mutex mutex_;
  int at_once_ = 0;
};

RunRequest request_for(std::vector<const char*> names) {
  RunRequest request;
  for (const char* name : names) request.analyses.push_back(find_analysis(name));
  return request;
}

FakeFile of_rank(i64 rank, int operators = 1) { return {rank, operators, {}, false}; }
FakeFile known_rank(i64 rank) { return {rank, 1, {}, true}; }
FakeFile no_rank(int operators = 1) { return {{}, operators, {}, false}; }
FakeFile launcher() { return no_rank(0); }
FakeFile failing(Code code, std::string message) { return {{}, 1, Error{code, std::move(message)}, false}; }

const Note* find_note(const Notes& notes, std::string_view kind) {
  for (const Note& note : notes.all())
    if (note.kind == kind) return &note;
  return nullptr;
}

TEST(Run, OrdersFilesByRankAndLaunchersLast) {
  FakeReader reader(Files{
      {"a.json", of_rank(9)}, {"b.json", no_rank()}, {"c.json", of_rank(2)}, {"launcher.json", launcher()}});
  const Result<RunResult> result = run(reader.job(), request_for({"summary", "operators"}), reader.loader());
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->tables.size(), 2u);
  const Table& summary = result->tables[0];
  ASSERT_EQ(summary.rows(), 4u);
  EXPECT_EQ(text(summary, 0, "file"), "b.json");  // the lowest free number
  EXPECT_EQ(integer(summary, 0, "rank"), 0);
  EXPECT_EQ(integer(summary, 1, "rank"), 2);
  EXPECT_EQ(integer(summary, 2, "rank"), 9);
  EXPECT_EQ(text(summary, 3, "file"), "launcher.json");
  EXPECT_TRUE(is_null(cell(summary, 3, "rank")));
  EXPECT_EQ(result->tables[1].rows(), 3u);
  const Note* none = find_note(result->tables[1].notes, "no_operators");
  ASSERT_NE(none, nullptr);
  EXPECT_EQ(none->scope, "launcher.json");
  EXPECT_NE(find_note(result->notes, "rank_by_order"), nullptr);
  for (const auto& [path, count] : reader.loads) EXPECT_EQ(count, 1) << path;
}

TEST(Run, TheAnswerDoesNotDependOnThreads) {
  Files files;
  for (int i = 0; i < 20; ++i) files[fmt::format("f{:02}.json", i)] = no_rank(1 + i);
  std::vector<i64> spans[2];
  for (int threads : {1, 7}) {
    FakeReader reader(files);
    RunRequest request = request_for({"summary"});
    request.threads = threads;
    const Result<RunResult> result = run(reader.job(), request, reader.loader());
    ASSERT_TRUE(result);
    for (size_t row = 0; row < 20; ++row)
      spans[threads != 1].push_back(integer(result->tables[0], row, "spans"));
  }
  EXPECT_EQ(spans[0], spans[1]);
}

TEST(Run, RanksComeFromReceiptsWhereFilesGiveNone) {
  FakeReader reader(Files{{"a.json", no_rank()}, {"b.json", of_rank(2)}, {"c.json", launcher()}});
  Job job = reader.job();
  for (TraceFile& file : job.files) file.receipt_rank = file.path == "a.json" ? 5 : 3;
  const Result<RunResult> result = run(job, request_for({"summary"}), reader.loader());
  ASSERT_TRUE(result) << result.error().message;
  for (size_t row = 0; row < 3; ++row)
    EXPECT_EQ(integer(result->tables[0], row, "rank"), (std::vector<i64>{2, 3, 5})[row]);
  EXPECT_NE(find_note(result->notes, "rank_from_receipts"), nullptr);
  EXPECT_NE(find_note(result->notes, "rank_disagrees"), nullptr);
}

TEST(Run, FilesThatWereMappedElsewhereAreReducedTogether) {
  const Files here = {{"a.json", of_rank(1, 3)}}, there = {{"b.json", of_rank(0, 2)}, {"c.json", launcher()}};
  Files both = here;
  both.insert(there.begin(), there.end());
  const RunRequest request = request_for({"summary", "operators"});
  FakeReader all(both), first(here), second(there);
  const Result<RunResult> wanted = run(all.job(), request, all.loader());
  Result<MappedJob> mapped = map_files(first.job(), request, first.loader());
  const Result<MappedJob> elsewhere = map_files(second.job(), request, second.loader());
  ASSERT_TRUE(wanted && mapped && elsewhere);
  mapped->files.insert(mapped->files.end(), elsewhere->files.begin(), elsewhere->files.end());
  const Result<RunResult> result = reduce_files(std::move(*mapped), request);
  ASSERT_TRUE(result) << result.error().message;
  const Table &summary = result->tables[0], &same = wanted->tables[0];
  ASSERT_EQ(summary.rows(), 3u);
  for (size_t row = 0; row < summary.rows(); ++row)
    for (size_t column = 0; column < summary.columns(); ++column)
      EXPECT_EQ(summary.at(row, column), same.at(row, column));
  EXPECT_EQ(result->timing.size(), wanted->timing.size());
}

TEST(Run, TwoFilesOfOneRankAreAnError) {
  FakeReader reader(Files{{"a.json", of_rank(3)}, {"b.json", of_rank(3)}});
  const Result<RunResult> result = run(reader.job(), request_for({"summary"}), reader.loader());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::invalid);
  EXPECT_NE(result.error().message.find("a.json"), std::string::npos);
  EXPECT_NE(result.error().message.find("b.json"), std::string::npos);
}

TEST(Run, OneBadFileOfSeveralIsALoss) {
  FakeReader reader({{"dir/a.json", of_rank(0)},
                     {"dir/b.json", failing(Code::corrupt, "no JSON")},
                     {"dir/c.json", no_rank()}});
  const Result<RunResult> result = run(reader.job(), request_for({"summary"}), reader.loader());
  ASSERT_TRUE(result);
  ASSERT_EQ(result->tables[0].rows(), 2u);
  EXPECT_EQ(integer(result->tables[0], 1, "rank"), 2);  // b.json keeps its place
  const Note* note = find_note(result->notes, "file_left_out");
  ASSERT_NE(note, nullptr);
  EXPECT_EQ(note->severity, Severity::loss);
  EXPECT_EQ(note->scope, "b.json");
  EXPECT_NE(note->sentence.find("no JSON"), std::string::npos);
}

TEST(Run, WhatIsNoTraceTakesNoRank) {
  FakeReader reader(Files{{"config.json", failing(Code::unsupported, "no trace")}, {"w.json", no_rank()}});
  RunRequest request = request_for({"summary"});
  request.ranks = {{0, 0}};
  const Result<RunResult> result = run(reader.job(), request, reader.loader());
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->tables[0].rows(), 1u);
  EXPECT_EQ(integer(result->tables[0], 0, "rank"), 0);
  EXPECT_EQ(find_note(result->notes, "rank_by_order"), nullptr);
}

TEST(Run, OneBadFileAloneIsTheError) {
  FakeReader reader(Files{{"a.json", failing(Code::corrupt, "no JSON")}});
  const Result<RunResult> result = run(reader.job(), request_for({"summary"}), reader.loader());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::corrupt);
  EXPECT_EQ(result.error().message, "no JSON");
}

TEST(Run, OnlyBadFilesGiveTheFirstErrorWithItsFile) {
  FakeReader reader(
      Files{{"a.json", failing(Code::io, "disk")}, {"b.json", failing(Code::corrupt, "no JSON")}});
  RunRequest request = request_for({"summary"});
  request.ranks = {{7, 7}};  // the ranks of unread files are not known
  const Result<RunResult> result = run(reader.job(), request, reader.loader());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::io);
  EXPECT_EQ(result.error().message, "a.json: disk");
}

TEST(Run, UnwantedRanksAreLeftOutAndNotReadIfKnown) {
  FakeReader reader(Files{{"a.json", known_rank(0)},
                          {"b.json", known_rank(1)},
                          {"c.json", of_rank(2)},
                          {"d.json", of_rank(5)},
                          {"launcher.json", launcher()}});
  RunRequest request = request_for({"summary"});
  request.ranks = {{1, 2}, {7, 9}};
  const Result<RunResult> result = run(reader.job(), request, reader.loader());
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->tables[0].rows(), 2u);
  EXPECT_EQ(integer(result->tables[0], 0, "rank"), 1);
  EXPECT_EQ(integer(result->tables[0], 1, "rank"), 2);
  EXPECT_EQ(reader.loads.count("a.json"), 0u);
  EXPECT_EQ(reader.loads.count("d.json"), 1u);
}

TEST(Run, TheRankOfABadFileIsToldWhereItIsNoGuess) {
  FakeReader reader({{"rank_0.json", of_rank(0)},
                     {"rank_3.json", failing(Code::corrupt, "no JSON")},
                     {"rank_4.json", failing(Code::unsupported, "no trace")}});
  const Result<RunResult> result = run(reader.job(), request_for({"summary"}), reader.loader());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->unread, std::set<i64>{3});
  FakeReader unnamed({{"a.json", of_rank(0)}, {"b.json", failing(Code::corrupt, "no JSON")}});
  const Result<RunResult> guessed = run(unnamed.job(), request_for({"summary"}), unnamed.loader());
  ASSERT_TRUE(guessed);
  EXPECT_TRUE(guessed->unread.empty());
}

TEST(Run, ABadFileThatMayHaveAWantedRankIsALoss) {
  FakeReader reader(Files{{"a.json", of_rank(7)}, {"b.json", failing(Code::corrupt, "no JSON")}});
  RunRequest request = request_for({"summary"});
  request.ranks = {{7, 9}};
  const Result<RunResult> result = run(reader.job(), request, reader.loader());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->tables[0].rows(), 1u);
  EXPECT_NE(find_note(result->notes, "file_left_out"), nullptr);
}

TEST(Run, NoFileOfTheWantedRanksIsAnError) {
  FakeReader reader(Files{{"a.json", known_rank(4)}, {"b.json", of_rank(3)}});
  RunRequest request = request_for({"summary"});
  request.ranks = {{7, 9}};
  const Result<RunResult> result = run(reader.job(), request, reader.loader());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::not_found);
  EXPECT_NE(result.error().message.find("ranks 3-4"), std::string::npos) << result.error().message;
}

TEST(Run, RanksThatAreNotThereAreNoted) {
  FakeReader reader(Files{{"a.json", known_rank(4)}, {"b.json", of_rank(3)}, {"c.json", of_rank(0)}});
  RunRequest request = request_for({"summary"});
  const auto note = [&](std::vector<Range> ranks) -> std::string {
    request.ranks = std::move(ranks);
    const Result<RunResult> result = run(reader.job(), request, reader.loader());
    EXPECT_TRUE(result);
    for (const Note& n : result->notes.all())
      if (n.kind == "missing_ranks") return n.sentence;
    return "";
  };
  EXPECT_EQ(note({}), "");
  EXPECT_EQ(note({{3, 4}, {0, 0}}), "");
  EXPECT_EQ(note({{5, INT64_MAX}, {0, 3}, {2, 4}}),
            fmt::format("of the ranks that were asked for the job does not have 1-2, 5-{}; it has 0, 3-4",
                        INT64_MAX));
}

TEST(Run, ParametersReachTheAnalysesThatHaveThem) {
  FakeReader reader(Files{{"a.json", of_rank(0)}});
  RunRequest request = request_for({"summary", "operators"});
  request.params = {{"top", 5}};
  EXPECT_TRUE(run(reader.job(), request, reader.loader()));
  request.params = {{"depth", 5}};
  const Result<RunResult> unknown = run(reader.job(), request, reader.loader());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::invalid);
  EXPECT_NE(unknown.error().message.find("top"), std::string::npos);
  request.params = {{"top", -1}};
  const Result<RunResult> negative = run(reader.job(), request, reader.loader());
  ASSERT_FALSE(negative);
  EXPECT_EQ(negative.error().code, Code::invalid);
}

TEST(Run, ReadsTheArgumentsOfAllAnalysesOnce) {
  static const Field kColumns[] = {kRankField};
  const auto map = [](const Trace&, const ParamValues&) -> Result<Table> {
    return Table("t", std::span<const Field>());
  };
  const Analysis first = {"a", "", "", {}, kColumns, {Arg::stream}, map};
  const Analysis second = {"b", "", "", {}, kColumns, {Arg::bytes}, map};
  FakeReader reader(Files{{"a.json", of_rank(0)}});
  RunRequest request;
  request.analyses = {&first, &second};
  ASSERT_TRUE(run(reader.job(), request, reader.loader()));
  EXPECT_EQ(reader.loads["a.json"], 1);
  EXPECT_TRUE(reader.args.has(Arg::stream) && reader.args.has(Arg::bytes));
  EXPECT_EQ(reader.args.known.count(), 2u);
  request.steps = Range{0, 0};
  ASSERT_TRUE(run(reader.job(), request, reader.loader()));
  EXPECT_TRUE(reader.args.has(Arg::correlation));
}

TEST(Run, OneFileGetsAllThreadsAndManyShareThem) {
  FakeReader one(Files{{"a.json", of_rank(0)}});
  RunRequest request = request_for({"summary"});
  request.threads = 4;
  ASSERT_TRUE(run(one.job(), request, one.loader()));
  EXPECT_EQ(one.threads, 4);

  FakeReader two(Files{{"a.json", of_rank(0)}, {"b.json", of_rank(1)}});
  ASSERT_TRUE(run(two.job(), request, two.loader()));
  EXPECT_EQ(two.threads, 2);

  request.memory_bytes = 1;  // no two fit
  FakeReader small(Files{{"a.json", of_rank(0)}, {"b.json", of_rank(1)}, {"c.json", of_rank(2)}});
  ASSERT_TRUE(run(small.job(), request, small.loader()));
  EXPECT_EQ(small.threads, 4);
  EXPECT_EQ(small.most_at_once, 1);
}

TEST(Run, FilesAreReadAtTheSameTime) {
  FakeReader reader(Files{{"a.json", of_rank(0)}, {"b.json", of_rank(1)}});
  std::mutex mutex;
  std::condition_variable both_here;
  int here = 0;
  bool met = true;
  reader.on_load = [&](const TraceFile&) {
    std::unique_lock lock(mutex);
    ++here;
    both_here.notify_all();
    met = both_here.wait_for(lock, std::chrono::seconds(60), [&] { return here == 2; }) && met;
  };
  RunRequest request = request_for({"summary"});
  request.threads = 2;
  ASSERT_TRUE(run(reader.job(), request, reader.loader()));
  EXPECT_TRUE(met);
}

TEST(Run, CancellingStopsBeforeTheNextFile) {
  FakeReader reader(Files{{"a.json", of_rank(0)}, {"b.json", of_rank(1)}, {"c.json", of_rank(2)}});
  std::atomic<bool> cancelled = false;
  reader.on_load = [&](const TraceFile&) { cancelled = true; };
  RunRequest request = request_for({"summary"});
  request.cancelled = &cancelled;
  const Result<RunResult> result = run(reader.job(), request, reader.loader());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::cancelled);
  EXPECT_EQ(reader.loads.size(), 1u);
}

TEST(Run, ACancelledLoadIsNoLoss) {
  FakeReader reader(Files{{"a.json", of_rank(0)}, {"b.json", failing(Code::cancelled, "cancelled")}});
  const Result<RunResult> result = run(reader.job(), request_for({"summary"}), reader.loader());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::cancelled);
}

TEST(Run, ProgressCountsStoredBytesOfWantedFiles) {
  FakeReader reader(Files{{"a.json", of_rank(0)}, {"b.json", of_rank(1)}, {"c.json", known_rank(2)}});
  RunRequest request = request_for({"summary"});
  request.ranks = {{0, 1}};
  i64 done = 0, total = 0;
  request.on_progress = [&](i64 d, i64 t) { done = d, total = t; };
  ASSERT_TRUE(run(reader.job(), request, reader.loader()));
  EXPECT_EQ(done, 2000);
  EXPECT_EQ(total, 2000);
}

TEST(Run, SelectsSteps) {
  FakeReader reader(Files{{"a.json", of_rank(0, 5)}, {"launcher.json", launcher()}});
  RunRequest request = request_for({"steps", "summary"});
  request.steps = Range{1, 3};
  const Result<RunResult> result = run(reader.job(), request, reader.loader());
  ASSERT_TRUE(result) << result.error().message;
  const Table& steps = result->tables[0];
  ASSERT_EQ(steps.rows(), 3u);
  EXPECT_EQ(integer(steps, 0, "number"), 1);
  EXPECT_EQ(integer(steps, 2, "number"), 3);
  EXPECT_EQ(integer(result->tables[1], 0, "spans"), 6);
  EXPECT_EQ(find_note(result->notes, "file_left_out"), nullptr);
}

TEST(Run, StepsThatAreNotThereAreAnError) {
  FakeReader reader(Files{{"a.json", of_rank(0, 5)}});
  RunRequest request = request_for({"summary"});
  request.steps = Range{8, 9};
  const Result<RunResult> result = run(reader.job(), request, reader.loader());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::invalid);
  EXPECT_NE(result.error().message.find("steps 0 to 4"), std::string::npos) << result.error().message;
}

TEST(Run, TimesEveryPhase) {
  FakeReader reader(Files{{"a.json", of_rank(0)}});
  const Result<RunResult> result = run(reader.job(), request_for({"summary"}), reader.loader());
  ASSERT_TRUE(result);
  std::vector<std::string> phases;
  for (const PhaseTime& time : result->timing) phases.push_back(time.phase);
  EXPECT_EQ(phases, (std::vector<std::string>{"load", "select_steps", "map summary", "reduce summary"}));
  EXPECT_GT(result->timing[0].wall_ns, 0);
}

TEST(Run, NoFilesAreAnError) {
  const Result<RunResult> result = run({}, request_for({"summary"}), FakeReader(Files{}).loader());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::not_found);
}

}  // namespace
}  // namespace spotter::analyze
