#include "read/open.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "read/source.h"
#include "read/test_read.h"

namespace spotter::read {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTrace =
    R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 2}]})";

class OpenJob : public testing::Test {
 protected:
  void add(const std::string& name) {
    fs::create_directories((folder() / name).parent_path());
    std::ofstream(folder() / name) << kTrace;
  }
  fs::path folder() const { return file_.folder(); }
  std::string path(const std::string& name) const { return (folder() / name).string(); }
  // The files of the job without their folder, or the error.
  std::vector<std::string> names(const std::vector<std::string>& paths) const {
    const Result<Job> job = open_job(paths);
    if (!job) return {code_name(job.error().code), job.error().message};
    std::vector<std::string> found;
    for (const TraceFile& f : job->files) found.push_back(fs::relative(f.path, folder()).string());
    return found;
  }
  Code error(const std::string& path) const {
    const Result<Job> job = open_job(std::vector{path});
    EXPECT_FALSE(job) << path;
    return job ? Code::internal : job.error().code;
  }

 private:
  TemporaryFile file_{kTrace, "r10.json"};
};

using Names = std::vector<std::string>;

TEST_F(OpenJob, AFileWhateverItsName) {
  add("trace");
  EXPECT_EQ(names({path("trace")}), Names{"trace"});
  const Result<Job> job = open_job(std::vector{path("trace")});
  EXPECT_EQ(job->files.at(0).bytes, static_cast<i64>(kTrace.size()));
}

TEST_F(OpenJob, EstimatesTheTextByTheName) {
  for (const auto& [name, ratio] :
       {std::pair("a.json", 1), {"a.json.gz", 16}, {"a.json.zst", 16}, {"a", 1}}) {
    add(name);
    const Result<Job> job = open_job(std::vector{path(name)});
    EXPECT_EQ(job->files.at(0).json_bytes, static_cast<i64>(kTrace.size()) * ratio) << name;
  }
}

TEST_F(OpenJob, ADirectory) {
  for (const char* name :
       {"r2.json.gz", "r1.json.zst", ".hidden.json", "notes.txt", "x.json.bak", "sub/r3.json", "json"})
    add(name);
  const Names wanted = {"r1.json.zst", "r10.json", "r2.json.gz"};
  EXPECT_EQ(names({folder().string()}), wanted);
  EXPECT_EQ(names({folder().string() + "/"}), wanted);
  EXPECT_EQ(names({path("sub")}), Names{"sub/r3.json"});
}

TEST_F(OpenJob, ADirectoryWhoseFoldersHaveTraces) {
  for (const char* name :
       {"two/r0/a.json", "two/r1/a.json", "one/r0/a.json", "one/empty/a.txt", "run[1]/a/x.json",
        "run[1]/b/x.json", "many/1/a.json", "many/2/a.json", "many/3/a.json", "many/4/a.json",
        "some/1/a.json", "some/2/a.json", "some/3/notes.txt", "none/x/y/a.json"})
    add(name);
  const auto hint = [&](const char* name) {
    const std::string message = names({path(name)}).at(1);
    const size_t at = message.find(".json.zst)") + 10;
    return message.substr(at);
  };
  EXPECT_EQ(hint("two"), fmt::format("; its folders r0, r1 have some: give '{}/*/'", path("two")));
  EXPECT_EQ(hint("one"), fmt::format("; its folder r0 has some: give '{}/r0'", path("one")));
  EXPECT_EQ(hint("many"),
            fmt::format("; its folders 1, 2, 3 and 1 more have some: give '{}/*/'", path("many")));
  EXPECT_EQ(hint("some"), "; its folders 1, 2 have some: give those");
  EXPECT_EQ(hint("run[1]"), "; its folders a, b have some: give those");
  EXPECT_EQ(hint("none"), "");
}

TEST_F(OpenJob, APattern) {
  for (const char* name : {"r1.json", "r2.json", "other", "d1/x.json", "d2/y.json", "a[1].json"}) add(name);
  EXPECT_EQ(names({path("r[12].json")}), (Names{"r1.json", "r2.json"}));
  EXPECT_EQ(names({path("*/?.json")}), (Names{"d1/x.json", "d2/y.json"}));
  EXPECT_EQ(names({path("d?")}), (Names{"d1/x.json", "d2/y.json"}));
  // A name that is there is no pattern.
  EXPECT_EQ(names({path("a[1].json")}), Names{"a[1].json"});
}

// They are no traces, and what is wrong with one is said when it is read.
TEST_F(OpenJob, DumpsOfFlightRecordersBesideTraces) {
  const fs::path dumps = "tests/fixtures/flight_recorder/lost_rank";
  for (const auto& entry : fs::directory_iterator(dumps)) fs::copy(entry, folder());
  std::ofstream(folder() / "snapshot_7", std::ios::binary) << "\x80\x04}.";
  std::ofstream(folder() / "fr_trace_9", std::ios::binary) << "\x80\x02}(X\x09pg_config";
  add("log_3");
  EXPECT_EQ(names({folder().string()}), Names{"r10.json"});
  const Result<Job> job = open_job(Names{folder().string()});
  ASSERT_TRUE(job);
  EXPECT_TRUE(job->notes.empty());
  std::vector<std::pair<std::string, i64>> found;
  for (const FlightRecordFile& f : job->flight_records)
    found.emplace_back(fs::path(f.path).filename().string(), f.rank);
  EXPECT_EQ(found, (std::vector<std::pair<std::string, i64>>{{"nccl_trace_rank_0", 0},
                                                             {"nccl_trace_rank_1", 1},
                                                             {"nccl_trace_rank_2", 2},
                                                             {"nccl_trace_rank_3", 3},
                                                             {"fr_trace_9", 9}}));
  EXPECT_EQ(job->flight_records[0].beside, path("nccl_trace_rank_0.json"));
  // Of an earlier hang.
  fs::copy(dumps / "nccl_trace_rank_0", folder() / "a_0");
  fs::last_write_time(folder() / "a_0",
                      fs::last_write_time(folder() / "nccl_trace_rank_0") - std::chrono::hours(1));
  const Result<Job> both = open_job(Names{folder().string()});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->flight_records[0].path, path("nccl_trace_rank_0"));
  EXPECT_EQ(both->flight_records[1].path, path("a_0"));
  fs::remove(folder() / "a_0");
  EXPECT_EQ(open_job(Names{path("r10.json")})->flight_records.size(), 0u);
  EXPECT_EQ(open_job(Names{path("r10.json"), path("nccl_trace_rank_0.json")})->flight_records.size(), 1u);
  // They are a job, too, where there is no trace.
  EXPECT_EQ(open_job(Names{path("nccl_trace_rank_1")})->flight_records.size(), 1u);
  fs::remove(folder() / "r10.json");
  EXPECT_TRUE(open_job(Names{folder().string()})->files.empty());
}

