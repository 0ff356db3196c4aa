// compare: two captures -> what changed most.
#include "diagnose/compare.h"

#include <algorithm>

#include "mcp/ask.h"
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
    {"quantity", Type::text, Unit::none, Role::key,
     "What is compared: the mean step, device time in it, communication that nothing hides."},
    {"before_ns", Type::integer, Unit::ns, Role::value, "In the first capture."},
    {"after_ns", Type::integer, Unit::ns, Role::value, "In the second one."},
    {"change_ns", Type::integer, Unit::ns, Role::value, "after_ns minus before_ns."},
    {"change_ratio", Type::real, Unit::ratio, Role::value, "change_ns / before_ns; null where that is 0."},
};

bool is_wanted(const Table& diff, size_t row, bool kernels) {
  const auto side = table::text_or_empty(diff, row, "side");
  if (table::text_or_empty(diff, row, "change") == "same" &&
      table::optional_integer(diff, row, "change_ns").value_or(0) == 0)
    return false;
  return kernels ? side == "device" : side == "host" && table::text_or_empty(diff, row, "kind") == "operator";
}

// The job's mean step, and what is in it.
Table steps_of(const diagnose::Diff& diff) {
  Table table("steps", kStepColumns);
  for (const diagnose::Quantity quantity :
       {diagnose::Quantity::step, diagnose::Quantity::device, diagnose::Quantity::communication}) {
    const auto before = diagnose::quantity_of(diff.before, quantity),
               after = diagnose::quantity_of(diff.after, quantity);
    const bool has_both = before && after;
    table.append({diagnose::quantity_name(quantity), or_null(before), or_null(after),
                  has_both ? Value(*after - *before) : Value(),
                  has_both && *before != 0
                      ? Value(static_cast<double>(*after - *before) / static_cast<double>(*before))
                      : Value()});
  }
  return table;
}

std::string sentence_of(const Table& table, const std::string& what) {
  if (what != "steps")
    return table.rows() == 0
               ? "Nothing of these has changed [s1]."
               : fmt::format("{} changed, the largest change of time first [s1].",
                             count_of(table.rows(), what == "kernels" ? "kind of device work" : "operator"));
  const auto before = table::optional_integer(table, 0, "before_ns"),
             after = table::optional_integer(table, 0, "after_ns");
  if (!before || !after)
    return "The traces of one of them have no steps, so that these are not compared [s1].";
  return fmt::format("A step of the job took {} and takes {} [s1].", render::human_ns(*before),
                     render::human_ns(*after));
}

Result<Answer> compare(const Call& call) {
  TRY_ASSIGN(const Capture before, capture_of(call.world, call.arguments.text("before"), ""));
  TRY_ASSIGN(const Capture after, capture_of(call.world, call.arguments.text("after"), ""));
  const std::string what = call.arguments.text("what");
  diagnose::DiffRequest request;
  request.findings = what == "steps";  // which the step is told by
  TRY_ASSIGN(const diagnose::Diff diff, call.world.traces->diff(before, after, request, call.patience));
  Answer answer{.version = before.version + after.version, .as_of = after.at};
  if (what == "steps") {
    answer.table = steps_of(diff);
  } else {
    std::vector<size_t> rows;
    for (size_t row = 0; row < diff.table.rows(); ++row)
      if (is_wanted(diff.table, row, what == "kernels")) rows.push_back(row);
    answer.table = table::pick(diff.table, rows);
  }
  answer.sentence = sentence_of(answer.table, what);
  answer.sources.push_back(
      {fmt::format("from {} to {}", words_of(before), words_of(after)), "trace_diff",
       fmt::format("spotter diff {} {} --format json", shell_paths(before.paths), shell_paths(after.paths))});
  add_notes(diff.notes, answer.notes);
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
