// Tier: how finely and how long a history remembers.
#pragma once
#include <span>

#include "base/result.h"
#include "base/time.h"
#include "base/types.h"

namespace spotter::store {

struct Tier {
  Ns step = 0;  // one row of each entity in so much time; the finest keeps samples that come less often as is
  Ns keep = 0;  // of recorded time
  Ns block = 0;  // rows of so much time, aligned to Unix time, are stored together
};

inline constexpr Ns kMostBlockSpan = kDay;

// Steps grow; a block is made of whole steps and of whole blocks of the tier before, so that a finer block is
// in one coarser step and block.
inline Result<void> check(std::span<const Tier> tiers) {
  if (tiers.empty()) return fail(Code::invalid, "a history needs a tier");
  for (size_t i = 0; i < tiers.size(); ++i) {
    const Tier& tier = tiers[i];
    const Tier before = i == 0 ? Tier{0, 0, tier.step} : tiers[i - 1];
    if (tier.step <= before.step || tier.block < tier.step || tier.block % tier.step != 0 ||
        tier.block % before.block != 0 || tier.block > kMostBlockSpan)
      return fail(
          Code::invalid,
          "tier {} of the history: steps must grow, and blocks be multiples of the step and of the finer "
          "tier's block, of a day at most",
          i + 1);
    const Ns least = i + 1 < tiers.size() ? 2 * tiers[i + 1].block : tier.block;
    if (tier.keep < least)
      return fail(Code::invalid,
                  "tier {} of the history keeps less than {} s: two blocks of the next tier, or one", i + 1,
                  least / kSecond);
  }
  return {};
}

}  // namespace spotter::store
