#include "read/receipts.h"

#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "base/system/file.h"
#include "base/text/utf8.h"
#include "read/endings.h"
#include "read/json.h"
#include "read/source.h"

namespace spotter::read {
namespace {

constexpr std::string_view kStem = "capture";
constexpr size_t kMostText = size_t{64} << 20;
constexpr size_t kMostReceipts = 1'000'000;
constexpr size_t kMostMembers = 100;  // of every other list or object
constexpr size_t kMostTold = 5;       // by name; the others are counted
constexpr size_t kMostFiles = 1000;   // of receipts in a folder, each of which may have a note of its own
constexpr size_t kMostReason = 300;
constexpr size_t kMostCell = 4096;  // bytes of a text, as of a path

// Of a text that is long because it is something else not all members are wanted.
Result<std::vector<read::json::Member>> members_of(std::string_view raw, size_t most) {
  bool damaged = false;
  std::vector<read::json::Member> members = read::json::members(raw, &damaged, most);
  if (damaged) return fail(Code::corrupt, "it is damaged or was cut off");
  return members;
}

std::string_view find_member(const std::vector<read::json::Member>& members, std::string_view key) {
  const auto found = std::ranges::find(members, key, &read::json::Member::key);
  return found == members.end() ? std::string_view() : found->raw;
}

struct TableText {
  std::string_view columns, rows;
};

Result<TableText> find_table(std::string_view text) {
  TRY_ASSIGN(const auto file, members_of(text, kMostMembers));
  TRY_ASSIGN(const auto tables, members_of(find_member(file, "tables"), kMostMembers));
  for (const read::json::Member& element : tables) {
    TRY_ASSIGN(const auto table, members_of(element.raw, kMostMembers));
    if (read::json::text_of(find_member(table, "name")) == "receipts")
      return TableText{find_member(table, "columns"), find_member(table, "rows")};
  }
  return fail(Code::invalid, "it has no table of receipts");
}

// One row; the columns' names are known from the table.
class Row {
 public:
  Row(const std::vector<std::string>& columns, std::vector<read::json::Member> cells)
      : columns_(columns), cells_(std::move(cells)) {}

  // Null, and what is missing or of another type, is empty.
  std::string text(std::string_view column) const {
    const std::string_view raw = find(column);
    if (!raw.starts_with('"')) return {};
    return to_valid_utf8(read::json::text_of(raw).substr(0, kMostCell));
  }
  std::optional<i64> number(std::string_view column) const {
    const std::optional<i64> value = read::json::to_integer(find(column));
    return value && *value >= 0 ? value : std::nullopt;
  }

 private:
  std::string_view find(std::string_view column) const {
    const auto at = static_cast<size_t>(std::ranges::find(columns_, column) - columns_.begin());
    return at < std::min(columns_.size(), cells_.size()) ? cells_[at].raw : std::string_view();
  }

