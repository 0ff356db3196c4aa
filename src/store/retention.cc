#include "store/retention.h"

#include <algorithm>

#include "store/history_file.h"

namespace spotter::store {

// Blocks of a step that is no tier's any more are kept as long as those of the next coarser one.
const Tier& Retention::tier_of(Ns step) const {
  const auto it = std::ranges::lower_bound(tiers_, step, {}, &Tier::step);
  return it == tiers_.end() ? tiers_.back() : *it;
}

Result<void> Retention::remove(Blocks& blocks, const BlockFacts& block, i64& damaged) {
  const auto coarser = std::ranges::upper_bound(tiers_, block.step, {}, &Tier::step);
  if (coarser != tiers_.end()) {
    // Whoever cannot tell what it is cannot fold it either.
    if (const Result<SharedSchema> schema = blocks.schema(block.schema); schema) {
      TRY(fold_up_to(blocks, block, *coarser, damaged));
    }
  }
  return blocks.remove(block.id);
}

Result<void> Retention::drop_old(Database& database, Blocks& blocks, Ns recorded, i64& damaged) {
  TRY_ASSIGN(const std::vector<Ns> steps, blocks.steps());
  for (const Ns step : steps) {
    const Ns oldest_kept = recorded - tier_of(step).keep;
    std::optional<Transaction> transaction;
    for (;;) {
      TRY_ASSIGN(const std::optional<BlockFacts> block, blocks.oldest(step));
      if (!block || block->recorded >= oldest_kept) break;
      if (!transaction) {
        TRY_ASSIGN(Transaction begun, Transaction::begin(database));
        transaction.emplace(std::move(begun));
      }
      TRY(remove(blocks, *block, damaged));
    }
    if (transaction) TRY(transaction->commit());
  }
  return {};
}

Result<void> Retention::make_room(Database& database, Blocks& blocks, Ns recorded, i64 bytes, i64& damaged) {
  // Blobs end in pages of their own, and what is evicted may have to be folded first.
  const i64 limit = most_pages(most_bytes_);
  const i64 most = std::max<i64>(limit - limit / 16 - 2 * bytes / kPageBytes, 0);
  std::optional<Transaction> transaction;
  for (;;) {
    TRY_ASSIGN(const i64 pages, database.integer("PRAGMA page_count"));
    TRY_ASSIGN(const i64 unused, database.integer("PRAGMA freelist_count"));
    if (pages - unused <= most) {
      if (transaction) TRY(transaction->commit());
      // Steps of a size that holds little up; a file gets that large only where its limit has become smaller.
      if (pages > limit && unused > 0) return database.run("PRAGMA incremental_vacuum(256)");
      return {};
    }
    if (!transaction) {
      TRY_ASSIGN(Transaction begun, Transaction::begin(database));
      transaction.emplace(std::move(begun));
    }
    std::optional<BlockFacts> first;
    double greatest = -1;
    TRY_ASSIGN(const std::vector<Ns> steps, blocks.steps());
    for (const Ns step : steps) {
      TRY_ASSIGN(const std::optional<BlockFacts> block, blocks.oldest(step));
      if (!block) continue;
      const double used =
          static_cast<double>(recorded - block->recorded) / static_cast<double>(tier_of(step).keep);
      if (used > greatest) first = block, greatest = used;
    }
    if (!first) break;  // the catalogue alone; its own limits hold it
    TRY(remove(blocks, *first, damaged));
  }
  return transaction ? transaction->commit() : Result<void>();
}

}  // namespace spotter::store
