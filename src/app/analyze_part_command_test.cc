#include <fcntl.h>
#include <gtest/gtest.h>

#include "analyze/list.h"
#include "api/file_results.h"
#include "app/commands.h"
#include "base/descriptor.h"
#include "read/open.h"
#include "render/render.h"

namespace spotter {
namespace {

constexpr const char* kJobs[] = {"tests/fixtures/traces/gpu_training", "tests/fixtures/traces/cpu_ddp",
                                 "tests/fixtures/traces/cpu_stacks"};

std::string json_of(const Result<RunResult>& result) {
  EXPECT_TRUE(result) << result.error().message;
  return result ? render(*find_format("json"), result->tables, result->notes) : "";
}

// As text, and back.
std::vector<FileResult> sent(const std::vector<FileResult>& files) {
  auto back = api::read_file_results(api::file_results_text(files, all_analyses()), all_analyses());
  EXPECT_TRUE(back) << back.error().message;
  return std::move(back).value_or(std::vector<FileResult>());
}

TEST(AnalyzePart, ReducesToTheSameBytesAfterTheWire) {
  for (const std::string path : kJobs) {
    const Result<Job> job = open_job(std::span(&path, 1));
    ASSERT_TRUE(job) << job.error().message;
    RunRequest request = report_request();
    request.analyses.assign(all_analyses().begin(), all_analyses().end());
    Result<MappedJob> mapped = map_files(*job, request, load);
    ASSERT_TRUE(mapped);
    mapped->files = sent(mapped->files);
    EXPECT_EQ(json_of(reduce_files(std::move(*mapped), request)), json_of(run(*job, request, load))) << path;
  }
}

TEST(AnalyzePart, ReadsADescriptorAsItWouldTheFile) {
  const std::string path = "tests/fixtures/traces/gpu_training/rank1.json.gz";
  const RunRequest request = report_request();
  const Result<Job> job = open_job(std::span(&path, 1));
  ASSERT_TRUE(job);
  const Descriptor open_file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Job open_one = *job;
  open_one.files[0].path = "node1:/a/rank1.json.gz";
  open_one.files[0].descriptor = open_file.fd;
  const std::string wanted = json_of(run(*job, request, load));
  for (int time = 0; time < 2; ++time) EXPECT_EQ(json_of(run(open_one, request, load)), wanted);
}

}  // namespace
}  // namespace spotter
