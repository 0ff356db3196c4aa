// Words that the sentences of several mechanisms are made of.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "analyze/range_text.h"
#include "diagnose/mechanism.h"
#include "render/render.h"

namespace spotter::diagnose {

inline std::string human(Ns ns) { return render::human_ns(ns); }
inline std::string human(double ns) { return render::human_ns(static_cast<Ns>(ns + 0.5)); }

// "15 %", "1.3 %".
inline std::string percent_of(double ratio) {
  return ratio < 0.095 ? fmt::format("{:.1f} %", 100 * ratio) : fmt::format("{:.0f} %", 100 * ratio);
}

// Their numbers in the job.
std::set<i64> rank_numbers(const JobModel& model, const std::vector<u32>& ranks);
// "3", "0-3, 7", by their numbers in the job; empty for the whole job.
std::string ranks_text(const JobModel& model, const std::vector<u32>& ranks);
std::string steps_text(const std::vector<i64>& steps);

// The numbers of the first few of them.
std::vector<i64> few_ranks(const JobModel& model, const std::vector<u32>& ranks);

// Whether nothing was recorded of others that calls name, or that have empty files; where a file does not say
// whose it is nobody knows.
inline bool has_others(const JobModel& model) {
  return (!model.job.absent.empty() || !model.evidence.silent.empty()) &&
         std::ranges::all_of(model.job.ranks, [](const auto& rank) { return rank.rank.has_value(); });
}
inline bool is_whole_job(const JobModel& model, const std::vector<u32>& ranks) {
  return ranks.size() == model.job.ranks.size() && !has_others(model);
}
// Whether it is a job of one rank, as far as one can see.
inline bool is_single(const JobModel& model) { return model.job.ranks.size() == 1 && !has_others(model); }

// "Rank 5 (host n3)", "Ranks 0-3 (host n0)", "Ranks 0-3, 7"; "Every rank" for all of several, "Every traced
// rank (0-3)" where there are others.
std::string who(const JobModel& model, const std::vector<u32>& ranks);

// The same within a sentence: "rank 5 (host n3)".
inline std::string lower_first(std::string text) {
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

// "in all 8 steps", "in steps 3-5", "in step 4".
std::string when(const JobModel& model, u32 rank, const std::vector<u32>& steps);

std::vector<i64> step_numbers(const JobModel& model, u32 rank, const std::vector<u32>& steps);

// "The host", "The host of rank 5 (host n3)".
inline std::string host_of(const JobModel& model, const std::vector<u32>& ranks) {
  return is_single(model) ? "The host" : "The host of " + lower_first(who(model, ranks));
}

// How often one of these ranks has what they have so often together.
inline double times_a_step(const JobModel& model, size_t times, const std::vector<u32>& ranks) {
  return static_cast<double>(times) / static_cast<double>(ranks.size()) /
         static_cast<double>(std::max<i64>(1, model.steps));
}

// "4", "0.7": of whole ones without a fraction.
inline std::string count_of(double count) {
  constexpr double kFraction = 0.05;
  return std::abs(count - std::round(count)) < kFraction && count >= 1 ? fmt::format("{:.0f}", count)
                                                                       : fmt::format("{:.1f}", count);
}

// "once a step", "4 times a step".
inline std::string times_text(double times) {
  const std::string count = count_of(times);
  return count == "1" ? "once a step" : count + " times a step";
}

// "1 call", "4 calls".
inline std::string calls_text(double calls) {
  const std::string count = count_of(calls);
  return count + (count == "1" ? " call" : " calls");
}

std::vector<u32> all_ranks(const JobModel& model);

// Whether the ranks are all that were recorded.
inline bool are_all(const JobModel& model, const std::vector<u32>& ranks) {
  return ranks.size() == model.job.ranks.size();
}

}  // namespace spotter::diagnose
