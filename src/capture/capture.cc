#include "capture/capture.h"

#include <algorithm>

#include "table/ops.h"

namespace spotter::capture {
namespace {

const Field kColumns[] = {
    {"host", Type::text, Unit::none, Role::detail, "Host of the process."},
    {"pid", Type::integer, Unit::none, Role::key, "Process id, as the host counts."},
    {"rank", Type::integer, Unit::none, Role::key, "Rank in the job; null where the process has none."},
    {"state", Type::text, Unit::none, Role::value,
     "accepted, delivered, capturing; at the end written, empty (a file without events), failed or expired."},
    whole({"file", Type::text, Unit::none, Role::value, "Trace file, as the process calls it."}),
    {"size_bytes", Type::integer, Unit::bytes, Role::value, "Size of the file; null before it is there."},
    {"took_ns", Type::integer, Unit::ns, Role::value,
     "From the request to the final state; null before that."},
    whole({"reason", Type::text, Unit::none, Role::value, "Why it is not written, or what else to know."}),
    whole(
        {"source", Type::text, Unit::none, Role::detail,
         "The repository that the process works in, as URL@COMMIT: its remote origin and what was checked out when the "
         "capture began; null where that cannot be told."}),
    whole({"source_root", Type::text, Unit::none, Role::detail,
           "The folder of that repository, as the process calls it."}),
};

}  // namespace

std::span<const Field> receipt_columns() { return kColumns; }

const char* state_name(State state) {
  static constexpr const char* names[] = {"accepted", "delivered", "capturing", "written",
                                          "empty",    "failed",    "expired"};
  return names[static_cast<size_t>(state)];
}

bool Capture::over() const {
  return std::all_of(receipts.begin(), receipts.end(), [](const Receipt& r) { return is_final(r.state); });
}

size_t Capture::written() const {
  return static_cast<size_t>(std::ranges::count(receipts, State::written, &Receipt::state));
}

const char* Capture::state() const {
  if (!over()) return "running";
  const size_t files = written();
  return files == receipts.size() ? "written" : files > 0 ? "partly written" : "failed";
}

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string Capture::output() const {
  const auto named = std::ranges::find_if(receipts, [](const Receipt& r) { return !r.file.empty(); });
  return named == receipts.end() ? std::string() : directory_of(named->file);
}

Table receipts_of(const Capture& capture, const std::string& host_name) {
  Table table("receipts", receipt_columns());
  for (const Receipt& r : capture.receipts) {
    const bool over = is_final(r.state);
    table.append({std::string_view(host_name), r.pid, r.rank ? Value(*r.rank) : Value(),
                  std::string_view(state_name(r.state)), std::string_view(r.file),
                  r.size_bytes > 0 ? Value(r.size_bytes) : Value(), over ? Value(r.took) : Value(),
                  or_null(r.reason), or_null(r.source), or_null(r.source_root)});
  }
  return table;
}

std::string folder_of(const Table& receipts) {
  for (size_t row = 0; row < receipts.rows(); ++row) {
    const std::string_view file = table::text_or_empty(receipts, row, "file");
    if (!file.empty()) return directory_of(std::string(file));
  }
  return {};
}

}  // namespace spotter::capture
