#include <fcntl.h>
#include <gtest/gtest.h>

#include "analyze/list.h"
#include "base/system/descriptor.h"
#include "diagnose/run.h"
#include "read/open.h"
#include "render/list.h"
#include "wire/file_results.h"

namespace spotter::app {
namespace {

constexpr const char* kJobs[] = {"tests/fixtures/traces/gpu_training", "tests/fixtures/traces/cpu_ddp",
                                 "tests/fixtures/traces/cpu_stacks"};

std::string json_of(const Result<analyze::RunResult>& result) {
  EXPECT_TRUE(result) << result.error().message;
  return result ? render::render(render::kJson, {result->tables, result->notes}) : "";
}

// As text, and back.
std::vector<analyze::FileResult> sent(const std::vector<analyze::FileResult>& files) {
  auto back = wire::read_file_results(wire::file_results_text(files, analyze::all_analyses()),
                                      analyze::all_analyses());
  EXPECT_TRUE(back) << back.error().message;
  return std::move(back).value_or(std::vector<analyze::FileResult>());
}

TEST(AnalyzePart, ReducesToTheSameBytesAfterTheWire) {
  for (const std::string path : kJobs) {
    const Result<Job> job = read::open_job(std::span(&path, 1));
    ASSERT_TRUE(job) << job.error().message;
    analyze::RunRequest request = diagnose::fact_request();
    request.analyses.assign(analyze::all_analyses().begin(), analyze::all_analyses().end());
    Result<analyze::MappedJob> mapped = analyze::map_files(*job, request, read::load);
    ASSERT_TRUE(mapped);
    mapped->files = sent(mapped->files);
    EXPECT_EQ(json_of(analyze::reduce_files(std::move(*mapped), request)),
              json_of(analyze::run(*job, request, read::load)))
        << path;
  }
}

TEST(AnalyzePart, ReadsADescriptorAsItWouldTheFile) {
  const std::string path = "tests/fixtures/traces/gpu_training/rank1.json.gz";
  const analyze::RunRequest request = diagnose::fact_request();
  const Result<Job> job = read::open_job(std::span(&path, 1));
  ASSERT_TRUE(job);
  const Descriptor open_file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Job open_one = *job;
  open_one.files[0].path = "node1:/a/rank1.json.gz";
  open_one.files[0].descriptor = open_file.fd;
  const std::string wanted = json_of(analyze::run(*job, request, read::load));
  for (int time = 0; time < 2; ++time)
    EXPECT_EQ(json_of(analyze::run(open_one, request, read::load)), wanted);
}

}  // namespace
}  // namespace spotter::app
