#include "report/html/redactor.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/stable_sort.h"
#include "base/system/file.h"
#include "base/text/shell_word.h"

namespace spotter::report {
namespace {

constexpr std::string_view kBetweenWords = " \t\n\r()[]{}<>,;:\"'`=|";
constexpr std::string_view kFileEndings[] = {".py", ".pyx", ".json", ".json.gz", ".json.zst", ".cpp", ".cu"};

// By columns' names: what they hold is hidden whole, or is called something and stays but for paths in it.
constexpr std::string_view kPathColumns[] = {"file"}, kHostColumns[] = {"host"},
                           kArgumentColumns[] = {"shapes", "types",       "sizes",
                                                 "stack",  "description", "group_ranks"},
                           kNameColumns[] = {"name",      "kernel", "operator",     "kernels",
                                             "operators", "api",    "annotation",   "module",
                                             "path",      "within", "top_operator", "parent_operator",
                                             "kind"};

bool has(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool looks_like_path(std::string_view word) {
  for (const std::string_view start : {"/", "~/", "./", "../"})
    if (word.size() > start.size() && word.starts_with(start)) return true;
  return std::ranges::any_of(
      kFileEndings, [&](std::string_view end) { return word.size() > end.size() && word.ends_with(end); });
}

struct Frame {
  std::string_view file, rest;
};

// A file's own, a notebook's or one of its cells: what an annotation is called has none of these.
bool is_file(std::string_view name) {
  return looks_like_path(name) || name.ends_with(".ipynb") || name.find('/') != name.npos ||
         (name.size() > 2 && name.starts_with('<') && name.ends_with('>'));
}

// Of Python: "FILE(LINE): FUNCTION". The file may have blanks in its name.
std::optional<Frame> frame_of(std::string_view name) {
  const size_t end = name.rfind("): ");
  const size_t open = end == name.npos ? name.npos : name.rfind('(', end);
  if (open == name.npos || open == 0 || open + 1 == end) return {};
  const std::string_view line = name.substr(open + 1, end - open - 1);
  if (line.find_first_not_of("0123456789") != line.npos || !is_file(name.substr(0, open))) return {};
  return Frame{name.substr(0, open), name.substr(open)};
}

bool looks_like_address(std::string_view word) {
  return std::ranges::count(word, '.') == 3 && word.find_first_not_of("0123456789.") == word.npos &&
         word.find("..") == word.npos && word.size() >= 7;
}

}  // namespace

Redactor::Redactor(std::span<const std::string> paths, const diagnose::Diagnosis& diagnosis) {
  const auto know = [&](const std::string& name) {
    if (name.empty() || name == "-") return;
    const std::string number = path(name);
    for (const std::string& spelled : {name, shell_word(name)})
      if (spelled.find_first_of(kBetweenWords) != spelled.npos) known_.emplace_back(spelled, number);
  };
  for (const std::string& name : paths) know(name);
  for (const analyze::RankFile& file : diagnosis.files) {
    know(file.path);
    paths_.of.try_emplace(std::string(base_name(file.path)), path(file.path));
    if (const std::string base(base_name(file.path)); base.find_first_of(kBetweenWords) != base.npos)
      known_.emplace_back(base, path(file.path));
  }
  for (const diagnose::RankFacts& rank : diagnosis.facts.ranks) host(rank.host);
  for (const Table& table : diagnosis.tables) know_frames(table);
  for (const Table& table : diagnosis.fact_tables) know_frames(table);
  stable_sort(known_, [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

// Sentences speak of frames, too: where a file's name does not show what it is, it has to be known.
void Redactor::know_frames(const Table& table) {
  for (size_t column = 0; column < table.columns(); ++column) {
    if (!has(kNameColumns, table.schema()[column].name)) continue;
    for (size_t row = 0; row < table.rows(); ++row) {
      const Value cell = table.at(row, column);
      const auto* name = std::get_if<std::string_view>(&cell);
      const auto frame = name ? frame_of(*name) : std::nullopt;
      if (!frame || paths_.of.contains(std::string(frame->file))) continue;
      const bool is_plain =
          looks_like_path(frame->file) && frame->file.find_first_of(kBetweenWords) == frame->file.npos;
      if (!is_plain) known_.emplace_back(frame->file, path(frame->file));
    }
  }
}

std::string Redactor::numbered(Numbers& names, std::string_view name) {
  const auto [place, is_new] = names.of.try_emplace(std::string(name));
  if (is_new) place->second = fmt::format("{}-{}", names.kind, ++names.count);
  return place->second;
}

std::string Redactor::path(std::string_view path) { return path.empty() ? "" : numbered(paths_, path); }
std::string Redactor::host(std::string_view host) { return host.empty() ? "" : numbered(hosts_, host); }

// In a name a host's may be part of the language: only what has the form of a path goes.
std::string Redactor::word(std::string_view word, bool is_name) {
  if (!is_name) {
    if (const auto known = paths_.of.find(std::string(word)); known != paths_.of.end()) return known->second;
    if (hosts_.of.contains(std::string(word)) || looks_like_address(word)) return host(word);
  }
  return looks_like_path(word) ? path(word) : std::string(word);
}

std::string Redactor::words(std::string_view text, bool is_name) {
  if (const auto frame = is_name ? frame_of(text) : std::nullopt)
    return path(frame->file) + words(frame->rest, true);
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = std::min(text.find_first_not_of(kBetweenWords, at), text.size());
    const size_t end = std::min(text.find_first_of(kBetweenWords, begin), text.size());
    out += text.substr(at, begin - at);
    // A full stop ends the sentence.
    const bool has_stop = end - begin > 1 && text[end - 1] == '.';
    out += word(text.substr(begin, end - begin - has_stop), is_name);
    if (has_stop) out += '.';
    at = end;
  }
  return out;
}

std::string Redactor::text(std::string_view text) {
  std::string out(text);
  for (const auto& [name, number] : known_)
    for (size_t at = 0; (at = out.find(name, at)) != out.npos; at += number.size())
      out.replace(at, name.size(), number);
  return words(out, false);
}

Notes Redactor::notes(const Notes& notes) {
  Notes out;
  for (Note note : notes.all()) {
    note.scope = text(note.scope);
    note.sentence = text(note.sentence);
    out.add(std::move(note));
  }
  return out;
}

Table Redactor::table(const Table& table) {
  Table out(table.name(), std::vector<Field>(table.schema().begin(), table.schema().end()));
  out.is_events = table.is_events;
  std::vector<std::unordered_map<std::string_view, std::string>> done(table.columns());
  const auto redacted = [&](size_t column, std::string_view cell) -> std::string {
    const std::string_view name = table.schema()[column].name;
    if (has(kPathColumns, name)) return path(cell);
    if (has(kHostColumns, name)) return host(cell);
    if (has(kArgumentColumns, name)) return cell.empty() ? "" : numbered(arguments_, cell);
    return has(kNameColumns, name) ? words(cell, true) : text(cell);
  };
  std::vector<Value> cells(table.columns());
  for (size_t row = 0; row < table.rows(); ++row) {
    for (size_t column = 0; column < table.columns(); ++column) {
      cells[column] = table.at(row, column);
      const auto* cell = std::get_if<std::string_view>(&cells[column]);
      if (!cell) continue;
      auto known = done[column].find(*cell);
      if (known == done[column].end()) known = done[column].emplace(*cell, redacted(column, *cell)).first;
      cells[column] = std::string_view(known->second);
    }
    out.append(cells);
  }
  out.notes = notes(table.notes);
  return out;
}

void Redactor::redact(diagnose::JobFacts& facts) {
  for (diagnose::RankFacts& rank : facts.ranks) {
    rank.file = path(rank.file);
    rank.host = host(rank.host);
  }
  for (Table* names : {&facts.kernels, &facts.operators, &facts.iterations}) *names = table(*names);
  facts.notes = notes(facts.notes);
}

void Redactor::redact(diagnose::Diagnosis& diagnosis) {
  redact(diagnosis.facts);
  if (diagnosis.findings) diagnosis.findings = table(*diagnosis.findings);
  if (diagnosis.what_if) diagnosis.what_if = table(*diagnosis.what_if);
  for (Table& each : diagnosis.tables) each = table(each);
  for (Table& each : diagnosis.fact_tables) each = table(each);
  for (analyze::RankFile& file : diagnosis.files) file.path = path(file.path);
  diagnosis.notes = notes(diagnosis.notes);
}

}  // namespace spotter::report
