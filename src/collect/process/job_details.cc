#include "collect/process/job_details.h"

#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr Field kAllocationColumns[] = {
    {"job", Type::text, Unit::none, Role::key, "Job of the scheduler or launcher."},
    {"name", Type::text, Unit::none, Role::detail, "Its name."},
    {"account", Type::text, Unit::none, Role::detail, "Account or project that it is charged to."},
    {"partition", Type::text, Unit::none, Role::detail, "Partition or queue."},
    {"array_job", Type::text, Unit::none, Role::detail, "Array of jobs that it is one of."},
    {"array_task", Type::text, Unit::none, Role::detail, "Its number in the array."},
    {"processes", Type::integer, Unit::count, Role::value, "Processes of it on this host."},
};
constexpr Field kLabelColumns[] = {
    {"job", Type::text, Unit::none, Role::key, "Job of the scheduler or launcher."},
    {"name", Type::text, Unit::none, Role::key, "Variable of the environment."},
    {"value", Type::text, Unit::none, Role::detail, "What it says."},
};

}  // namespace

std::span<const Field> allocation_columns() { return kAllocationColumns; }
std::span<const Field> label_columns() { return kLabelColumns; }

void JobDetails::know(const std::map<std::string, i64>& processes, Identities& identities) {
  jobs_.clear();
  for (const auto& [job, count] : processes) jobs_[job] = {count, identities.job_facts(job)};
}

Table JobDetails::allocations() const {
  Table table("job_allocation", kAllocationColumns);
  for (const auto& [job, known] : jobs_) {
    const process::JobFacts& f = known.facts;
    table.append({std::string_view(job), or_null(f.name), or_null(f.account), or_null(f.partition),
                  or_null(f.array_job), or_null(f.array_task), known.processes});
  }
  return table;
}

Table JobDetails::labels() const {
  Table table("job_label", kLabelColumns);
  for (const auto& [job, known] : jobs_) {
    for (const auto& [name, value] : known.facts.labels)
      table.append({std::string_view(job), std::string_view(name), std::string_view(value)});
  }
  return table;
}

}  // namespace spotter::collect
