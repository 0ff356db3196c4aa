// A capture as it stands: who asked for it, when, and a receipt for each of its processes. captures.h makes
// and changes it.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"
#include "table/table.h"

namespace spotter::capture {

enum class State : u8 {
  accepted,   // waits for the process to ask
  delivered,  // the process has the request
  capturing,  // the process is at it: it warms up, records or writes
  written,    // the file is there and has events
  empty,      // the file is there, without an event
  failed,
  expired,  // the deadline passed first
};
const char* state_name(State state);
std::span<const Field> receipt_columns();
inline bool is_final(State state) { return state >= State::written; }

struct Times {
  Ns steady = 0;
  i64 unix_ms = 0;
};

struct Receipt {
  i64 pid = 0, uid = -1;
  std::optional<i64> rank;
  State state = State::accepted;
  std::string file;  // as the process calls it; empty until it has a name
  i64 size_bytes = 0;
  Ns took = 0;  // from acceptance to the final state
  std::string reason;
  std::string source, source_root;  // its repository, as far as it can be told
};

struct Capture {
  std::string id, asked_by;
  std::string job;  // of all its processes; empty where they have none, or not the same
  Times accepted;
  Ns deadline = 0;
  std::vector<Receipt> receipts;
  i64 revision = 0;  // counts the changes
  bool over() const;
  size_t written() const;      // files
  const char* state() const;   // running; at the end written, partly written or failed
  std::string output() const;  // the first file's directory
};

Table receipts_of(const Capture& capture, const std::string& host_name);

std::string directory_of(const std::string& path);
// Of the first file that a table of receipts names; empty: it names none.
std::string folder_of(const Table& receipts);

}  // namespace spotter::capture
