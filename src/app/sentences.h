// What the rules of the advice share.
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

#include "app/facts.h"

namespace spotter {

using Sentences = std::vector<std::string>;

inline std::string percent(double ratio) { return fmt::format("{:.0f} %", 100 * ratio); }

inline double ratio(i64 part, i64 whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

inline std::string rank_name(const RankFacts& r) { return r.rank ? fmt::format("rank {}", *r.rank) : r.file; }

void say_ranks(const Facts& facts, Sentences& out);  // advice_ranks.cc

}  // namespace spotter
