#include "store/history_query.h"

#include <algorithm>
#include <map>

#include "store/merge.h"
#include "store/series/block_codec.h"
#include "store/series/fold_stage.h"

namespace spotter::store {
namespace {

// A block in the file, or in memory.
struct Source {
  SharedSchema schema;
  Ns step = 0, begin = 0;
  BlockFacts facts;                     // of the file
  const PackedBlock* memory = nullptr;  // not in the file
};

bool is_wanted(const table::Selection& selection, const Schema& schema) {
  return selection.wants_table(schema.table, schema.fields, schema.is_events);
}

class Reader {
 public:
  Reader(const HistoryQuery& query, Blocks& blocks, std::vector<PackedBlock> memory)
      : query_(query), blocks_(blocks), memory_(std::move(memory)) {}

  Result<std::vector<Table>> read(Database& database) {
    TRY(collect_sources());
    const Ns step = chosen_step();
    std::map<std::string, std::vector<const Source*>> tables;
    for (const Source& source : sources_) {
      const bool is_folded =
          !source.memory && source.facts.id <= blocks_.last_folded(source.schema->table, source.step);
      if (source.step == step || (source.step < step && !is_folded))
        tables[source.schema->table].push_back(&source);
    }
    std::vector<Table> answer;
    for (const auto& [name, sources] : tables) {
      TRY_ASSIGN(Table table, read_table(name, sources, step));
      if (table.rows() > 0 || !table.notes.empty()) answer.push_back(std::move(table));
    }
    TRY(read_events(database, answer));
    return answer;
  }

 private:
  Result<void> collect_sources() {
    TRY_ASSIGN(std::vector<Ns> steps, blocks_.steps());
    std::ranges::reverse(steps);
    for (const Ns step : steps) {
      TRY_ASSIGN(const std::vector<BlockFacts> all,
                 blocks_.between(step, query_.from_unix_ns, query_.to_unix_ns));
      for (const BlockFacts& facts : all) {
        const Result<SharedSchema> schema = blocks_.schema(facts.schema);
        if (!schema && schema.error().code != Code::corrupt && schema.error().code != Code::unsupported)
          return tl::unexpected(schema.error());
        if (!schema) {
          ++unknown_blocks_;
        } else if (is_wanted(query_.selection, **schema)) {
          sources_.push_back({*schema, facts.step, facts.begin, facts, nullptr});
        }
      }
    }
    for (const PackedBlock& block : memory_) {
      if (block.begin < query_.to_unix_ns && block.end >= query_.from_unix_ns)
        sources_.push_back({block.schema, block.step, block.begin, {}, &block});
    }
    return {};
  }

  // The first step, from the one asked for, such that no coarser one goes back further within the range, by
  // a row of it at least: between the rows of two blocks there is always a moment of which none is.
  Ns chosen_step() const {
    std::map<Ns, Ns> earliest;
    for (const Source& source : sources_) {
      const Ns begin = std::max(source.begin, query_.from_unix_ns);
      const auto [it, is_new] = earliest.try_emplace(source.step, begin);
      it->second = std::min(it->second, begin);
    }
    if (earliest.empty()) return 0;
    auto chosen = earliest.upper_bound(query_.step);
    if (chosen != earliest.begin()) --chosen;
    for (auto it = chosen; it != earliest.end(); ++it) {
      if (it->second + it->first <= earliest.at(chosen->first)) chosen = it;
    }
    return chosen->first;
  }

  // What is finer than `step` is folded to it; and all of it to the step that is asked for, if that is
  // longer.
  Result<Table> read_table(const std::string& name, const std::vector<const Source*>& sources, Ns step) {
    Merge merge(name, false);
    const auto is_folded = [&](const Source& source) { return source.step < step || step < query_.step; };
    for (auto it = sources.rbegin(); it != sources.rend(); ++it) {
      const SharedSchema& own = (*it)->schema;
      const SharedSchema schema = is_folded(**it) ? folding_of(*own).target : own;
      merge.add_schema(*schema, wanted_columns(*schema));
    }
    const auto add = [&](const Block& block) {
      for (size_t row = 0; row < block.rows(); ++row) {
        if (is_wanted_row(block, row)) merge.add_row(block, row);
      }
    };
    FoldStage to_asked(query_.step, add);
    const auto add_of_step = [&](const Block& block) {
      query_.step > step ? to_asked.add(block) : add(block);
    };
    FoldStage to_step(step, add_of_step);
    for (const Source* source : sources) {
      Result<Block> block = load(*source);
      if (!block) {
        if (block.error().code != Code::corrupt && block.error().code != Code::unsupported)
          return tl::unexpected(block.error());
        merge.notes.add("damaged_block", Severity::loss, "blocks of the history are damaged and left out");
        continue;
      }
      source->step < step ? to_step.add(*block) : add_of_step(*block);
      TRY(check_size(merge.cells() + to_step.cells() + to_asked.cells()));
    }
    to_step.finish();
    to_asked.finish();
    cells_ += merge.cells();
    if (unknown_blocks_ > 0)
      merge.notes.add("unknown_block", Severity::loss,
                      "blocks of the history have columns that cannot be told, and are left out", -1,
                      std::exchange(unknown_blocks_, 0));
    return merge.finish();
  }

