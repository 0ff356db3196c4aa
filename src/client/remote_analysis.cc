#include "client/remote_analysis.h"

#include <sys/stat.h>

#include <map>
#include <optional>

#include "base/system/file.h"
#include "client/client.h"
#include "table/ops.h"
#include "wire/analyze_request.h"
#include "wire/file_results.h"

namespace spotter::client {
namespace {

constexpr Ns kAnalysisPatience = 180'000'000'000;  // agents have 120 s

// Files that were written, of one host.
struct Written {
  std::vector<std::string> here;                        // all of them, if this host has them, too
  std::map<std::string, std::optional<i64>> elsewhere;  // else: HOST:PATH and rank
};

// Names are made for one capture, so that a file of the same size is the same. Of what a host says only that
// is believed: it may name anything.
Written written_files(const Table& receipts, const std::optional<std::string>& output) {
  Written files;
  bool are_here = output.has_value();
  for (size_t row = 0; row < receipts.rows(); row++) {
    const std::string_view state = table::text_or_empty(receipts, row, "state");
    // Of this host those without events are read, too: they say of whom nothing was recorded.
    if (state != "written" && state != "empty") continue;
    const bool is_written = state == "written";
    const Value bytes = receipts.at(row, receipts.column("size_bytes")),
                rank = receipts.at(row, receipts.column("rank"));
    const std::string file(table::text_or_empty(receipts, row, "file"));
    struct stat found;
    const bool is_in_place =
        !output || output->empty() || file == *output + "/" + std::string(base_name(file));
    const bool is_here = is_in_place && !is_null(bytes) && lstat(file.c_str(), &found) == 0 &&
                         S_ISREG(found.st_mode) && found.st_size == std::get<i64>(bytes);
    if (is_here || is_written) files.here.push_back(file);
    if (!is_written) continue;
    are_here = are_here && is_here;
    files.elsewhere[fmt::format("{}:{}", table::text_or_empty(receipts, row, "host"), file)] =
        is_null(rank) ? std::optional<i64>() : std::get<i64>(rank);
  }
  are_here = are_here && !files.elsewhere.empty();
  if (are_here)
    files.elsewhere.clear();
  else
    files.here.clear();
  return files;
}

Result<std::vector<analyze::FileResult>> read_results(Result<net::HttpAnswer> answer,
                                                      const analyze::RunRequest& request) {
  if (!answer) return tl::unexpected(answer.error());
  TRY_ASSIGN(const std::string text, body_of(std::move(*answer)));
  return wire::read_file_results(text, request.analyses);
}

}  // namespace

RemoteAnalysis analyze_where_written(std::span<const Fleet::Member> members, const Credentials& credentials,
                                     const std::optional<std::string>& output,
                                     const analyze::RunRequest& request) {
  RemoteAnalysis analysis;
  std::vector<net::HttpAddress> asked;
  std::vector<net::HttpQuestion> questions;
  std::map<std::string, std::optional<i64>> ranks;
  const std::string body = wire::analyze_request_text(request);
  for (const Fleet::Member& member : members) {
    if (member.answer.capture.empty()) continue;
    Written files = written_files(member.answer.table, output);
    analysis.here.insert(analysis.here.end(), files.here.begin(), files.here.end());
    if (files.elsewhere.empty()) continue;
    ranks.merge(files.elsewhere);
    asked.push_back(member.address);
    questions.push_back(
        {"POST", "/v1/captures/" + member.answer.capture + "/analyze", body, {}, wire::kMostResultsBytes});
  }
  auto answers = ask_each(asked, credentials, questions, kAnalysisPatience);
  for (size_t i = 0; i < answers.size(); ++i) {
    Result<std::vector<analyze::FileResult>> files = read_results(std::move(answers[i]), request);
    if (!files) {
      analysis.missing.push_back({asked[i], files.error()});
      continue;
    }
    for (analyze::FileResult& file : *files) {
      if (const auto it = ranks.find(file.evidence.path); it != ranks.end())
        file.evidence.receipt_rank = it->second;
      analysis.elsewhere.push_back(std::move(file));
    }
  }
  return analysis;
}

}  // namespace spotter::client
