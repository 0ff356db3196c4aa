#include "agent/jobs/job_facts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/text/printable_within.h"
#include "capture/repository.h"
#include "process/scheduler.h"

namespace spotter::agent {
namespace {

constexpr size_t kMostValue = 64, kMostName = 64, kMostSeries = 256, kMostFacts = 100;
constexpr size_t kShownCommit = 12;
constexpr std::string_view kPrefixes[] = {"NCCL_", "TORCH_", "PYTORCH_"};
constexpr std::string_view kVariables[] = {"CUDA_LAUNCH_BLOCKING", "OMP_NUM_THREADS", "APPTAINER_CONTAINER",
                                           "SINGULARITY_CONTAINER"};
constexpr std::string_view kSecret[] = {"TOKEN", "KEY", "SECRET", "PASS", "CREDENTIAL", "AUTH"};

std::string command_of(const process::ProcessFacts& process) {
  return fmt::format("{}", fmt::join(process.command, " "));
}

std::string without_numbers(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!is_digit)
      plain += c;
    else if (!plain.ends_with('#'))
      plain += '#';
  }
  return plain;
}

bool is_told(std::string_view name) {
  const auto contains = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (name.size() > kMostName || std::ranges::any_of(kSecret, contains)) return false;
  return std::ranges::find(kVariables, name) != std::end(kVariables) ||
         std::ranges::any_of(kPrefixes, [&](std::string_view p) { return name.starts_with(p); });
}

}  // namespace

std::string series_of(const process::ProcessFacts& process) {
  const std::string name = process::job_facts(process, {}).name;
  return fmt::format("{}/{}/{}", process.uid, printable_within(without_numbers(name), kMostName),
                     printable_within(without_numbers(command_of(process)), kMostSeries));
}

respond::FactValues facts_of(const Host& host, const process::ProcessFacts& process) {
  respond::FactValues facts;
  for (const auto& [name, value] : process.environment) {
    if (facts.size() < kMostFacts && is_told(name))
      facts["environment/" + name] = printable_within(value, kMostValue);
  }
  if (!process.torch_version.empty())
    facts["environment/PyTorch"] = printable_within(process.torch_version, kMostValue);
  // Whole, as its numbers are not part of the series.
  facts["environment/command line"] = printable_within(command_of(process), kMostSeries);
  if (const auto repository = capture::repository_of(host, process.pid, process.uid)) {
    const std::string& source = repository->source;
    const size_t at = source.rfind('@');
    if (at != source.npos)
      facts["code/" + printable_within(source.substr(0, at), kMostSeries)] =
          source.substr(at + 1, kShownCommit);
  }
  return facts;
}

}  // namespace spotter::agent
