#include "diagnose/job_facts.h"

#include <algorithm>
#include <map>

#include "analyze/list.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "diagnose/answers.h"
#include "render/render.h"
#include "table/ops.h"
#include "trace/job.h"
#include "trace/steps.h"

namespace spotter::diagnose {
namespace {

std::string text(const Table& t, size_t row, std::string_view column) {
  const Value v = t.at(row, t.column(column));
  return is_null(v) ? std::string() : to_printable(std::get<std::string_view>(v));
}

// The ranks of a job by number, so that each table's rows find theirs. Files without a rank have no rows
// elsewhere.
class ByRank {
 public:
  explicit ByRank(std::vector<RankFacts>& ranks) {
    for (RankFacts& r : ranks) {
      if (r.rank) by_rank_[*r.rank] = &r;
    }
  }
  // Calls act(facts, row) with each row of a rank.
  void each(const Table& t, auto&& act) const {
    for (size_t row = 0; row < t.rows(); row++) {
      const std::optional<i64> rank = table::optional_integer(t, row, "rank");
      const auto it = rank ? by_rank_.find(*rank) : by_rank_.end();
      if (it != by_rank_.end()) act(*it->second, row);
    }
  }

 private:
  std::map<i64, RankFacts*> by_rank_;
};

void add_summary(const Table& t, std::vector<RankFacts>& ranks) {
  for (size_t row = 0; row < t.rows(); row++) {
    RankFacts r;
    r.rank = table::optional_integer(t, row, "rank");
    r.file = text(t, row, "file");
    r.host = text(t, row, "host");
    r.device = text(t, row, "device");
    r.step_mark = text(t, row, "step_mark");
    r.events = integer(t, row, "events");
    r.spans = integer(t, row, "spans");
    r.losses = integer(t, row, "losses");
    r.world_size = table::optional_integer(t, row, "world_size");
    r.span = integer(t, row, "span_ns");
    ranks.push_back(std::move(r));
  }
}

void add_device_time(const Table& breakdown, const Table& overlap, const ByRank& ranks) {
  ranks.each(breakdown, [&](RankFacts& r, size_t row) {
    r.device_time = integer(breakdown, row, "kernel_time_ns");
    r.idle = integer(breakdown, row, "idle_ns");
    r.compute = integer(breakdown, row, "compute_ns");
  });
  ranks.each(overlap, [&](RankFacts& r, size_t row) {
    r.communication = integer(overlap, row, "communication_ns");
    r.hidden_communication = integer(overlap, row, "compute_and_communication_ns");
  });
}

void add_idle_causes(const Table& t, const ByRank& ranks) {
  ranks.each(t, [&](RankFacts& r, size_t row) {
    r.device_rows = integer(t, row, "rows");
    r.unlaunched_rows = integer(t, row, "unlaunched_rows");
    r.host_wait = integer(t, row, "host_wait_ns");
    r.kernel_wait = integer(t, row, "kernel_wait_ns");
    r.other_wait = integer(t, row, "other_ns");
    r.unknown_wait = integer(t, row, "unknown_ns");
  });
}

void add_steps(const Table& t, const ByRank& ranks) {
  ranks.each(t, [&](RankFacts& r, size_t row) {
    const Ns dur = integer(t, row, "dur_ns");
    r.step_max = std::max(r.step_max, dur);
    r.step_sum += dur;
    r.steps++;
  });
}

// Those of engines: an annotation that repeats evenly marks something else, for all that is known.
Table engine_iterations(const Table& t) {
  std::vector<size_t> rows;
  for (size_t row = 0; row < t.rows(); ++row)
    if (text(t, row, "found_from") != trace::step_source_name(trace::StepSource::annotation))
      rows.push_back(row);
  return table::pick(t, rows);
}

void add_devices(const Table& t, const Table& memory, const ByRank& ranks) {
  ranks.each(t, [&](RankFacts& r, size_t row) {
    const auto real = [&](std::string_view column) -> std::optional<double> {
      const Value value = t.at(row, t.column(column));
      return is_null(value) ? std::nullopt : std::optional(std::get<double>(value));
    };
    const std::string capability = text(t, row, "compute_capability");
    r.devices.push_back(
        {.id = integer(t, row, "device"),
         .name = text(t, row, "name"),
         .memory = integer(t, row, "memory_bytes"),
         .compute_major = number_in<i64>(capability.substr(0, capability.find('.'))).value_or(0),
         .on_tensor_cores = real("tensor_core_ratio"),
         .perhaps_on_tensor_cores = real("tensor_core_unknown_ratio")});
  });
  ranks.each(memory, [&](RankFacts& r, size_t row) {
    if (text(memory, row, "device_type") == "CPU") return;
    const auto device = std::ranges::find(r.devices, integer(memory, row, "device_id"), &DeviceFacts::id);
    if (device != r.devices.end()) device->peak_allocated = integer(memory, row, "peak_allocated_bytes");
  });
}

// Of the rows of all steps together, over ranks; nothing where that of one is not known.
std::optional<double> mean_of_ranks(const Table& t, const char* column) {
  double sum = 0, ranks = 0;
  for (size_t row = 0; row < t.rows(); ++row) {
    if (!is_null(t.at(row, t.column("number")))) continue;
    const Value value = t.at(row, t.column(column));
    if (is_null(value)) return {};
    sum += std::get<double>(value);
    ++ranks;
  }
  return ranks > 0 ? std::optional(sum / ranks) : std::nullopt;
}

void add_kernels(const Table& t, JobFacts& facts) {
  facts.kernel_time = table::sum_of(t, "sum_ns");
  facts.kernels = table::sort(table::sum_by(t, {"kind", "name"}, {"count", "sum_ns"}),
                              {{"sum_ns", true}, {"name", false}});
  facts.has_device_work = t.rows() > 0;
}

void add_operators(const Table& t, JobFacts& facts) {
  facts.operator_host_time = table::sum_of(t, "host_self_ns");
  facts.operator_device_time = table::sum_of(t, "device_self_ns");
  facts.operators_by_device = facts.operator_device_time > 0;
  facts.operators = table::sort(table::sum_by(t, {"name"}, {"calls", "host_self_ns", "device_self_ns"}),
                                {{facts.operators_by_device ? "device_self_ns" : "host_self_ns", true},
                                 {"host_self_ns", true},
                                 {"name", false}});
}

}  // namespace

std::vector<const Analysis*> fact_analyses() {
  return {&analyze::kSummary,
          &analyze::kTemporalBreakdown,
          &analyze::kCommCompOverlap,
          &analyze::kDeviceIdleBreakdown,
          &analyze::kKernelBreakdown,
          &analyze::kOperators,
          &analyze::kSteps,
          &analyze::kDeviceSummary,
          &analyze::kMemoryTimeline,
          &analyze::kIterationSummary,
          &analyze::kOperatorEfficiency,
          &analyze::kMfu,
          &analyze::kSkeleton};
}

JobFacts gather_facts(std::span<const Table> answers, const Notes& notes) {
  JobFacts facts;
  facts.notes = render::all_notes(answers, notes);
  facts.are_apart = notes.count(kCapturesAtDifferentTimes) > 0;
  add_summary(answer_of(analyze::kSummary, answers), facts.ranks);
  const ByRank ranks(facts.ranks);
  add_device_time(answer_of(analyze::kTemporalBreakdown, answers),
                  answer_of(analyze::kCommCompOverlap, answers), ranks);
  add_idle_causes(answer_of(analyze::kDeviceIdleBreakdown, answers), ranks);
  add_steps(answer_of(analyze::kSteps, answers), ranks);
  facts.iterations = engine_iterations(answer_of(analyze::kIterationSummary, answers));
  add_devices(answer_of(analyze::kDeviceSummary, answers), answer_of(analyze::kMemoryTimeline, answers),
              ranks);
  facts.mfu = mean_of_ranks(answer_of(analyze::kMfu, answers), "mfu");
  facts.mfu_covered = mean_of_ranks(answer_of(analyze::kMfu, answers), "covered_ratio");
  add_kernels(answer_of(analyze::kKernelBreakdown, answers), facts);
  add_operators(answer_of(analyze::kOperators, answers), facts);
  return facts;
}

}  // namespace spotter::diagnose
