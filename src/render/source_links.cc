#include "render/source_links.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/text/number.h"
#include "base/text/utf8.h"

namespace spotter::render {
namespace {

using std::string_view;

constexpr string_view kDigits = "0123456789";
constexpr string_view kNever[] = {"javascript", "data", "file", "vbscript", "blob", "about"};
constexpr string_view kPlaceholders[] = {"{path}", "{relative}", "{line}", "{column}"};
constexpr string_view kEndings[] = {".py", ".pyx", ".pyi", ".c",   ".cc",  ".cpp", ".cxx",
                                    ".cu", ".cuh", ".h",   ".hpp", ".hip", ".rs",  ".go"};
constexpr size_t kMostDigits = 9;

struct SourceLine {
  string_view path, line;
  size_t end = 0;  // of both, in the text
};

bool is_digits(string_view text) {
  return !text.empty() && text.size() <= kMostDigits && text.find_first_not_of(kDigits) == text.npos;
}

bool is_source_file(string_view path) {
  return std::ranges::any_of(kEndings, [&](string_view ending) { return path.ends_with(ending); });
}

// "path(line)" before the end or a colon, as PyTorch writes it.
std::optional<SourceLine> line_in_parentheses(string_view text) {
  for (size_t open = text.find('('); open != text.npos; open = text.find('(', open + 1)) {
    const size_t close = text.find(')', open);
    if (close == text.npos) return {};
    const string_view path = text.substr(0, open), line = text.substr(open + 1, close - open - 1);
    if (is_digits(line) && (close + 1 == text.size() || text[close + 1] == ':') &&
        path.find_first_of("./\\") != path.npos)
      return SourceLine{path, line, close + 1};
  }
  return {};
}

// "path:line". Only of files of source code: "host:80" is written alike.
std::optional<SourceLine> line_after_colon(string_view text) {
  for (size_t colon = text.find(':'); colon != text.npos; colon = text.find(':', colon + 1)) {
    const size_t end = std::min(text.find_first_not_of(kDigits, colon + 1), text.size());
    const string_view path = text.substr(0, colon), line = text.substr(colon + 1, end - colon - 1);
    if (is_digits(line) && is_source_file(path)) return SourceLine{path, line, end};
  }
  return {};
}

std::optional<SourceLine> source_line(string_view text) {
  const auto found = line_in_parentheses(text);
  return found ? found : line_after_colon(text);
}

// Without "." and ".."; nothing if that leads out of its root, or if Python made the path up ("<string>").
std::optional<std::string> clean_path(string_view path) {
  if (path.starts_with('<') || path.starts_with('\\') || path.ends_with('/')) return {};
  std::vector<string_view> kept;
  const bool is_absolute = path.starts_with('/');
  while (!path.empty()) {
    const string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(segment.size() + 1, path.size()));
    if (segment.empty() || segment == ".") continue;
    if (segment != "..") {
      kept.push_back(segment);
    } else if (kept.empty()) {
      return {};
    } else {
      kept.pop_back();
    }
  }
  if (kept.empty()) return {};
  return fmt::format("{}{}", is_absolute ? "/" : "", fmt::join(kept, "/"));
}

// All but what RFC 3986 leaves as it is, so that nothing of a path can end the link or steer a terminal.
std::string percent_encoded(string_view path) {
  constexpr string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  std::string out;
  for (const char c : path) {
    if (kPlain.find(c) != kPlain.npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

// PyTorch writes paths below sys.path without their beginning, and its own files are not the job's.
bool is_framework(string_view path) { return path.starts_with("torch/"); }

void replace_all(std::string& text, string_view what, string_view with) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

bool takes_place(string_view address) {
  return address.find("{path}") != address.npos || address.find("{relative}") != address.npos;
}

Result<void> check_address(string_view address) {
  const size_t colon = address.find("://");
  const std::string scheme = ascii_lower(address.substr(0, std::min(colon, address.find(':'))));
  if (std::ranges::find(kNever, scheme) != std::end(kNever))
    return fail(Code::invalid, "links with {}: are never made", scheme);
  const bool is_scheme = colon != address.npos && colon > 0 &&
                         scheme.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+-.") == scheme.npos;
  if (!is_scheme || std::ranges::any_of(address, [](char c) { return c <= ' ' || c >= '\x7f' || c == '\\'; }))
    return fail(Code::invalid,
                "\"{}\" is no address; write https://HOST/..., or vscode://file{{path}}:{{line}}",
                to_printable(address));
  const string_view host = address.substr(colon + 3, address.find('/', colon + 3) - (colon + 3));
  if (scheme.starts_with("http") && (host.empty() || host.find('{') != host.npos))
    return fail(Code::invalid, "in \"{}\" the host has to stand in the address itself", address);
  for (size_t at = address.find('{'); at != address.npos; at = address.find('{', at + 1)) {
    const auto begins = [&](string_view placeholder) { return address.substr(at).starts_with(placeholder); };
    if (std::ranges::none_of(kPlaceholders, begins))
      return fail(Code::invalid, "\"{}\" has a {{ that begins none of {}", address,
                  fmt::join(kPlaceholders, " "));
  }
  return {};
}

}  // namespace

Result<SourceLinks> SourceLinks::parse(string_view words) {
  SourceLinks links;
  constexpr string_view kBlanks = " \t\n";
  for (size_t begin = words.find_first_not_of(kBlanks); begin != words.npos;
       begin = words.find_first_not_of(kBlanks, begin)) {
    const string_view word = words.substr(begin, words.find_first_of(kBlanks, begin) - begin);
    begin += word.size();
    const size_t equals = word.find('=');
    const bool has_root =
        equals != word.npos && equals > 0 && word.substr(0, equals).find("://") == word.npos;
    Rule rule;
    if (has_root) rule.root = word.substr(0, equals);
    rule.address = word.substr(has_root ? equals + 1 : 0);
    TRY(check_address(rule.address));
    while (rule.root.size() > 1 && rule.root.ends_with('/')) rule.root.pop_back();
    if (!takes_place(rule.address)) {
      while (rule.address.ends_with('/')) rule.address.pop_back();
      rule.address += "/{relative}#L{line}";
    }
    const auto shorter = std::ranges::upper_bound(links.rules_, rule.root.size(), std::greater(),
                                                  [](const Rule& other) { return other.root.size(); });
    links.rules_.insert(shorter, std::move(rule));
  }
  return links;
}

std::string SourceLinks::address(string_view frame) const {
  if (empty()) return {};
  const auto place = source_line(frame);
  const auto path = place ? clean_path(place->path) : std::nullopt;
  if (!path) return {};
  const bool is_absolute = path->starts_with('/');
  for (const Rule& rule : rules_) {
    std::optional<string_view> relative;
    if (rule.root.empty()) {
      if (!is_absolute && !is_framework(*path)) relative = *path;
    } else if (const std::string folder = rule.root == "/" ? rule.root : rule.root + "/";
               path->starts_with(folder)) {
      relative = string_view(*path).substr(folder.size());
    } else {
      continue;
    }
    std::string address = rule.address;
    if (!relative && address.find("{relative}") != address.npos) continue;
    if (!is_absolute && address.find("{path}") != address.npos) continue;
    replace_all(address, "{path}", percent_encoded(*path));
    if (relative) replace_all(address, "{relative}", percent_encoded(*relative));
    replace_all(address, "{line}", place->line);
    replace_all(address, "{column}", "1");
    return address;
  }
  return {};
}

std::string SourceLinks::linked(string_view text) const {
  if (empty()) return std::string(text);
  constexpr string_view kBetween = " \t\n;,\"'`[";
  std::string out;
  while (!text.empty()) {
    const size_t begin = std::min(text.find_first_not_of(kBetween), text.size());
    out += text.substr(0, begin);
    text.remove_prefix(begin);
    string_view word = text.substr(0, text.find_first_of(kBetween));
    text.remove_prefix(word.size());
    string_view rest = word;
    if (word.ends_with('.')) word.remove_suffix(1);
    if (word.starts_with('(')) {
      out += '(';
      word.remove_prefix(1);
      rest.remove_prefix(1);
      if (word.ends_with(')')) word.remove_suffix(1);
    }
    const auto place = source_line(word);
    const size_t end = place ? place->end : 0;
    out += hyperlink(word.substr(0, end), address(word.substr(0, end)));
    out += rest.substr(end);
  }
  return out;
}

std::string hyperlink(string_view text, string_view address) {
  if (address.empty()) return std::string(text);
  return fmt::format("\x1b]8;;{}\x1b\\{}\x1b]8;;\x1b\\", address, text);
}

}  // namespace spotter::render
