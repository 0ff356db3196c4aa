#include "report/html/html_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "base/gzip_writer.h"
#include "base/text/base64.h"
#include "page/page.h"
#include "report/html/data_block.h"
#include "trace/builder.h"

namespace spotter::report {
namespace {

constexpr Ns kStep = 1'000'000;
constexpr int kStepCount = 12;
constexpr int kFew = 100, kMany = 400;  // operators of a step: as many as a test needs
constexpr const char* kHostile = "</script><img src=x onerror=alert(1)>";

// Steps of operators that start a kernel each; rank 1's are longer, and its last step is the longest.
Result<TracePtr> made(const TraceFile& file, int operators) {
  trace::TraceBuilder builder;
  const i64 rank = file.path.ends_with("1.json") ? 1 : 0;
  builder.info().base_ns = 1'700'000'000'000'000'000;
  builder.info().rank = rank;
  u64 noise = 88172645463325252;
  const auto below = [&](u64 n) {
    noise ^= noise << 13, noise ^= noise >> 7, noise ^= noise << 17;
    return static_cast<i64>(noise % n);
  };
  i64 correlation = 0;
  for (int step = 0; step < kStepCount; ++step) {
    const Ns begin = step * kStep;
    const Ns length = kStep - 1000 + (step == kStepCount - 1 ? rank * 900 : 0);
    builder.span("user_annotation", fmt::format("ProfilerStep#{}", step), 1, 1, begin, length);
    for (int i = 0; i < operators; ++i) {
      const Ns at = begin + i * 2400 + below(300);
      builder.span("cpu_op", "aten::mm", 1, 1, at, 900 + below(500));
      builder.span("cuda_runtime", "cudaLaunchKernel", 1, 1, at + 200, 300 + below(200),
                   {{Arg::correlation, ++correlation}});
      builder.span("kernel", i % 3 ? "gemm" : kHostile, 0, 7, at + 600, 900 + 100 * rank + below(500),
                   {{Arg::correlation, correlation}, {Arg::device, i64{0}}, {Arg::stream, i64{7}}});
    }
  }
  return builder.build();
}

Result<TracePtr> load_made(const TraceFile& file, const LoadRequest&) { return made(file, kFew); }
Result<TracePtr> load_many(const TraceFile& file, const LoadRequest&) { return made(file, kMany); }

Job made_job() {
  Job job;
  for (const i64 rank : {0, 1}) {
    TraceFile& file = job.files.emplace_back();
    file.path = fmt::format("/data/secret run/rank{}.json", rank);
    file.bytes = 1000;
    file.json_bytes = 100'000;
    file.rank = rank;
  }
  return job;
}

std::string page_of(PageOptions options, int threads = 1, Loader load = load_made) {
  const Job job = made_job();
  options.paths = {"/data/secret run"};
  diagnose::Request request{.findings = true, .paths = "'/data/secret run'"};
  request.run.analyses = page_analyses(job, options.most_bytes);
  request.run.threads = threads;
  const analyze::RunRequest run = request.run;
  auto diagnosis = diagnose::run(job, std::move(request), load);
  EXPECT_TRUE(diagnosis) << diagnosis.error().message;
  const auto page = html_report(job, std::move(*diagnosis), run, load, options);
  EXPECT_TRUE(page) << page.error().message;
  return *page;
}

size_t count_of(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

// The data blocks, unpacked; what is no data of a job is not among them.
std::map<std::string, std::string> blocks_of(std::string_view page) {
  constexpr std::string_view kStart = "<script type=\"application/octet-stream\" id=\"";
  std::map<std::string, std::string> blocks;
  for (size_t at = 0; (at = page.find(kStart, at)) != page.npos;) {
    at += kStart.size();
    const size_t id_end = page.find('"', at), end = page.find('<', id_end);
    const std::string id(page.substr(at, id_end - at));
    if (!id.starts_with("page-"))
      blocks[id] = gunzipped(from_base64(page.substr(id_end + 2, end - id_end - 2)).value()).value();
  }
  return blocks;
}

// What stands in the page without script.
std::string body_of(const std::string& page) {
  const size_t begin = page.find("<header>\n<h1>");
  return page.substr(begin, page.find("<script type=\"application/octet-stream\" id=\"job\"") - begin);
}

TEST(HtmlReport, TellsWithoutScriptWhatIsWanted) {
  const std::string body = body_of(page_of({}));
  EXPECT_EQ(count_of(body, "<h1>"), 1u);
  EXPECT_NE(body.find("<h1>secret run</h1>"), body.npos);
  EXPECT_NE(body.find("<th scope=\"row\">0</th>"), body.npos);
  EXPECT_NE(body.find("<th scope=\"row\">1</th>"), body.npos);
  EXPECT_NE(body.find("<svg class=\"picture\""), body.npos);
  EXPECT_NE(
      body.find("<th scope=\"row\">gemm</th><td>compute</td><td class=\"number\" title=\"1584\">1,584</td>"),
      body.npos);
  EXPECT_NE(body.find("spotter analyze &#39;/data/secret run&#39;"), body.npos);
  EXPECT_EQ(body.find("style="), body.npos);
  EXPECT_EQ(body.find("<img"), body.npos);
  EXPECT_NE(body.find("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"), body.npos);
}

TEST(HtmlReport, HasTheDataOfThePage) {
  auto blocks = blocks_of(page_of({.most_bytes = 0}));
  for (const char* id :
       {"job", "tables", "tables/rank_strip", "tables/critical_path_edges", "spans/0", "spans/1"})
    EXPECT_TRUE(blocks[id].starts_with("SPT1")) << id;
  EXPECT_NE(blocks["job"].find("1700000000000000000"), std::string::npos);
  EXPECT_EQ(blocks["job"].find("left_out"), std::string::npos);
  EXPECT_NE(blocks["tables"].find("\"name\":\"findings\""), std::string::npos);
  EXPECT_NE(blocks["spans/1"].find(fmt::format("\"rows\":{}", kStepCount * (1 + 3 * kFew))),
            std::string::npos);
}

TEST(HtmlReport, IsTheSameEachTime) {
  EXPECT_EQ(page_of({}, 4), page_of({}, 1));
  EXPECT_EQ(page_of({.redacted = true}, 4), page_of({.redacted = true}, 1));
}

TEST(HtmlReport, LeavesOutWhatIsTooMuchAndSaysSo) {
  const auto page_of_many = [](i64 most_bytes) { return page_of({.most_bytes = most_bytes}, 1, load_many); };
  const std::string whole = page_of_many(0);
  const auto rows_of = [](const std::string& block) {
    const size_t at = block.find("\"rows\":") + 7;
    return std::stoll(block.substr(at, 20));
  };
  // Tables that grow go first, where they are a larger part.
  const std::string no_edges = page_of_many(static_cast<i64>(whole.size()) - 20'000);
  EXPECT_NE(body_of(no_edges).find("leaves out the tables critical_path_edges, queue_length_series;"),
            std::string::npos);
  i64 limit = static_cast<i64>(no_edges.size()) - 5'000;
  const std::string some = page_of_many(limit);
  EXPECT_LE(some.size(), static_cast<size_t>(limit));
  EXPECT_NE(
      body_of(some).find("spans of the host but for those of steps 5 (the median) and 11 (the longest)"),
      std::string::npos)
      << body_of(some).substr(body_of(some).size() - 900);
  auto fewer = blocks_of(some);
  EXPECT_NE(fewer["job"].find("left_out"), std::string::npos);
  const i64 on_device = kStepCount * kMany, of_steps = 2 * (1 + 2 * kMany);
  EXPECT_EQ(rows_of(fewer["spans/1"]), on_device + of_steps);

  // What the words, the page and the tables take is there in any case.
  limit = static_cast<i64>(page::html().size()) + 90'000;
  const std::string least = page_of_many(limit);
  EXPECT_LE(least.size(), static_cast<size_t>(limit));
  auto left = blocks_of(least);
  EXPECT_FALSE(left.contains("spans/0") && rows_of(left["spans/0"]) > of_steps + 2 * kMany);
  EXPECT_NE(body_of(least).find("leaves out"), std::string::npos);
}

TEST(HtmlReport, FailsWhereItCannotBeSoSmall) {
  const Job job = made_job();
  diagnose::Request request{.findings = true};
  request.run.analyses = page_analyses(job, 1000);
  const analyze::RunRequest run = request.run;
  auto diagnosis = diagnose::run(job, std::move(request), load_made);
  const auto page = html_report(job, std::move(*diagnosis), run, load_made, {.most_bytes = 1000});
  ASSERT_FALSE(page);
  EXPECT_NE(page.error().message.find("more than --max-size 1000"), std::string::npos)
      << page.error().message;
}

TEST(HtmlReport, TellsNoPathIfThatIsWanted) {
  const std::string page = page_of({.redacted = true, .source_url = "https://example.com/secret"});
  EXPECT_EQ(body_of(page).find("secret"), std::string::npos);
  for (const auto& [id, block] : blocks_of(page)) {
    EXPECT_EQ(block.find("secret"), std::string::npos) << id;
    EXPECT_EQ(block.find("rank0.json"), std::string::npos) << id;
  }
  EXPECT_NE(body_of(page).find("spotter analyze path-1"), std::string::npos);
  EXPECT_NE(body_of(page).find("gemm"), std::string::npos);
}

TEST(HtmlReport, OfTracesThatWereReadElsewhereHasTheTablesOfItsFacts) {
  const auto page_of_elsewhere = [](PageOptions options) {
    options.paths = {"/data/secret run"};
    auto mapped = analyze::map_files(made_job(), diagnose::fact_request(), load_made);
    EXPECT_TRUE(mapped);
    diagnose::Request request{.findings = true, .elsewhere = std::move(mapped->files)};
    auto diagnosis = diagnose::run({}, std::move(request), load_made);
    EXPECT_TRUE(diagnosis) << diagnosis.error().message;
    const auto page = html_report({}, std::move(*diagnosis), {}, load_made, options);
    EXPECT_TRUE(page) << page.error().message;
    return *page;
  };
  auto blocks = blocks_of(page_of_elsewhere({}));
  EXPECT_EQ(blocks.size(), 2u);
  for (const char* name : {"findings", "summary", "temporal_breakdown", "steps", "operators"})
    EXPECT_NE(blocks["tables"].find(fmt::format("\"name\":\"{}\"", name)), std::string::npos) << name;
  EXPECT_EQ(blocks["tables"].find("\"name\":\"skeleton\""), std::string::npos);
  EXPECT_NE(blocks["job"].find("no others and no spans"), std::string::npos);
  for (const auto& [id, block] : blocks_of(page_of_elsewhere({.redacted = true}))) {
    EXPECT_EQ(block.find("secret"), std::string::npos) << id;
    EXPECT_EQ(block.find("rank0.json"), std::string::npos) << id;
  }
}

}  // namespace
}  // namespace spotter::report