TEST_F(OpenJob, EachFileOnce) {
  add("r1.json");
  EXPECT_EQ(names({path("r1.json"), folder().string(), path("*.json")}), (Names{"r1.json", "r10.json"}));
  EXPECT_EQ(open_job(Names{"-", "-"})->files.size(), 1u);
}

TEST_F(OpenJob, Errors) {
  fs::create_directories(folder() / "empty");
  EXPECT_EQ(error(path("missing")), Code::not_found);
  EXPECT_EQ(error(path("missing*")), Code::not_found);
  EXPECT_EQ(error(path("empty")), Code::not_found);
  EXPECT_EQ(error(path("r10.json/x")), Code::io);
  EXPECT_TRUE(open_job({}).value().files.empty());
}

TEST(Load, TheFileAndWhatIsSaidOfIt) {
  const TemporaryFile file(kTrace, "any.name");
  const Result<TracePtr> trace = load({file.path(), 0, 0, {}, {}, {}, {}}, {});
  ASSERT_TRUE(trace);
  EXPECT_EQ((*trace)->size(), 1u);
  EXPECT_EQ((*trace)->info().path, file.path());
  EXPECT_EQ((*trace)->info().file_bytes, static_cast<i64>(kTrace.size()));
  EXPECT_EQ((*trace)->info().json_bytes, static_cast<i64>(kTrace.size()));
  EXPECT_TRUE((*trace)->loaded().all);
}

TEST(Load, FromStandardInput) {
  const TemporaryFile file(kTrace);
  const int saved = ::dup(STDIN_FILENO), fd = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  ::dup2(fd, STDIN_FILENO);
  const Result<TracePtr> trace = load({"-", 0, 0, {}, {}, {}, {}}, {});
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  ::close(fd);
  ASSERT_TRUE(trace);
  EXPECT_EQ((*trace)->size(), 1u);
  EXPECT_EQ((*trace)->info().path, "-");
}

// What stands there when it is read may be a pipe that nobody writes to: whoever was to read a file does not
// wait.
TEST_F(OpenJob, APipeInThePlaceOfAFileIsNotWaitedFor) {
  Result<Job> job = open_job(std::vector{path("r10.json")});
  ASSERT_TRUE(job);
  fs::remove(path("r10.json"));
  ASSERT_EQ(mkfifo(path("r10.json").c_str(), 0666), 0);
  const Result<TracePtr> trace = load(job->files.at(0), {});
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message, path("r10.json") + ": was a plain file, and is none any more");
  Notes notes;
  const Result<std::string> text = read_text(path("r10.json"), 100, notes);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, Code::invalid);
}

TEST(Load, ErrorsNameTheFile) {
  const TemporaryFile empty(""), other("<html>"), no_trace("{}");
  for (const std::string& path :
       {empty.path(), other.path(), no_trace.path(), empty.path() + ".not", empty.folder()}) {
    const Result<TracePtr> trace = load({path, 0, 0, {}, {}, {}, {}}, {});
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().message.rfind(path + ": ", 0), 0u) << trace.error().message;
  }
}

// What it is not known to be counts in no time, which is said.
TEST_F(OpenJob, SpansOfUnknownCategories) {
  std::string text = R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 2})";
  for (const char* cat : {"npu_kernel", "kernel,foo", "npu_kernel"})
    text += fmt::format(R"(, {{"ph": "X", "cat": "{}", "name": "b", "ts": 4, "dur": 2}})", cat);
  text += R"(, {"ph": "i", "cat": "mark", "name": "c", "ts": 4}, {"ph": "X", "name": "d", "ts": 7, "dur": 2})"
          R"(, {"ph": "X", "cat": "", "name": "d", "ts": 9, "dur": 2}]})";
  std::ofstream(folder() / "a.json") << text;
  TraceFile file;
  file.path = path("a.json");
  const Result<TracePtr> trace = load(file, {});
  ASSERT_TRUE(trace) << trace.error().message;
  std::vector<std::string> said;
  for (const Note& note : (*trace)->notes().all()) {
    EXPECT_EQ(note.severity, Severity::loss);
    said.push_back(fmt::format("{} {}", note.count, note.sentence));
  }
  EXPECT_EQ(
      said,
      (std::vector<std::string>{
          "2 spans have no category, so that it is not known what they are; they count in no time",
          "3 spans are of a category that is not known here (\"kernel,foo\", \"npu_kernel\"); they count "
          "in no time"}));
}

}  // namespace
}  // namespace spotter::read
