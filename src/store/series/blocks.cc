#include "store/series/blocks.h"

#include <algorithm>
#include <limits>

#include "base/saturated.h"
#include "store/series/block_codec.h"
#include "store/series/tier.h"

namespace spotter::store {

Result<PackedBlock> pack(const Block& block, Ns step, Ns recorded) {
  TRY_ASSIGN(std::string bytes, encode(block));
  const auto [begin, end] = std::ranges::minmax(block.times);
  return PackedBlock{block.schema, step, begin, end, recorded, std::ssize(block.times), std::move(bytes)};
}

Result<Blocks> Blocks::open(Database& database) {
  Blocks blocks(database);
  TRY(blocks.prepare());
  TRY(blocks.forget());
  return blocks;
}

Result<void> Blocks::prepare() {
  const std::pair<Statement*, const char*> all[] = {
      {&insert_,
       "INSERT INTO blocks(step_ns, schema, begin_ns, end_ns, recorded_ns, rows, data) "
       "VALUES(?, ?, ?, ?, ?, ?, ?)"},
      {&insert_schema_, "INSERT INTO schemas(table_name, content) VALUES(?, ?)"},
      {&find_schema_, "SELECT id FROM schemas WHERE content = ?"},
      {&read_schema_, "SELECT content FROM schemas WHERE id = ?"},
      {&read_, "SELECT data FROM blocks WHERE id = ?"},
      {&remove_, "DELETE FROM blocks WHERE id = ?"},
      {&next_step_, "SELECT step_ns FROM blocks WHERE step_ns > ? ORDER BY step_ns LIMIT 1"},
      {&between_,
       "SELECT id, schema, step_ns, begin_ns, end_ns, 0 FROM blocks INDEXED BY blocks_by_time "
       "WHERE step_ns = ? AND begin_ns >= ? AND begin_ns < ? AND end_ns >= ?"},
      {&oldest_,
       "SELECT id, schema, step_ns, begin_ns, end_ns, recorded_ns FROM blocks INDEXED BY blocks_by_step "
       "WHERE step_ns = ? ORDER BY id LIMIT 1"},
      {&newest_, "SELECT recorded_ns FROM blocks ORDER BY id DESC LIMIT 1"},
      {&unfolded_,
       "SELECT id, schema, step_ns, begin_ns, end_ns, recorded_ns FROM blocks INDEXED BY blocks_by_step "
       "WHERE step_ns = ? ORDER BY id"},
      {&fold_,
       "INSERT INTO folds(table_name, step_ns, last_block) VALUES(?, ?, ?) "
       "ON CONFLICT(table_name, step_ns) DO UPDATE SET last_block = excluded.last_block"},
  };
  for (const auto& [statement, sql] : all) {
    TRY_ASSIGN(*statement, database_->prepare(sql));
  }
  return {};
}

Result<void> Blocks::forget() {
  ids_.clear();
  schemas_.clear();
  folded_.clear();
  TRY_ASSIGN(Statement all, database_->prepare("SELECT table_name, step_ns, last_block FROM folds"));
  for (;;) {
    TRY_ASSIGN(const bool is_row, all.step());
    if (!is_row) return {};
    folded_[{std::string(all.text(0)), all.integer(1)}] = all.integer(2);
  }
}

Result<i64> Blocks::schema_id(const Schema& schema) {
  const std::string content = encode(schema);
  if (const auto it = ids_.find(content); it != ids_.end()) return it->second;
  TRY_ASSIGN(const bool is_there, find_schema_.bind(Statement::as_blob(content)).step());
  i64 id = 0;
  if (is_there) {
    id = find_schema_.integer(0);
    find_schema_.reset();
  } else {
    TRY(insert_schema_.bind(std::string_view(schema.table), Statement::as_blob(content)).run());
    id = database_->last_id();
  }
  ids_[content] = id;
  return id;
}

Result<SharedSchema> Blocks::schema(i64 id) {
  if (const auto it = schemas_.find(id); it != schemas_.end()) return it->second;
  TRY_ASSIGN(const bool is_there, read_schema_.bind(id).step());
  if (!is_there) return fail(Code::corrupt, "{} lacks the description of columns {}", database_->path(), id);
  auto schema = decode_schema(read_schema_.blob(0));
  read_schema_.reset();
  if (!schema) return within(schema.error(), database_->path());
  return schemas_[id] = std::make_shared<const Schema>(std::move(*schema));
}

Result<void> Blocks::insert(const PackedBlock& block) {
  TRY_ASSIGN(const i64 schema, schema_id(*block.schema));
  return insert_
      .bind(block.step, schema, block.begin, block.end, block.recorded, block.rows,
            Statement::as_blob(block.bytes))
      .run();
}

Result<Block> Blocks::load(const BlockFacts& block, const std::function<bool(size_t)>& wanted) {
  TRY_ASSIGN(SharedSchema of, schema(block.schema));
  TRY_ASSIGN(const bool is_there, read_.bind(block.id).step());
  if (!is_there) return fail(Code::corrupt, "{} lacks block {}", database_->path(), block.id);
  auto decoded = decode_block(read_.blob(0), std::move(of), wanted);
  read_.reset();
  return decoded;
}

Result<void> Blocks::remove(i64 id) { return remove_.bind(id).run(); }

Result<std::vector<Ns>> Blocks::steps() {
  std::vector<Ns> steps;
  for (Ns last = std::numeric_limits<Ns>::min();; last = steps.back()) {
    TRY_ASSIGN(const bool is_row, next_step_.bind(last).step());
    if (!is_row) return steps;
    steps.push_back(next_step_.integer(0));
    next_step_.reset();
  }
}

namespace {

BlockFacts facts_of(const Statement& row) {
  return {row.integer(0), row.integer(1), row.integer(2), row.integer(3), row.integer(4), row.integer(5)};
}

}  // namespace

Result<std::vector<BlockFacts>> Blocks::between(Ns step, Ns from, Ns to) {
  std::vector<BlockFacts> all;
  between_.bind(step, subtract_saturated(from, kMostBlockSpan), to, from);
  for (;;) {
    TRY_ASSIGN(const bool is_row, between_.step());
    if (!is_row) break;
    all.push_back(facts_of(between_));
  }
  std::ranges::sort(all, {}, &BlockFacts::id);
  return all;
}

Result<std::optional<BlockFacts>> Blocks::oldest(Ns step) {
  TRY_ASSIGN(const bool is_row, oldest_.bind(step).step());
  if (!is_row) return std::nullopt;
  const BlockFacts facts = facts_of(oldest_);
  oldest_.reset();
  return facts;
}

Result<Ns> Blocks::recorded() {
  TRY_ASSIGN(const bool is_row, newest_.bind().step());
  const Ns recorded = is_row ? newest_.integer(0) : 0;
  newest_.reset();
  return recorded;
}

i64 Blocks::last_folded(const std::string& table, Ns step) const {
  const auto it = folded_.find({table, step});
  return it == folded_.end() ? 0 : it->second;
}

Result<void> Blocks::set_last_folded(const std::string& table, Ns step, i64 id) {
  TRY(fold_.bind(std::string_view(table), step, id).run());
  folded_[{table, step}] = id;
  return {};
}

Result<std::vector<BlockFacts>> Blocks::unfolded(Ns step) {
  std::vector<BlockFacts> all;
  unfolded_.bind(step);
  for (;;) {
    TRY_ASSIGN(const bool is_row, unfolded_.step());
    if (!is_row) return all;
    const BlockFacts facts = facts_of(unfolded_);
    const Result<SharedSchema> of = schema(facts.schema);
    if (of && facts.id > last_folded((*of)->table, step)) all.push_back(facts);
  }
}

}  // namespace spotter::store
