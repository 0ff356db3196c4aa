// Rule: the record that one thing to look for in a job is. It compares the job's facts with a threshold and
// tells what it finds, with evidence and what to do. Pure. diagnose/rules/list.h lists the rules; thresholds
// are where an experienced engineer would begin to look.
#pragma once
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "diagnose/job_facts.h"

namespace spotter::diagnose {

struct Finding {
  std::string what;              // with the numbers that show it; one sentence or a few
  std::string remedy = {};       // what to do; may be empty
  std::optional<i64> rank = {};  // whom it is about; none: all, or a file without a rank
};

struct Rule {
  enum class Kind : u8 {
    opportunity,  // what the way the job is set up costs
    caveat,       // why something cannot be told, or is not what it looks like
  };
  const char* name;
  Kind kind;
  const char* summary;   // when it finds something; the threshold is `{}` in it
  double threshold;      // 0 where the summary has none
  const char* evidence;  // what shows more, behind `spotter analyze PATH`
  std::optional<Finding> (*find)(const JobFacts& facts, double threshold);
};

// Neither all nor nothing where it is not.
inline std::string percent(double ratio) {
  if (ratio < 1 && ratio >= 0.995) return "over 99 %";
  if (ratio > 0 && ratio < 0.005) return "under 1 %";
  return fmt::format("{:.0f} %", 100 * ratio);
}

inline double ratio(i64 part, i64 whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

inline std::string rank_name(const RankFacts& r) { return r.rank ? fmt::format("rank {}", *r.rank) : r.file; }

// Of one member of all ranks.
inline i64 sum_over(const JobFacts& facts, i64 RankFacts::* member) {
  i64 sum = 0;
  for (const RankFacts& r : facts.ranks) sum += r.*member;
  return sum;
}

}  // namespace spotter::diagnose
