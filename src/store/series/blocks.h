// The blocks of a history and the descriptions of their columns, in its database. One thread; whoever writes
// has begun a transaction.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "store/database.h"
#include "store/series/block.h"

namespace spotter::store {

// A block, packed.
struct PackedBlock {
  SharedSchema schema;
  Ns step = 0;
  Ns begin = 0, end = 0;  // Unix time of the first and the last row
  Ns recorded = 0;        // see history_file.cc
  i64 rows = 0;
  std::string bytes;
};
// Errors: those of encode().
Result<PackedBlock> pack(const Block& block, Ns step, Ns recorded);

struct BlockFacts {
  i64 id = 0, schema = 0;
  Ns step = 0, begin = 0, end = 0, recorded = 0;
};

class Blocks {
 public:
  // `database` outlives it.
  static Result<Blocks> open(Database& database);

  Result<void> insert(const PackedBlock& block);
  Result<i64> schema_id(const Schema& schema);
  Result<SharedSchema> schema(i64 id);
  Result<Block> load(const BlockFacts& block, const std::function<bool(size_t)>& wanted = {});
  Result<void> remove(i64 id);

  Result<std::vector<Ns>> steps();  // of which there are blocks, finest first
  Result<std::vector<BlockFacts>> between(Ns step, Ns from, Ns to);  // in the order of writing
  Result<std::optional<BlockFacts>> oldest(Ns step);                 // written first
  Result<Ns> recorded();                                             // the newest block's; 0: there is none

  // Blocks of a table up to here are in the coarser step, too. 0: none is.
  i64 last_folded(const std::string& table, Ns step) const;
  Result<void> set_last_folded(const std::string& table, Ns step, i64 id);
  // Those after it of all tables, in the order of writing; not those whose columns nobody can tell.
  Result<std::vector<BlockFacts>> unfolded(Ns step);

  // After a transaction that was not committed.
  Result<void> forget();

 private:
  explicit Blocks(Database& database) : database_(&database) {}
  Result<void> prepare();

  Database* database_;
  Statement insert_, insert_schema_, find_schema_, read_schema_, read_, remove_, next_step_, between_,
      oldest_, newest_, unfolded_, fold_;
  std::unordered_map<std::string, i64> ids_;  // of encoded schemas
  std::unordered_map<i64, SharedSchema> schemas_;
  std::map<std::pair<std::string, Ns>, i64> folded_;
};

}  // namespace spotter::store
