#include "store/series/fold_tier.h"

#include "store/series/block_codec.h"
#include "store/series/fold.h"

namespace spotter::store {
namespace {

// Blocks of about this many cells are small enough to be made one at a time.
constexpr size_t kCells = size_t{1} << 16;

// Folds blocks of one table and one coarse block's time, in the order of writing.
Result<void> fold_blocks(Blocks& blocks, std::span<const BlockFacts> from, const Tier& coarse, i64& damaged) {
  std::unique_ptr<Block> out;
  Result<void> status;
  const Ns recorded = from.back().recorded;
  const auto write = [&] {
    if (!status || !out || out->rows() == 0) return;
    const Result<PackedBlock> packed = pack(*out, coarse.step, recorded);
    if (packed) {
      status = blocks.insert(*packed);
    } else {
      ++damaged;  // a row with texts of megabytes
    }
    out = std::make_unique<Block>(out->schema);
  };

  std::unique_ptr<RowFolder> folder;
  i64 schema = -1;
  const auto finish = [&] {
    if (folder) folder->finish();
    write();
  };
  for (const BlockFacts& facts : from) {
    const Result<Block> block = blocks.load(facts);
    if (!block) {
      if (block.error().code != Code::corrupt && block.error().code != Code::unsupported)
        return tl::unexpected(block.error());
      ++damaged;
      continue;
    }
    if (facts.schema != schema) {
      finish();
      schema = facts.schema;
      const Folding folding = folding_of(*block->schema);
      out = std::make_unique<Block>(folding.target);
      folder = std::make_unique<RowFolder>(folding, coarse.step, [&](Ns time, std::span<const Value> row) {
        out->append(time, row);
        if (out->cells() >= kCells || out->words.memory_bytes() >= kMostBlockTexts / 2) write();
      });
    }
    folder->add(*block);
    TRY(status);
  }
  finish();
  return status;
}

Result<void> fold_table(Blocks& blocks, std::span<const BlockFacts> all, const Tier& coarse, i64& damaged) {
  size_t begin = 0;
  for (size_t i = 1; i <= all.size(); ++i) {
    const auto window = [&](size_t at) { return window_of(all[at].begin, coarse.block); };
    if (i < all.size() && window(i) == window(begin)) continue;
    TRY(fold_blocks(blocks, all.subspan(begin, i - begin), coarse, damaged));
    begin = i;
  }
  TRY_ASSIGN(const SharedSchema schema, blocks.schema(all.back().schema));
  return blocks.set_last_folded(schema->table, all.back().step, all.back().id);
}

using ByTable = std::map<std::string, std::vector<BlockFacts>>;

Result<ByTable> unfolded(Blocks& blocks, Ns step) {
  ByTable tables;
  TRY_ASSIGN(const std::vector<BlockFacts> all, blocks.unfolded(step));
  for (const BlockFacts& block : all) {
    TRY_ASSIGN(const SharedSchema schema, blocks.schema(block.schema));
    tables[schema->table].push_back(block);
  }
  return tables;
}

}  // namespace

Result<void> fold_tier(Database& database, Blocks& blocks, Ns fine_step, const Tier& coarse, Ns now,
                       Ns before, i64& damaged) {
  TRY_ASSIGN(ByTable tables, unfolded(blocks, fine_step));
  for (auto& [table, all] : tables) {
    const auto is_open = [&](const BlockFacts& block) {
      const i64 window = window_of(block.begin, coarse.block);
      return window == window_of(now, coarse.block) || window == window_of(before, coarse.block);
    };
    // Those before the last one that is due: what is folded is told by the order of writing.
    while (!all.empty() && is_open(all.back())) all.pop_back();
    if (all.empty()) continue;
    TRY_ASSIGN(Transaction transaction, Transaction::begin(database));
    TRY(fold_table(blocks, all, coarse, damaged));
    TRY(transaction.commit());
  }
  return {};
}

Result<void> fold_up_to(Blocks& blocks, const BlockFacts& last, const Tier& coarse, i64& damaged) {
  TRY_ASSIGN(const SharedSchema schema, blocks.schema(last.schema));
  if (last.id <= blocks.last_folded(schema->table, last.step)) return {};
  TRY_ASSIGN(ByTable tables, unfolded(blocks, last.step));
  std::vector<BlockFacts>& all = tables[schema->table];
  std::erase_if(all, [&](const BlockFacts& block) { return block.id > last.id; });
  return all.empty() ? Result<void>() : fold_table(blocks, all, coarse, damaged);
}

}  // namespace spotter::store
