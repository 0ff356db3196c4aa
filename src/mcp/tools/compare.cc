// compare: two captures -> what changed most.
#include <algorithm>

#include "diagnose/tables.h"
#include "mcp/ask.h"
#include "mcp/cells.h"
#include "mcp/list.h"
#include "render/render.h"
#include "table/ops.h"

namespace spotter::mcp {
namespace {

constexpr const char* kWhats[] = {"operators", "kernels", "steps"};
constexpr ToolParam kParams[] = {
    {.name = "before", .help = "id of a capture, as overview names it", .required = true},
    {.name = "after", .help = "id of the later one", .required = true},
    {.name = "what",
     .help = "operators (default), kernels, or steps: the job's mean step and why it changed",
     .words = kWhats},
};

constexpr Field kStepColumns[] = {
    {"part", Type::text, Unit::none, Role::key,
     "A column of step_budget: dur_ns is the step, the others are its parts."},
    {"before_ns", Type::real, Unit::ns, Role::value, "In the first capture."},
    {"after_ns", Type::real, Unit::ns, Role::value, "In the second one."},
    {"change_ns", Type::real, Unit::ns, Role::value, "after_ns minus before_ns."},
    {"change_ratio", Type::real, Unit::ratio, Role::value, "change_ns / before_ns; null where that is 0."},
};

bool is_wanted(const Table& diff, size_t row, bool kernels) {
  const auto side = table::text_or_empty(diff, row, "side");
  if (table::text_or_empty(diff, row, "change") == "same" &&
      table::optional_integer(diff, row, "change_ns").value_or(0) == 0)
    return false;
  return kernels ? side == "device" : side == "host" && table::text_or_empty(diff, row, "kind") == "operator";
}

constexpr const char* kParts = "step_budget";  // of the job's steps

// The means of the job's rows.
std::optional<double> mean_of(const Table& budget, const char* part) {
  double sum = 0;
  i64 count = 0;
  for (size_t row = 0; row < budget.rows(); ++row) {
    const auto value = table::optional_integer(budget, row, part);
    if (table::text_or_empty(budget, row, "of") != "job" || !value) continue;
    sum += static_cast<double>(*value);
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

Table steps_of(const Table& before, const Table& after) {
  Table table("compare", kStepColumns);
  for (const Field& field : before.schema()) {
    if (field.role != Role::value) continue;
    const auto was = mean_of(before, field.name), is = mean_of(after, field.name);
    if (!was && !is) continue;
    const bool has_both = was && is;
    table.append({field.name, or_null(was), or_null(is), has_both ? Value(*is - *was) : Value(),
                  has_both && *was != 0 ? Value((*is - *was) / *was) : Value()});
  }
  return table;
}

Result<Answer> compare_steps(const Call& call, const Capture& before, const Capture& after) {
  TRY_ASSIGN(const Analysis* const budget, diagnose::parse_table(kParts));
  TRY_ASSIGN(const Table was, call.world.traces->table(before, {budget}, call.patience));
  TRY_ASSIGN(const Table is, call.world.traces->table(after, {budget}, call.patience));
  Answer answer{.table = steps_of(was, is), .version = before.version + after.version, .as_of = after.at};
  const auto step_before = mean_of(was, "dur_ns"), step_after = mean_of(is, "dur_ns");
  answer.sentence =
      step_before && step_after
          ? fmt::format("A step of the job took {} [s2] and takes {} [s3]; the rows are means over steps.",
                        render::human_ns(static_cast<Ns>(*step_before)),
                        render::human_ns(static_cast<Ns>(*step_after)))
          : "The traces of one of them have no steps, so that these are not compared [s2] [s3].";
  answer.sources.push_back({"these rows", "compare", call_command(call, "compare")});
  const std::string rows = fmt::format("--table {} --where of=job", kParts);
  answer.sources.push_back({"before: " + words_of(before), kParts, analyze_command(before, rows)});
  answer.sources.push_back({"after: " + words_of(after), kParts, analyze_command(after, rows)});
  answer.next.push_back({"why_slow", {{"capture", after.id}}});
  return answer;
}

Result<Capture> capture_named(const Call& call, const char* name) {
  auto capture = capture_of(call.world, call.arguments.text(name), "", call.patience);
  return capture ? std::move(capture) : within(capture.error(), name);
}

Result<Answer> compare(const Call& call) {
  TRY_ASSIGN(const Capture before, capture_named(call, "before"));
  TRY_ASSIGN(const Capture after, capture_named(call, "after"));
  const std::string what = call.arguments.text("what");
  if (what == "steps") return compare_steps(call, before, after);
  TRY_ASSIGN(const auto diff, call.world.traces->diff(before, after, call.patience));
  std::vector<size_t> rows;
  for (size_t row = 0; row < diff->table.rows(); ++row)
    if (is_wanted(diff->table, row, what == "kernels")) rows.push_back(row);
  Answer answer{
      .table = table::pick(diff->table, rows), .version = before.version + after.version, .as_of = after.at};
  answer.sentence = rows.empty()
                        ? "Nothing of these has changed [s1]."
                        : fmt::format("{} of {} changed, the largest change of time first [s1].", rows.size(),
                                      what == "kernels" ? "the kernels, copies and sets" : "the operators");
  answer.sources.push_back({fmt::format("from {} to {}", words_of(before), words_of(after)), "trace_diff",
                            fmt::format("spotter diff {} {} --top 0 --format json",
                                        command_paths(before.paths), command_paths(after.paths))});
  add_notes(diff->notes, answer.notes);
  answer.next.push_back({"why_slow", {{"capture", after.id}}});
  return answer;
}

}  // namespace

constexpr Tool kCompare = {
    .name = "compare",
    .title = "What changed",
    .description =
        "Operators, kernels or steps that came, went or changed most between two captures, such as one before and one "
        "after an update. It does not say why one is slow; why_slow does.",
    .params = kParams,
    .call = compare,
};

}  // namespace spotter::mcp
