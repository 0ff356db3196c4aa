// For tests: reading text that is in memory or in a temporary file, and traces as plain rows of text, so that
// two of them, or one and what was expected, are compared at a glance.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "read/open.h"
#include "read/pipeline.h"
#include "read/scanner.h"

namespace spotter::read {

// A file that is removed at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view bytes, std::string_view name = "trace.json") {
    std::string folder = (std::filesystem::temp_directory_path() / "spotter_read_XXXXXX").string();
    CHECK(::mkdtemp(folder.data()) != nullptr);
    folder_ = folder;
    path_ = (folder_ / name).string();
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  ~TemporaryFile() { std::filesystem::remove_all(folder_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }
  std::string folder() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
  std::string path_;
};

class TextSource final : public Source {
 public:
  explicit TextSource(std::string_view text) : rest_(text) {}
  Result<size_t> read(std::span<char> out, Notes&) override {
    const size_t n = rest_.copy(out.data(), out.size());
    rest_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view rest_;
};

struct ReadOptions {
  ArgSet args = ArgSet::everything();
  int threads = 1;
  Cuts cuts = {};
};

inline Result<TraceData> read_text(std::string_view text, const ReadOptions& options = {}) {
  const Result<std::unique_ptr<RawInput>> nothing = RawInput::open("/dev/null");
  CHECK(nothing.has_value());
  TextSource source(text);
  LoadRequest request;
  request.args = options.args;
  request.threads = options.threads;
  return read_events(**nothing, source, request, options.cuts);
}

// The events of `text`, which is what stands between the brackets, `passes` times in a row by one scanner.
inline TraceData scan_text(std::string_view text, const ArgSet& args, bool baseline = false, int passes = 1) {
  std::string padded(kTextHeadroom, '\0');
  padded.append(text).append(kTextPadding, '\0');
  const char* begin = padded.data() + kTextHeadroom;
  const std::unique_ptr<Scanner> scanner = make_scanner(args, baseline);
  Assembler assembler(1);
  Block block;
  for (int pass = 0; pass < passes; pass++) {
    CHECK(scanner->scan(begin, begin + text.size(), true, block).why != ScanEnd::incomplete);
    CHECK(assembler.append(0, block, begin, 0).has_value());
  }
  assembler.data.loaded = args;
  return std::move(assembler.data);
}

inline std::string as_row(char phase, std::string_view category, std::string_view name, const Track& track,
                          std::string_view pid_text, std::string_view tid_text, Ns ts, Ns dur, bool is_span) {
  return fmt::format("{} [{}] '{}' pid {} '{}' tid {} '{}' ts {} dur {}{}", phase, category, name, track.pid,
                     pid_text, track.tid, tid_text, ts, dur, is_span ? " span" : "");
}

inline std::string as_item(std::string_view name, ArgType type, std::string_view text) {
  constexpr const char* kNames[] = {"int32", "int64", "real", "text", "json", "null", "true", "false"};
  return fmt::format("\n  {} = {} {}", name, kNames[static_cast<size_t>(type)], text);
}

inline std::string row_of(const Trace& t, EventId e, bool with_args) {
  const Kind& kind = t.kind_of(e);
  const Track& track = t.tracks()[t.track[e]];
  const auto text = [&](StringId id) { return t.strings()[id]; };
  std::string row = as_row(kind.phase, text(kind.category_text), t.name_of(e), track, text(track.pid_text),
                           text(track.tid_text), t.ts[e], t.dur[e], kind.is_span);
  if (!with_args) return row;
  for (const Shape::Item& item : t.shape_of(e).items) {
    row += as_item(t.arg_name(item.arg), item.type, t.arg_text(e, item));
  }
  return row;
}

inline std::vector<std::string> rows_of(const Trace& t, bool with_args = true) {
  std::vector<std::string> rows;
  for (EventId e = 0; e < t.size(); e++) rows.push_back(row_of(t, e, with_args));
  return rows;
}

inline std::vector<std::string> rows_of(TraceData data, bool with_args = true) {
  return rows_of(Trace(std::move(data)), with_args);
}

// The first row that differs, from a little before the difference on; empty if there is none.
inline std::string difference(const std::vector<std::string>& got, const std::vector<std::string>& expected) {
  const auto at = [](const std::vector<std::string>& rows, size_t i) {
    return i < rows.size() ? std::string_view(rows[i]) : "nothing";
  };
  for (size_t i = 0; i < std::max(got.size(), expected.size()); i++) {
    const std::string_view a = at(got, i), b = at(expected, i);
    if (a == b) continue;
    const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    const size_t same = static_cast<size_t>(in_a - a.begin()), from = same > 60 ? same - 60 : 0;
    return fmt::format("row {} of {}, byte {}\ngot      {}\nexpected {}\n", i, expected.size(), same,
                       a.substr(from, 200), b.substr(from, 200));
  }
  return {};
}

// The first thing in which two traces differ, ids and notes included; empty if they are the same.
inline std::string difference(const TraceData& a, const TraceData& b) {
  const auto same = [](const auto& x, const auto& y) {
    return x.size() == y.size() &&
           (x.size() == 0 || std::memcmp(x.data(), y.data(), x.span().size_bytes()) == 0);
  };
  if (!same(a.ts, b.ts) || !same(a.dur, b.dur)) return "times";
  if (!same(a.name, b.name)) return "names";
  if (!same(a.track, b.track)) return "tracks of events";
  if (!same(a.kind, b.kind)) return "kinds of events";
  if (!same(a.shape, b.shape)) return "argument lists of events";
  if (!same(a.first_cell, b.first_cell) || !same(a.cells, b.cells)) return "arguments";
  if (a.other_args != b.other_args) return "names of arguments";
  if (a.strings.size() != b.strings.size()) return "number of strings";
  for (StringId id = 0; id < a.strings.size(); id++) {
    if (a.strings[id] != b.strings[id]) return fmt::format("string {}", id);
  }
  const auto equal = [](const auto& x, const auto& y, auto&& key) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [&](const auto& i, const auto& j) { return key(i) == key(j); });
  };
  if (!equal(a.kinds, b.kinds, [](const Kind& k) { return std::tuple(k.phase, k.category_text, k.is_span); }))
    return "kinds";
  if (!equal(a.tracks, b.tracks,
             [](const Track& t) { return std::tuple(t.pid, t.tid, t.pid_text, t.tid_text); }))
    return "tracks";
  const auto item_key = [](const Shape::Item& i) { return std::tuple(i.arg, i.type, i.cell); };
  if (!std::equal(a.shapes.begin(), a.shapes.end(), b.shapes.begin(), b.shapes.end(),
                  [&](const Shape& x, const Shape& y) { return equal(x.items, y.items, item_key); }))
    return "argument lists";
  if (!equal(a.notes.all(), b.notes.all(), [](const Note& n) { return to_text(n); })) return "notes";
  if (a.info.metadata != b.info.metadata || a.info.json_bytes != b.info.json_bytes) return "info";
  return {};
}

inline std::string notes_of(const Notes& notes) {
  std::string out;
  for (const Note& n : notes.all()) out += fmt::format("{}: {}\n", n.kind, to_text(n));
  return out;
}

}  // namespace spotter::read
