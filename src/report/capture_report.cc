#include "report/capture_report.h"

#include <sys/stat.h>

#include <cstdio>
#include <map>
#include <optional>
#include <vector>

#include "app/job/analyze_command.h"
#include "base/file.h"
#include "base/utf8.h"
#include "client/client.h"
#include "table/ops.h"
#include "wire/analyze_request.h"
#include "wire/file_results.h"

namespace spotter::report {
namespace {

constexpr Ns kAnalysisPatience = 180'000'000'000;  // agents have 120 s

// Files that were written, of one host.
struct Written {
  std::vector<std::string> here;                        // all of them, if this host has them, too
  std::map<std::string, std::optional<i64>> elsewhere;  // else: HOST:PATH and rank
};

// Names are made for one capture, so that a file of the same size is the same. Of what a host says only that
// is believed: it may name anything.
Written written_files(const Table& receipts, const std::string& output) {
  Written files;
  bool are_here = true;
  for (size_t row = 0; row < receipts.rows(); row++) {
    if (table::text_or_empty(receipts, row, "state") != "written") continue;
    const Value bytes = receipts.at(row, receipts.column("size_bytes")),
                rank = receipts.at(row, receipts.column("rank"));
    const std::string file(table::text_or_empty(receipts, row, "file"));
    struct stat found;
    const bool is_in_place = output.empty() || file == output + "/" + std::string(base_name(file));
    are_here = are_here && is_in_place && !is_null(bytes) && lstat(file.c_str(), &found) == 0 &&
               S_ISREG(found.st_mode) && found.st_size == std::get<i64>(bytes);
    files.here.push_back(file);
    files.elsewhere[fmt::format("{}:{}", table::text_or_empty(receipts, row, "host"), file)] =
        is_null(rank) ? std::optional<i64>() : std::get<i64>(rank);
  }
  if (are_here)
    files.elsewhere.clear();
  else
    files.here.clear();
  return files;
}

struct Analysed {
  std::vector<std::string> here;               // files that are still to be read
  std::vector<analyze::FileResult> elsewhere;  // what other hosts' agents have made of theirs
};

Result<std::vector<analyze::FileResult>> read_results(Result<net::HttpAnswer> answer,
                                                      const analyze::RunRequest& request) {
  if (!answer) return tl::unexpected(answer.error());
  TRY_ASSIGN(const std::string text, client::body_of(std::move(*answer)));
  return wire::read_file_results(text, request.analyses);
}

// What is here is read here; the rest by the agents that have it, all at once. A host that cannot is told.
Analysed analyse_elsewhere(const client::Fleet& fleet, const app::Hosts& hosts, const std::string& output) {
  Analysed analysed;
  std::vector<net::HttpAddress> asked;
  std::vector<net::HttpQuestion> questions;
  std::map<std::string, std::optional<i64>> ranks;
  const analyze::RunRequest request = app::report_request();
  const std::string body = wire::analyze_request_text(request);
  for (const client::Fleet::Member& member : fleet.members()) {
    if (member.answer.capture.empty()) continue;
    Written files = written_files(member.answer.table, output);
    analysed.here.insert(analysed.here.end(), files.here.begin(), files.here.end());
    if (files.elsewhere.empty()) continue;
    ranks.merge(files.elsewhere);
    asked.push_back(member.address);
    questions.push_back(
        {"POST", "/v1/captures/" + member.answer.capture + "/analyze", body, {}, wire::kMostResultsBytes});
  }
  auto answers = client::ask_each(asked, hosts.credentials, questions, kAnalysisPatience);
  for (size_t i = 0; i < answers.size(); ++i) {
    Result<std::vector<analyze::FileResult>> files = read_results(std::move(answers[i]), request);
    if (!files) {
      std::fprintf(stderr, "spotter: the traces of %s are not in the report: %s\n", asked[i].shown().c_str(),
                   to_printable(files.error().message).c_str());
      continue;
    }
    for (analyze::FileResult& file : *files) {
      if (const auto it = ranks.find(file.evidence.path); it != ranks.end())
        file.evidence.receipt_rank = it->second;
      analysed.elsewhere.push_back(std::move(file));
    }
  }
  return analysed;
}

}  // namespace

Result<void> report_capture(const client::Fleet& fleet, const app::Hosts& hosts, const std::string& output,
                            const std::string& receipts_file) {
  Analysed analysed = analyse_elsewhere(fleet, hosts, output);
  if (analysed.here.empty() && analysed.elsewhere.empty()) return {};
  if (!analysed.here.empty()) analysed.here.push_back(receipts_file);  // says who is missing
  std::fputc('\n', stdout);
  return app::print_report(analysed.here, std::move(analysed.elsewhere));
}

}  // namespace spotter::report
