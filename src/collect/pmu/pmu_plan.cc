#include "collect/pmu/pmu_plan.h"

#include <algorithm>
#include <iterator>

#include "collect/host/cpu_model.h"
#include "collect/pmu/pfm_library.h"
#include "collect/pmu/pmu_device.h"

namespace spotter::collect {
namespace {

// Nothing where the machine does not have it.
std::optional<PlannedEvent> plan_event(const PmuEvent& event, const PmuDevice* device, const char* pfm,
                                       const PfmLibrary* library) {
  PlannedEvent planned{{}, event.terms};
  if (event.is_per_slot) {
    const auto width = device ? device->capability("slots") : std::nullopt;
    if (!width || *width <= 0) return std::nullopt;
    for (PmuTerm& term : planned.terms) term.weight *= *width;
  }
  if (event.alias) {
    const auto attributes = device ? device->event(event.alias) : std::nullopt;
    if (!attributes) return std::nullopt;
    planned.attributes = *attributes;
    return planned;
  }
  if (event.name && pfm && library) {
    if (const auto attributes = library->encode(std::string(pfm) + "::" + event.name)) {
      planned.attributes = *attributes;
      return planned;
    }
  }
  // The raw events of a device that is not the processor's have its type.
  planned.attributes.type = event.type == PERF_TYPE_RAW && device ? device->type() : event.type;
  planned.attributes.config = event.config;
  return planned;
}

bool is_of(const PmuModel& model, const CpuModel& cpu) {
  if (*model.vendor && model.vendor != cpu.vendor) return false;
  if (model.family >= 0 && model.family != cpu.family) return false;
  return model.models.empty() || std::ranges::any_of(model.models, [&](const PmuRange& range) {
           return cpu.model >= range.first && cpu.model <= range.last;
         });
}

// A column that lacks one of its events would be a wrong number.
void drop_incomplete(std::vector<PlannedGroup>& groups, const std::vector<PmuTerm>& missing) {
  for (PlannedGroup& group : groups) {
    for (PlannedEvent& event : group.events) {
      for (PmuTerm& term : event.terms)
        if (std::ranges::find(missing, term.column, &PmuTerm::column) != missing.end()) term.weight = 0;
    }
    std::erase_if(group.events, [](const PlannedEvent& event) {
      return std::ranges::all_of(event.terms, [](const PmuTerm& term) { return term.weight == 0; });
    });
  }
  std::erase_if(groups, [](const PlannedGroup& group) { return group.events.empty(); });
}

void add_core(PmuPlan& plan, const PmuDevice& device, const PmuModel& model) {
  const PfmLibrary library;
  plan.model = model.name;
  std::vector<PmuTerm> missing;
  for (const PmuGroup& group : model.groups) {
    PlannedGroup planned{group.name, {}, {}};
    for (const PmuEvent& event : group.events) {
      if (auto one = plan_event(event, &device, model.pfm, &library)) {
        planned.events.push_back(*one);
      } else {
        for (const PmuTerm& term : event.terms)
          if (term.weight != 0) missing.push_back(term);
      }
    }
    plan.groups.push_back(std::move(planned));
  }
  drop_incomplete(plan.groups, missing);
}

std::vector<PlannedGroup> plan_uncore(const Host& host, const CpuModel& cpu) {
  std::vector<PlannedGroup> groups;
  for (const PmuUncore& uncore : pmu_uncore()) {
    if (uncore.vendor != cpu.vendor) continue;
    if (uncore.first_family >= 0 && (cpu.family < uncore.first_family || cpu.family > uncore.last_family))
      continue;
    for (const PmuDevice& device : pmus_named(host, uncore.device)) {
      std::vector<i64> cpus = device.cpumask();
      const auto event = plan_event(uncore.event, &device, nullptr, nullptr);
      if (cpus.empty() || !event) continue;
      const auto same = std::ranges::find(groups, device.name(), &PlannedGroup::name);
      if (same != groups.end())
        same->events.push_back(*event);
      else
        groups.push_back({device.name(), {*event}, std::move(cpus)});
    }
  }
  return groups;
}

}  // namespace

PmuPlan plan_pmu(const Host& host) {
  PmuPlan plan;
  const CpuModel cpu = read_cpu_model(host);
  if (const auto device = core_pmu(host)) {
    const auto model = std::ranges::find_if(pmu_models(), [&](const PmuModel& m) { return is_of(m, cpu); });
    if (model != pmu_models().end()) add_core(plan, *device, *model);
    // Behind the first group: the memory's counters are few and say much.
    std::vector<PlannedGroup> uncore = plan_uncore(host, cpu);
    const auto second = plan.groups.empty() ? plan.groups.begin() : plan.groups.begin() + 1;
    plan.groups.insert(second, std::make_move_iterator(uncore.begin()),
                       std::make_move_iterator(uncore.end()));
  }
  PlannedGroup software{pmu_software().name, {}, {}, true};
  for (const PmuEvent& event : pmu_software().events)
    if (auto one = plan_event(event, nullptr, nullptr, nullptr)) software.events.push_back(*one);
  plan.groups.push_back(std::move(software));
  return plan;
}

}  // namespace spotter::collect