  const std::vector<std::string>& columns_;
  std::vector<read::json::Member> cells_;
};

Result<std::vector<Receipt>> read_receipts(const std::string& path) {
  Notes damage;
  TRY_ASSIGN(const std::string text, read_text(path, kMostText + 1, damage));
  if (text.size() > kMostText) return fail(Code::invalid, "it is longer than {} MiB", kMostText >> 20);
  if (!damage.empty()) return fail(Code::corrupt, "{}", to_text(damage.all()[0]));
  return parse_receipts(text);
}

// "rank 3 (n2, pid 12)", "process 12 (n2)"
std::string who(const Receipt& r) {
  std::vector<std::string> parts;
  if (!r.host.empty()) parts.push_back(r.host);
  if (r.rank && r.pid) parts.push_back(fmt::format("pid {}", *r.pid));
  const std::string name = r.rank  ? fmt::format("rank {}", *r.rank)
                           : r.pid ? fmt::format("process {}", *r.pid)
                                   : "a process";
  return parts.empty() ? name : fmt::format("{} ({})", name, fmt::join(parts, ", "));
}

// What a receipt tells of a trace that is not there; empty where it is.
std::string trouble(const Receipt& r, const std::set<std::string>& present) {
  if (r.state != "written")
    return r.reason.empty() ? r.state
                            : fmt::format("{}: {}", r.state, to_valid_utf8(r.reason.substr(0, kMostReason)));
  const std::string_view name = base_name(r.file);
  if (present.contains(std::string(without_ending(name)))) return {};
  return fmt::format("wrote {}, which is not here", name);
}

void tell_missing(const std::vector<Receipt>& receipts, const std::set<std::string>& present, Notes& notes) {
  std::vector<std::string> told;
  size_t missing = 0;
  for (const Receipt& r : receipts) {
    const std::string what = trouble(r, present);
    if (what.empty()) continue;
    if (++missing <= kMostTold) told.push_back(fmt::format("{} {}", who(r), what));
  }
  if (missing == 0) return;
  if (missing > kMostTold) told.push_back(fmt::format("and {} more", missing - kMostTold));
  notes.add("capture_incomplete", Severity::loss,
            fmt::format("the capture of {} process{} is incomplete: {}", receipts.size(),
                        receipts.size() == 1 ? "" : "es", fmt::join(told, "; ")));
}

using FilesByName = std::multimap<std::string, TraceFile*, std::less<>>;

void apply(const std::vector<Receipt>& receipts, const FilesByName& files, Notes& notes) {
  for (const Receipt& r : receipts) {
    const auto [first, last] = files.equal_range(without_ending(base_name(r.file)));
    for (auto at = first; at != last; ++at) {
      TraceFile& file = *at->second;
      if (file.host.empty()) file.host = r.host;
      if (file.source.empty()) std::tie(file.source, file.source_root) = std::tie(r.source, r.source_root);
      if (!file.receipt_rank) file.receipt_rank = r.rank;
      if (r.rank && file.receipt_rank != r.rank)
        notes.add("rank_disagrees", Severity::info,
                  "receipts give a file another rank than a receipt before them, which counts");
    }
  }
}

}  // namespace

Result<std::vector<Receipt>> parse_receipts(std::string_view text) {
  TRY_ASSIGN(const TableText table, find_table(text));
  std::vector<std::string> columns;
  TRY_ASSIGN(const auto fields, members_of(table.columns, kMostMembers));
  for (const read::json::Member& field : fields) {
    TRY_ASSIGN(const auto members, members_of(field.raw, kMostMembers));
    columns.push_back(read::json::text_of(find_member(members, "name")));
  }
  for (const std::string_view needed : {"file", "state"}) {
    if (std::ranges::find(columns, needed) == columns.end())
      return fail(Code::invalid, "its receipts have no column \"{}\"", needed);
  }
  TRY_ASSIGN(const auto rows, members_of(table.rows, kMostReceipts + 1));
  if (rows.size() > kMostReceipts) return fail(Code::invalid, "it has more than {} receipts", kMostReceipts);
  std::vector<Receipt> receipts;
  for (const read::json::Member& element : rows) {
    TRY_ASSIGN(auto cells, members_of(element.raw, columns.size()));
    const Row row(columns, std::move(cells));
    receipts.push_back({row.text("host"), row.text("state"), row.text("file"), row.text("reason"),
                        row.number("pid"), row.number("rank"), row.text("source"), row.text("source_root")});
  }
  return receipts;
}

bool is_named_receipts(std::string_view name) { return ending_of(name) && without_ending(name) == kStem; }

bool begins_like_receipts(const std::string& path) {
  const std::string_view name = base_name(path);
  struct stat info;
  if (!name.starts_with(kStem) || !ending_of(name) || ::stat(path.c_str(), &info) != 0 ||
      !S_ISREG(info.st_mode))
    return false;
  constexpr size_t kEnough = 256;
  Notes unused;
  const std::string head = read_text(path, kEnough, unused).value_or("");
  const char *p = head.data(), *end = p + head.size();
  p = read::json::skip_space(p, end);
  if (p == end || *p != '{') return false;
  p = read::json::skip_space(p + 1, end);
  return std::string_view(p, static_cast<size_t>(end - p)).starts_with("\"tables\"");
}

void add_receipts(const std::set<std::string>& opened, Job& job) {
  std::map<std::string, FilesByName> folders;
  for (TraceFile& file : job.files) {
    const std::string_view name = base_name(file.path);
    if (file.path != "-")
      folders[file.path.substr(0, file.path.rfind('/') + 1)].emplace(without_ending(name), &file);
  }
  for (const auto& [folder, files] : folders) {
    std::vector<std::string> names = names_in(folder.empty() ? "." : folder);
    std::sort(names.begin(), names.end());
    std::set<std::string> present;
    for (const std::string& name : names) present.emplace(without_ending(name));
    size_t found = 0;
    for (const std::string& name : names) {
      const std::string path = folder + name;
      const bool is_opened = opened.contains(path);
      if (!is_opened && !begins_like_receipts(path)) continue;
      job.receipts.push_back(path);
      if (++found > kMostFiles) continue;
      Notes notes;
      if (const Result<std::vector<Receipt>> receipts = read_receipts(path)) {
        apply(*receipts, files, notes);
        if (is_opened) tell_missing(*receipts, present, notes);
      } else {
        std::string_view reason = receipts.error().message;
        const std::string named = path + ": ";  // the note's scope says it
        if (reason.starts_with(named)) reason.remove_prefix(named.size());
        notes.add("receipts_left_out", Severity::loss,
                  fmt::format("the receipts of a capture could not be used: {}", reason));
      }
      job.notes.merge(notes, name);
    }
    if (found > kMostFiles)
      job.notes.add(
          "receipts_too_many", Severity::loss,
          fmt::format("the receipts of {} captures in one folder were left out; {} are read at most",
                      found - kMostFiles, kMostFiles));
  }
}

}  // namespace spotter::read
