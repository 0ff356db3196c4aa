// Journal: the rows that a history has in memory alone, in a file beside it (NAME-unwritten), as they came:
// an agent that is killed loses only what it was not given yet. It is begun anew whenever blocks are written,
// under a number that the same transaction puts into the history's file: wherever the process ends, a row is
// in a block or in the journal of that number, never in both and never in neither. What is appended at once
// is there for all its tables, or for none. It is not synced: a machine that loses its power may lose all of
// it. It is not called NAME-journal: SQLite has one of that name.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/system/descriptor.h"
#include "store/series/block.h"

namespace spotter::store {

// Rows of a block, from `from` on.
struct JournalPart {
  const Block* block = nullptr;
  size_t from = 0;
  Ns period = 0;  // of their batches
};

struct JournaledRows {
  Block block;
  Ns period = 0;
};

// One thread.
class Journal {
 public:
  // It never has more than `most_bytes`; while it is begun anew there are two.
  Journal(std::string path, i64 most_bytes) : path_(std::move(path)), most_bytes_(most_bytes) {}

  // Makes the next one, beside the one that counts. Errors: io (also: full).
  Result<void> prepare(i64 number, std::span<const JournalPart> parts);
  Result<void> take_place();  // the one that was prepared counts from now on
  // Errors: io; nothing more is appended, then, until another one takes its place.
  Result<void> append(std::span<const JournalPart> parts);
  void remove();

  // What the one of this number has, which takes its place if it had not; nothing where there is none. A last
  // record that is not whole was being written when the process ended, and is left out, as all that follows a
  // damaged one.
  std::vector<JournaledRows> read(i64 number);

 private:
  struct File {
    std::string path;
    Descriptor descriptor = Descriptor();
    i64 bytes = 0;
    std::vector<SharedSchema> schemas =
        {};  // that it describes; held, so that no other one gets their places
    std::unordered_map<const Schema*, size_t> numbers = {};  // of these
  };
  std::string next_path() const { return path_ + "-next"; }
  Result<void> append(File& file, std::span<const JournalPart> parts) const;
  Result<void> write(File& file, std::string_view bytes) const;

  std::string path_;
  i64 most_bytes_;
  std::optional<File> file_, next_;
};

}  // namespace spotter::store
