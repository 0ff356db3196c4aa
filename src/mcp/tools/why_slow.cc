// why_slow: a capture -> what stands out in it, the worst first.
#include <cmath>

#include "base/text/shell_word.h"
#include "diagnose/tables.h"
#include "mcp/ask.h"
#include "mcp/cells.h"
#include "mcp/list.h"
#include "render/render.h"
#include "table/ops.h"

namespace spotter::mcp {
namespace {

constexpr ToolParam kParams[] = {
    {"job", "of which the newest capture is looked at, as overview names it"},
    {"capture", "id of a capture, as overview names it"},
};

// "slow_device of rank 3: without it a step would take 26.3 ms (23 %) less"
std::string said_of(const Table& findings, size_t row) {
  std::string said(table::text_or_empty(findings, row, "mechanism"));
  if (const auto ranks = table::text_or_empty(findings, row, "ranks"); !ranks.empty())
    said += fmt::format(" of {} {}", ranks.find_first_of(",-") == ranks.npos ? "rank" : "ranks", ranks);
  if (const auto steps = table::text_or_empty(findings, row, "steps"); !steps.empty())
    said += fmt::format(" in {} {}", steps.find_first_of(",-") == steps.npos ? "step" : "steps", steps);
  const Value time = findings.at(row, findings.column("time_ns")),
              share = findings.at(row, findings.column("share"));
  if (!is_null(time) && !is_null(share))
    said += fmt::format(", without which a step would take {} ({}) less",
                        render::human_ns(std::get<i64>(time)), percent(std::get<double>(share)));
  if (const auto confidence = table::text_or_empty(findings, row, "confidence"); !confidence.empty())
    said += fmt::format(" (confidence {})", confidence);
  return fmt::format("{} [s1 row {}]", said, row + 1);
}

std::string sentence_of(const Table& findings) {
  if (findings.rows() == 0)
    return "Nothing stands out: no fault and no opportunity that is worth 1 % of a step.";
  const size_t faults = count_of_text(findings, "kind", "fault"),
               opportunities = count_of_text(findings, "kind", "opportunity");
  std::string said;
  if (faults > 0) {
    said = fmt::format("The largest fault is {}.", said_of(findings, 0));
    if (faults > 1) said += fmt::format(" There are {} faults in all.", faults);
  } else {
    said = "Nothing is at fault as far as these traces tell.";
    if (opportunities > 0)
      said += fmt::format(" What the way the job is built costs most is {}.", said_of(findings, 0));
  }
  if (const size_t caveats = findings.rows() - faults - opportunities; caveats > 0)
    said += fmt::format(" {} of what cannot be told.", count_of(caveats, "row"));
  return said;
}

// What `spotter analyze PATH --table kernel_breakdown --ranks 3` asks for, as a question to query_table. The
// path is text of a job, and may say anything.
Next rows_of(const Capture& capture, std::string_view evidence) {
  Next next{"query_table", {{"capture", capture.id}}};
  const std::string before = fmt::format("spotter analyze {}", shell_paths(capture.paths));
  evidence = evidence.starts_with(before) ? evidence.substr(before.size()) : std::string_view();
  const auto word_behind = [&](std::string_view flag) -> std::string {
    const size_t at = evidence.find(flag);
    if (at == evidence.npos) return {};
    const std::string_view rest = evidence.substr(at + flag.size());
    return std::string(rest.substr(0, rest.find(' ')));
  };
  const std::string table = word_behind(" --table ");
  next.arguments["table"] = table.empty() ? "step_breakdown" : table;
  const Result<const Analysis*> analysis = diagnose::parse_table(table);
  const std::string ranks = word_behind(" --ranks ");
  const bool has_ranks =
      analysis && *analysis && std::ranges::any_of((*analysis)->columns, [](const Field& field) {
        return std::string_view(field.name) == "rank";
      });
  if (!ranks.empty() && has_ranks) next.arguments["where"] = "rank=" + ranks;
  return next;
}

Result<Answer> why_slow(const Call& call) {
  TRY_ASSIGN(const Capture capture, capture_of(call.world, call.arguments.text("capture"),
                                               call.arguments.text("job"), call.patience));
  TRY_ASSIGN(Table findings, call.world.traces->table(capture, {}, call.patience));
  Answer answer{.sentence = sentence_of(findings), .version = capture.version, .as_of = capture.at};
  answer.sources.push_back({words_of(capture), "findings", analyze_command(capture, "--table findings")});
  add_notes(findings.notes, answer.notes);
  if (!capture.state.empty() && capture.state != "written")
    answer.notes.push_back(fmt::format("the capture is not whole: it is {}", clean(capture.state)));
  if (findings.rows() > 0) {
    answer.next.push_back(rows_of(capture, table::text_or_empty(findings, 0, "evidence")));
    answer.next.push_back({"describe", {{"name", table::text_or_empty(findings, 0, "mechanism")}}});
  } else {
    answer.next.push_back({"query_table", {{"capture", capture.id}, {"table", "step_breakdown"}}});
  }
  answer.table = std::move(findings);
  return answer;
}

}  // namespace

constexpr Tool kWhySlow = {
    .name = "why_slow",
    .title = "Why a job is slow",
    .description =
        "Faults of a job first, then what its build costs, then what cannot be told, each with ranks, time per step, "
        "evidence and remedy, from the traces of one capture. It does not trace; capture does. Next: query_table for "
        "the rows behind a finding.",
    .params = kParams,
    .call = why_slow,
};

}  // namespace spotter::mcp
