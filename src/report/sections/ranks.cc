// Where each rank spent its time: that of its device, or of the host where there is no device work.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/statistics.h"
#include "report/list.h"
#include "table/ops.h"

namespace spotter::report {
namespace {

constexpr size_t kMostRanks = 8;

constexpr Field kHostColumns[] = {
    {"rank", Type::text, Unit::none, Role::key, ""},
    {"span", Type::integer, Unit::ns, Role::value, ""},
    {"steps", Type::integer, Unit::count, Role::value, ""},
    {"mean step", Type::integer, Unit::ns, Role::value, ""},
    {"longest step", Type::integer, Unit::ns, Role::value, ""},
};
constexpr Field kDeviceColumns[] = {
    {"rank", Type::text, Unit::none, Role::key, ""},
    {"mean step", Type::integer, Unit::ns, Role::value, ""},
    {"device time", Type::integer, Unit::ns, Role::value, ""},
    {"compute", Type::real, Unit::ratio, Role::value, ""},
    {"comm", Type::real, Unit::ratio, Role::value, ""},
    {"memory", Type::real, Unit::ratio, Role::value, ""},
    {"idle", Type::real, Unit::ratio, Role::value, ""},
    {"on host", Type::real, Unit::ratio, Role::value, ""},
    {"on kernel", Type::real, Unit::ratio, Role::value, ""},
    {"on other", Type::real, Unit::ratio, Role::value, ""},
};
// Where there are many ranks, those that are idle most and least.
std::vector<const diagnose::RankFacts*> chosen_ranks(const diagnose::JobFacts& f) {
  std::vector<const diagnose::RankFacts*> ranks;
  for (const diagnose::RankFacts& r : f.ranks) ranks.push_back(&r);
  if (ranks.size() <= kMostRanks) return ranks;
  const auto key = [](const diagnose::RankFacts* r) {
    return r->device_time > 0 ? static_cast<double>(r->idle) / static_cast<double>(r->device_time) : 0.0;
  };
  std::sort(ranks.begin(), ranks.end(),
            [&](auto* a, auto* b) { return key(a) != key(b) ? key(a) > key(b) : a < b; });
  ranks.erase(ranks.begin() + kMostRanks / 2, ranks.end() - kMostRanks / 2);
  return ranks;
}

std::string name_of(const diagnose::RankFacts& r) { return r.rank ? std::to_string(*r.rank) : r.file; }

Value mean_step(const diagnose::RankFacts& r) { return r.steps > 0 ? Value(r.step_sum / r.steps) : Value{}; }

Table host_table(const diagnose::JobFacts& f) {
  Table t("ranks", kHostColumns);
  for (const diagnose::RankFacts* r : chosen_ranks(f)) {
    const std::string name = name_of(*r);
    t.append({std::string_view(name), r->span, r->steps, mean_step(*r),
              r->steps > 0 ? Value(r->step_max) : Value{}});
  }
  return t;
}

Table device_table(const diagnose::JobFacts& f) {
  const bool has_steps =
      std::ranges::any_of(f.ranks, [](const diagnose::RankFacts& r) { return r.steps > 0; });
  Table t("ranks", kDeviceColumns);
  for (const diagnose::RankFacts* r : chosen_ranks(f)) {
    const std::string name = name_of(*r);
    const Ns exposed = r->communication - r->hidden_communication;
    t.append({std::string_view(name), mean_step(*r), r->device_time > 0 ? Value(r->device_time) : Value{},
              analyze::ratio(r->compute, r->device_time), analyze::ratio(exposed, r->device_time),
              // What is left of the busy time is copies and sets alone.
              analyze::ratio(r->device_time - r->idle - r->compute - exposed, r->device_time),
              analyze::ratio(r->idle, r->device_time), analyze::ratio(r->host_wait, r->idle),
              analyze::ratio(r->kernel_wait, r->idle),
              analyze::ratio(r->other_wait + r->unknown_wait, r->idle)});
  }
  if (has_steps) return t;
  std::vector<std::string_view> names;
  for (const Field& field : kDeviceColumns) names.push_back(field.name);
  std::erase(names, "mean step");
  return table::project(t, names);
}

bool has_events(const diagnose::JobFacts& f) {
  return std::ranges::any_of(f.ranks, [](const diagnose::RankFacts& r) { return r.spans > 0; });
}

std::string title(const Subject& subject) {
  const size_t ranks = subject.facts.ranks.size();
  return ranks <= kMostRanks ? "Ranks" : fmt::format("Ranks (of {}: the most and the least idle)", ranks);
}

}  // namespace

const Section kDeviceRanks = {
    .name = "device_ranks",
    .is_shown = [](const Subject& s) { return s.facts.has_device_work; },
    .title = title,
    .parts = [](const Subject& s) -> std::vector<Part> { return {device_table(s.facts)}; },
    .sentence = "comm: not hidden by compute. on host, kernel, other: what idle gaps wait for.",
};

const Section kHostRanks = {
    .name = "host_ranks",
    .is_shown = [](const Subject& s) { return !s.facts.has_device_work && has_events(s.facts); },
    .title = title,
    .parts = [](const Subject& s) -> std::vector<Part> { return {host_table(s.facts)}; },
};

}  // namespace spotter::report
