#include "collect/textfile/exposition.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/text/utf8.h"
#include "base/text/words.h"
#include "table/named_samples.h"

namespace spotter::collect {
namespace {

constexpr const char* kTypes[] = {"counter", "gauge", "histogram", "summary", "untyped"};
constexpr const char* kHistogram = kTypes[2];
constexpr const char* kSummary = kTypes[3];
constexpr const char* kUntyped = kTypes[4];

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// What is left of a line.
class Rest {
 public:
  explicit Rest(std::string_view text) : text_(text) {}

  void skip_blanks() {
    const size_t begin = text_.find_first_not_of(" \t");
    text_.remove_prefix(std::min(begin, text_.size()));
  }
  bool take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  // Of letters, digits and bars, of metrics also colons; empty: there is none.
  std::string_view name(bool of_metric) {
    size_t end = 0;
    const auto is_part = [&](char c) {
      return is_letter(c) || (of_metric && c == ':') || (end > 0 && is_digit(c));
    };
    while (end < text_.size() && is_part(text_[end])) ++end;
    return std::exchange(text_, text_.substr(end)).substr(0, end);
  }
  std::string_view word() { return next_word(text_); }
  // Up to the quote that ends it. Nothing: there is none, or what a backslash stands before is unknown.
  std::optional<std::string> quoted() {
    std::string out;
    while (!text_.empty()) {
      const char c = text_.front();
      text_.remove_prefix(1);
      if (c == '"') return out;
      if (c != '\\') {
        out += c;
        continue;
      }
      const char escaped = text_.empty() ? ' ' : text_.front();
      if (escaped != 'n' && escaped != '\\' && escaped != '"') return std::nullopt;
      out += escaped == 'n' ? '\n' : escaped;
      text_.remove_prefix(1);
    }
    return std::nullopt;
  }
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

std::optional<double> to_value(std::string_view word) {
  if (word.starts_with('+') && word.substr(1).find_first_of("+-") != 0) word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool is_whole = !word.empty() && error == std::errc() && end == word.data() + word.size();
  return is_whole && word.back() != ')' ? std::optional(value) : std::nullopt;
}

std::string unescaped_help(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_escaped =
        text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == 'n' || text[i + 1] == '\\');
    if (is_escaped) ++i;
    out += is_escaped && text[i] == 'n' ? '\n' : text[i];
  }
  return to_valid_utf8(out);
}

class Reader {
 public:
  Result<void> read_line(std::string_view line) {
    Rest rest(line);
    rest.skip_blanks();
    if (rest.text().empty()) return {};
    return rest.take('#') ? read_comment(rest) : read_sample(rest);
  }

  std::vector<ExposedFamily> take() {
    std::erase_if(families_, [](const ExposedFamily& family) { return family.samples.empty(); });
    return std::move(families_);
  }

 private:
  Result<void> read_comment(Rest rest) {
    const std::string_view word = rest.word();
    if (word != "HELP" && word != "TYPE") return {};
    rest.skip_blanks();
    if (rest.text().empty()) return {};
    const std::string_view name = rest.name(true);
    const bool is_end = rest.text().empty();
    if (name.empty() || (!is_end && !rest.text().starts_with(' ') && !rest.text().starts_with('\t')))
      return fail(Code::invalid, "no name of a metric comes after {}", word);
    rest.skip_blanks();
    if (is_end) return {};
    ExposedFamily& family = family_of(name);
    if (word == "HELP") {
      if (!std::exchange(has_help_[family.name], true)) {
        family.help = unescaped_help(rest.text());
        return {};
      }
      return fail(Code::invalid, "{} has another line HELP before", name);
    }
    if (family.type) return fail(Code::invalid, "{} has another line TYPE, or samples, before", name);
    const std::string type = ascii_lower(trimmed(rest.text()));
    const auto known = std::ranges::find(kTypes, std::string_view(type));
    if (known == std::end(kTypes)) return fail(Code::invalid, "{} has a type that there is not", name);
    family.type = *known;
    return {};
  }

