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
size_t most_ranks(const Subject& subject) { return subject.page ? subject.page->ranks : kMostRanks; }

// Where there are many ranks, those that are idle most and least.
std::vector<const diagnose::RankFacts*> chosen_ranks(const diagnose::JobFacts& f, size_t most) {
  std::vector<const diagnose::RankFacts*> ranks;
  for (const diagnose::RankFacts& r : f.ranks) ranks.push_back(&r);
  if (ranks.size() <= most) return ranks;
  const auto key = [](const diagnose::RankFacts* r) {
    return r->device_time > 0 ? static_cast<double>(r->idle) / static_cast<double>(r->device_time) : 0.0;
  };
  std::sort(ranks.begin(), ranks.end(),
            [&](auto* a, auto* b) { return key(a) != key(b) ? key(a) > key(b) : a < b; });
  const auto half = static_cast<std::ptrdiff_t>(most / 2);
  ranks.erase(ranks.begin() + half, ranks.end() - half);
  return ranks;
}

std::string name_of(const diagnose::RankFacts& r) { return r.rank ? std::to_string(*r.rank) : r.file; }

Value mean_step(const diagnose::RankFacts& r) { return r.steps > 0 ? Value(r.step_sum / r.steps) : Value{}; }

// What is left of the busy time beside compute and communication: copies and sets alone.
Ns memory_time(const diagnose::RankFacts& r) {
  return r.device_time - r.idle - r.compute - (r.communication - r.hidden_communication);
}

Table host_table(const Subject& subject) {
  Table t("ranks", kHostColumns);
  for (const diagnose::RankFacts* r : chosen_ranks(subject.facts, most_ranks(subject))) {
    const std::string name = name_of(*r);
    t.append({std::string_view(name), r->span, r->steps, mean_step(*r),
              r->steps > 0 ? Value(r->step_max) : Value{}});
  }
  return t;
}

Table device_table(const Subject& subject) {
  const bool has_steps =
      std::ranges::any_of(subject.facts.ranks, [](const diagnose::RankFacts& r) { return r.steps > 0; });
  Table t("ranks", kDeviceColumns);
  for (const diagnose::RankFacts* r : chosen_ranks(subject.facts, most_ranks(subject))) {
    const std::string name = name_of(*r);
    const Ns exposed = r->communication - r->hidden_communication;
    t.append({std::string_view(name), mean_step(*r), r->device_time > 0 ? Value(r->device_time) : Value{},
              analyze::ratio(r->compute, r->device_time), analyze::ratio(exposed, r->device_time),
              analyze::ratio(memory_time(*r), r->device_time), analyze::ratio(r->idle, r->device_time),
              analyze::ratio(r->host_wait, r->idle), analyze::ratio(r->kernel_wait, r->idle),
              analyze::ratio(r->other_wait + r->unknown_wait, r->idle)});
  }
  if (has_steps) return t;
  std::vector<std::string_view> names;
  for (const Field& field : kDeviceColumns) names.push_back(field.name);
  std::erase(names, "mean step");
  return table::project(t, names);
}

Bars device_bars(const Subject& subject, size_t most) {
  Bars bars{.title = "Device time of each rank",
            .series = {{"compute", "compute"},
                       {"communication that nothing hides", "communication"},
                       {"memory", "memory"},
                       {"idle", "idle"}},
            .rows = {}};
  for (const diagnose::RankFacts* r : chosen_ranks(subject.facts, most))
    bars.rows.push_back(
        {name_of(*r),
         {std::max<Ns>(0, r->compute), std::max<Ns>(0, r->communication - r->hidden_communication),
          std::max<Ns>(0, memory_time(*r)), std::max<Ns>(0, r->idle)}});
  return bars;
}

std::vector<Part> device_parts(const Subject& subject) {
  if (!subject.page) return {device_table(subject)};
  return {device_bars(subject, subject.page->bars), device_table(subject)};
}

bool has_events(const diagnose::JobFacts& f) {
  return std::ranges::any_of(f.ranks, [](const diagnose::RankFacts& r) { return r.spans > 0; });
}

std::string title(const Subject& subject) {
  const size_t ranks = subject.facts.ranks.size();
  return ranks <= most_ranks(subject) ? "Ranks"
                                      : fmt::format("Ranks (of {}: the most and the least idle)", ranks);
}

}  // namespace

const Section kDeviceRanks = {
    .name = "device_ranks",
    .is_shown = [](const Subject& s) { return s.facts.has_device_work; },
    .title = title,
    .parts = device_parts,
    .sentence = "comm: not hidden by compute. on host, kernel, other: what idle gaps wait for.",
};

const Section kHostRanks = {
    .name = "host_ranks",
    .is_shown = [](const Subject& s) { return !s.facts.has_device_work && has_events(s.facts); },
    .title = title,
    .parts = [](const Subject& s) -> std::vector<Part> { return {host_table(s)}; },
};

}  // namespace spotter::report
