// Retention: what of a history goes when. Each step keeps its blocks for as long as its tier says; and the
// file stays under its size: the block goes first that has used up the greatest part of its tier's time, so
// that a small file shortens every tier by the same factor, and the last minutes stay as fine as they are.
//
// Time is what has been recorded (History::advance), not the clock's: a clock that jumps by a year makes
// nothing old.
#pragma once
#include "store/series/blocks.h"
#include "store/series/fold_tier.h"
#include "store/series/tier.h"

namespace spotter::store {

class Retention {
 public:
  Retention(std::vector<Tier> tiers, i64 most_bytes) : tiers_(std::move(tiers)), most_bytes_(most_bytes) {}

  // Begins a transaction where there is something to do.
  Result<void> drop_old(Database& database, Blocks& blocks, Ns recorded, i64& damaged);
  // Until so many bytes can be written. Blocks that are in no coarser step yet are folded before they go.
  Result<void> make_room(Database& database, Blocks& blocks, Ns recorded, i64 bytes, i64& damaged);

 private:
  const Tier& tier_of(Ns step) const;
  Result<void> remove(Blocks& blocks, const BlockFacts& block, i64& damaged);

  std::vector<Tier> tiers_;
  i64 most_bytes_;
};

}  // namespace spotter::store