  Result<Block> load(const Source& source) {
    const Schema& schema = *source.schema;
    const auto wanted = [&](size_t i) {
      return query_.selection.wants_column(schema.table, schema.fields[i], schema.is_events);
    };
    if (source.memory) return decode_block(source.memory->bytes, source.schema, wanted);
    return blocks_.load(source.facts, wanted);
  }

  std::vector<bool> wanted_columns(const Schema& schema) const {
    std::vector<bool> all;
    for (const StoredField& field : schema.fields)
      all.push_back(query_.selection.wants_column(schema.table, field, schema.is_events));
    return all;
  }

  // Of a table that is wanted.
  bool is_wanted_row(const Block& block, size_t row) const {
    const Ns time = block.times[row];
    if (time < query_.from_unix_ns || time >= query_.to_unix_ns) return false;
    const table::Selection& selection = query_.selection;
    return selection.job.empty() ||
           selection.wants_row(block.at(row, table::Selection::job_column(block.schema->fields)));
  }

  Result<void> check_size(size_t more) const {
    if (static_cast<i64>(cells_ + more) <= query_.most_cells) return {};
    return fail(Code::invalid,
                "the answer has more than {} values; ask for a shorter time, fewer metrics or a longer step",
                query_.most_cells);
  }

  Result<void> read_events(Database& database, std::vector<Table>& answer) {
    struct Found {
      Merge merge;
      std::vector<Block> blocks;
    };
    std::map<std::string, Found> tables;
    TRY_ASSIGN(Statement events,
               database.prepare("SELECT schema, data FROM events WHERE time_ns >= ? AND time_ns < ? "
                                "ORDER BY time_ns, id"));
    events.bind(query_.from_unix_ns, query_.to_unix_ns);
    for (size_t cells = 0;;) {
      TRY_ASSIGN(const bool is_row, events.step());
      if (!is_row) break;
      const Result<SharedSchema> schema = blocks_.schema(events.integer(0));
      if (!schema || !is_wanted(query_.selection, **schema)) continue;
      const auto it = tables.try_emplace((*schema)->table, Found{Merge((*schema)->table, true), {}}).first;
      if (Result<Block> block = decode_block(events.blob(1), *schema)) {
        cells += block->cells();
        it->second.blocks.push_back(std::move(*block));
      } else {
        it->second.merge.notes.add("damaged_event", Severity::loss, "events are damaged and left out");
      }
      TRY(check_size(cells));
    }
    for (auto& [name, found] : tables) {
      for (auto block = found.blocks.rbegin(); block != found.blocks.rend(); ++block)
        found.merge.add_schema(*block->schema, wanted_columns(*block->schema));
      for (const Block& block : found.blocks) {
        for (size_t row = 0; row < block.rows(); ++row) {
          if (is_wanted_row(block, row)) found.merge.add_row(block, row);
        }
      }
      Table table = found.merge.finish();
      if (table.rows() > 0 || !table.notes.empty()) answer.push_back(std::move(table));
    }
    return {};
  }

  const HistoryQuery& query_;
  Blocks& blocks_;
  std::vector<PackedBlock> memory_;
  std::vector<Source> sources_;  // coarser steps first, of each in the order of writing, memory last
  i64 unknown_blocks_ = 0;
  size_t cells_ = 0;
};

// `unwritten` calls what it is given, which begins the read transaction.
template <class Unwritten>
Result<std::vector<Table>> run(const std::string& path, const HistoryQuery& query,
                               const Unwritten& unwritten) {
  if (query.from_unix_ns >= query.to_unix_ns)
    return fail(Code::invalid, "the range of time ends before it begins");
  TRY_ASSIGN(Database database, open_history_to_read(path));
  const auto begin = [&]() -> Result<void> {
    TRY(database.run("BEGIN"));
    TRY(database.integer("SELECT count(*) FROM schemas"));
    return {};
  };
  TRY_ASSIGN(std::vector<PackedBlock> memory, unwritten(begin));
  TRY_ASSIGN(Blocks blocks, Blocks::open(database));
  return Reader(query, blocks, std::move(memory)).read(database);
}

}  // namespace

Result<std::vector<Table>> query(const std::string& path, const HistoryQuery& query) {
  return run(path, query, [](const auto& begin) -> Result<std::vector<PackedBlock>> {
    TRY(begin());
    return std::vector<PackedBlock>();
  });
}

Result<std::vector<Table>> query(History& history, const HistoryQuery& query) {
  return run(history.path(), query, [&](const auto& begin) {
    return history.unwritten([&](const Schema& schema) { return is_wanted(query.selection, schema); }, begin);
  });
}

}  // namespace spotter::store
