// Makes the blocks of a coarser tier from those of the finer one, once they are written. So there is one way
// into a tier, nothing of it is in memory that a kill could take, and what is not folded yet is folded by
// whoever asks.
#pragma once
#include "store/series/blocks.h"
#include "store/series/tier.h"

namespace spotter::store {

// Folds the finer tier's blocks that are not yet, of every table, except those of the coarse blocks
// that the times `now` or `before` are in: more may come. Each table in a transaction of its own.
// `damaged` counts blocks that could not be read, and are left out.
Result<void> fold_tier(Database& database, Blocks& blocks, Ns fine_step, const Tier& coarse, Ns now,
                       Ns before, i64& damaged);

// The same of one block that has to go, and of those of its table before it, in the caller's transaction.
Result<void> fold_up_to(Blocks& blocks, const BlockFacts& last, const Tier& coarse, i64& damaged);

}  // namespace spotter::store
