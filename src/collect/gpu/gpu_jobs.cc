#include "collect/gpu/gpu_jobs.h"

#include <algorithm>
#include <vector>

#include "collect/gpu/gpu_tables.h"

namespace spotter::collect {
namespace {

constexpr std::pair<gpu_job::Column, gpu_process::Column> kSame[] = {
    {gpu_job::gpu, gpu_process::gpu},
    {gpu_job::job, gpu_process::job},
    {gpu_job::rank, gpu_process::rank},
    {gpu_job::user, gpu_process::user},
    {gpu_job::container, gpu_process::container},
    {gpu_job::pod, gpu_process::pod},
    {gpu_job::pod_namespace, gpu_process::pod_namespace},
};

}  // namespace

Table gpu_jobs(const Table& processes) {
  std::vector<Row> jobs;
  for (size_t r = 0; r < processes.rows(); ++r) {
    const auto is_of = [&](const Row& job) {
      return std::ranges::all_of(
          kSame, [&](const auto& same) { return job[same.first] == processes.at(r, same.second); });
    };
    auto job = std::ranges::find_if(jobs, is_of);
    if (job == jobs.end()) {
      job = jobs.insert(job, Row(gpu_job::kColumnCount));
      for (const auto& [to, from] : kSame) (*job)[to] = processes.at(r, from);
      (*job)[gpu_job::uuid] = processes.at(r, gpu_process::uuid);
      (*job)[gpu_job::processes] = i64{0};
    }
    ++std::get<i64>((*job)[gpu_job::processes]);
    const Value memory = processes.at(r, gpu_process::memory_bytes);
    Value& sum = (*job)[gpu_job::memory_bytes];
    if (is_null(memory)) continue;
    sum = std::get<i64>(memory) + (is_null(sum) ? 0 : std::get<i64>(sum));
  }
  Table table("gpu_job", gpu_job::kFields);
  for (const Row& job : jobs) table.append(job);
  return table;
}

}  // namespace spotter::collect
