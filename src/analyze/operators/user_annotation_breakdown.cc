#include <algorithm>

#include "analyze/kernels/dense_ids.h"
#include "analyze/list.h"
#include "analyze/statistics.h"
#include "analyze/top.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"side", Type::text, Unit::none, Role::key, "host or device."},
    {"name", Type::text, Unit::none, Role::key, "Annotation; others: all that are not listed."},
    {"count", Type::integer, Unit::count, Role::value, "Number of annotations of that name."},
    {"sum_ns", Type::integer, Unit::ns, Role::value, "Sum of their durations."},
    {"min_ns", Type::integer, Unit::ns, Role::detail, "Shortest."},
    {"max_ns", Type::integer, Unit::ns, Role::value, "Longest."},
    {"mean_ns", Type::real, Unit::ns, Role::value, "Mean duration."},
    {"std_ns", Type::real, Unit::ns, Role::detail, "Standard deviation of the sample; 0 for one."},
};

constexpr Param kParams[] = {kTop};

struct Annotation {
  std::string_view name = "others";
  std::vector<Ns> durations = {};
  Ns sum = 0;

  void merge(const Annotation& o) {
    durations.insert(durations.end(), o.durations.begin(), o.durations.end());
    sum += o.sum;
  }
};

std::vector<Annotation> annotations_of(const Trace& trace, Category category) {
  std::vector<Annotation> all;
  DenseIds ids(trace.strings().size());
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.category(e) != category || !trace.is_span(e)) continue;
    const u32 id = ids.id(trace.name[e]);
    if (id == all.size()) all.push_back({.name = trace.name_of(e)});
    all[id].durations.push_back(trace.dur[e]);
    all[id].sum += trace.dur[e];
  }
  std::sort(all.begin(), all.end(), [](const Annotation& a, const Annotation& b) {
    return a.sum != b.sum ? a.sum > b.sum : a.name < b.name;
  });
  return all;
}

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kUserAnnotationBreakdown.name, std::span(kColumns).subspan(1));
  constexpr std::pair<const char*, Category> kSides[] = {{"host", Category::user_annotation},
                                                         {"device", Category::gpu_user_annotation}};
  for (const auto& [side, category] : kSides) {
    for (Annotation& a : first_and_others(annotations_of(trace, category), params[kTop.name])) {
      const Statistics s = statistics_of(a.durations);
      table.append({side, a.name, s.count, s.sum, s.min, s.max, s.mean, s.std});
    }
  }
  if (table.rows() == 0)
    table.notes.add("no_annotations", Severity::info, "traces without annotations have no rows here");
  return table;
}

}  // namespace

const Analysis kUserAnnotationBreakdown = {
    .name = "user_annotation_breakdown",
    .summary = "How often and how long each annotation (record_function) runs, on host and device, per rank.",
    .doc =
        "Annotations are what programs mark with record_function, and what PyTorch marks by itself (steps, "
        "collectives, optimizers): spans of category user_annotation on the host, of gpu_user_annotation on the device, where "
        "one lasts from the first to the last piece of device work that was launched inside it, once per stream. Durations "
        "include what is annotated inside and overlap between names. Sorted by side and sum; what is not "
        "among the first `top` of a side is put into a row named others, whose statistics are those of its annotations (HTA: of "
        "sums per name, B7).",
    .params = kParams,
    .columns = kColumns,
    .reads = {},
    .map = map_trace,
};

}  // namespace spotter::analyze