  Result<void> read_sample(Rest rest) {
    ExposedSample sample;
    sample.name = rest.name(true);
    if (sample.name.empty()) return fail(Code::invalid, "it does not begin with the name of a metric");
    rest.skip_blanks();
    if (rest.take('{')) {
      TRY_ASSIGN(sample.labels, read_labels(rest));
    }
    const auto value = to_value(rest.word());
    if (!value) return fail(Code::invalid, "{} has no number", sample.name);
    sample.value = *value;
    rest.skip_blanks();
    if (!rest.text().empty())
      return fail(Code::invalid, "{} has a time; what is in a file is taken for now", sample.name);
    ExposedFamily& family = family_of_sample(sample.name);
    if (family.type == kHistogram && family.name == sample.name)
      return fail(Code::invalid, "{} is a histogram, and those have buckets, a sum and a count", sample.name);
    if (!family.type) family.type = kUntyped;
    family.samples.push_back(std::move(sample));
    return {};
  }

  // Behind the first brace: NAME="VALUE", .. } with a comma behind the last, too, if one likes.
  Result<std::string> read_labels(Rest& rest) {
    std::map<std::string, std::string> labels;
    while (true) {
      rest.skip_blanks();
      if (rest.take('}')) break;
      const std::string name(rest.name(false));
      rest.skip_blanks();
      const bool has_sign = rest.take('=');
      rest.skip_blanks();
      if (name.empty() || name == "__name__" || !has_sign || !rest.take('"'))
        return fail(Code::invalid, "a label is not NAME=\"VALUE\"");
      std::optional<std::string> value = rest.quoted();
      if (!value || !is_valid_utf8(*value))
        return fail(Code::invalid, "the value of the label {} is no text with an end", name);
      if (!labels.emplace(name, std::move(*value)).second)
        return fail(Code::invalid, "the label {} is there twice", name);
      rest.skip_blanks();
      if (!rest.take(',') && !rest.text().starts_with('}'))
        return fail(Code::invalid, "no comma and no brace comes after the label {}", name);
    }
    std::string out;
    for (const auto& [name, value] : labels) {
      if (!value.empty()) table::append_label(out, name, value);
    }
    return out;
  }

  ExposedFamily* find(std::string_view name) {
    const auto it = places_.find(name);
    return it == places_.end() ? nullptr : &families_[it->second];
  }
  ExposedFamily& family_of(std::string_view name) {
    if (ExposedFamily* const known = find(name)) return *known;
    places_.emplace(name, families_.size());
    families_.emplace_back().name = name;
    return families_.back();
  }
  // A sum, a count and a bucket are of the metric before these words.
  ExposedFamily& family_of_sample(std::string_view name) {
    if (ExposedFamily* const own = find(name)) return *own;
    for (const std::string_view part : {"_sum", "_count", "_bucket"}) {
      if (!name.ends_with(part)) continue;
      ExposedFamily* const whole = find(name.substr(0, name.size() - part.size()));
      const bool has_it =
          whole && (whole->type == kHistogram || (whole->type == kSummary && part != "_bucket"));
      if (has_it) return *whole;
    }
    return family_of(name);
  }

  std::vector<ExposedFamily> families_;
  std::map<std::string, size_t, std::less<>> places_;  // of the families, by name
  std::map<std::string, bool> has_help_;
};

}  // namespace

bool ExposedFamily::is_total(const ExposedSample& sample) const {
  return type == kTypes[0] || type == kHistogram || (type == kSummary && sample.name != name);
}

Result<std::vector<ExposedFamily>> read_exposition(std::string_view text) {
  if (!text.empty() && text.back() != '\n')
    return fail(Code::invalid, "the last line has no end: somebody still writes it");
  Reader reader;
  for (i64 number = 1; !text.empty(); ++number) {
    if (const auto read = reader.read_line(next_line(text)); !read)
      return within(read.error(), fmt::format("line {}", number));
  }
  return reader.take();
}

}  // namespace spotter::collect
