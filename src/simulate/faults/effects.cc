#include "simulate/faults/effects.h"

#include <map>
#include <numeric>

namespace spotter::simulate {
namespace {

struct Steps {
  std::vector<std::vector<Ns>> by_rank;
  JobSteps of_job;
};

// Each set of the faults is run once: of one fault "without it" is "without any".
class Runs {
 public:
  Runs(const Job& job, const Schedule& plan) : job_(job) {
    std::vector<size_t> all(job.spec.faults.size());
    std::iota(all.begin(), all.end(), size_t{0});
    known_[all] = {plan.steps, plan.job_steps};
  }

  template <class Keeps>
  Result<const Steps*> with_those(Keeps keeps) {
    std::vector<size_t> kept;
    for (size_t f = 0; f < job_.spec.faults.size(); ++f)
      if (keeps(f)) kept.push_back(f);
    const auto found = known_.find(kept);
    if (found != known_.end()) return &found->second;
    Spec spec = job_.spec;
    spec.faults.clear();
    for (const size_t f : kept) spec.faults.push_back(job_.spec.faults[f]);
    const Job healthier(spec, job_.cancelled);
    TRY_ASSIGN(Schedule plan, schedule(healthier));
    return &(known_[kept] = {std::move(plan.steps), std::move(plan.job_steps)});
  }

 private:
  const Job& job_;
  std::map<std::vector<size_t>, Steps> known_;
};

}  // namespace

Result<Effects> effects_of(const Job& job, const Schedule& plan) {
  Runs runs(job, plan);
  TRY_ASSIGN(const Steps* const none, runs.with_those([](size_t) { return false; }));
  Effects effects{plan.job_steps, none->of_job, {}};
  for (size_t fault = 0; fault < job.spec.faults.size(); ++fault) {
    TRY_ASSIGN(const Steps* const without, runs.with_those([&](size_t f) { return f != fault; }));
    TRY_ASSIGN(const Steps* const alone, runs.with_those([&](size_t f) { return f == fault; }));
    effects.faults.push_back({without->by_rank, without->of_job, alone->of_job});
  }
  return effects;
}

}  // namespace spotter::simulate
