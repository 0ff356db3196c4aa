#include "respond/logs/log_templates.h"

#include <algorithm>

namespace spotter::respond {
namespace {

constexpr size_t kLongest = 512;  // bytes of a line that tell of which kind it is
constexpr std::string_view kBetween = " \t,;=()[]{}<>|:";

class Hash {  // FNV-1a
 public:
  void add(char c) { value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3; }
  void add(std::string_view text) {
    for (const char c : text) add(c);
  }
  u64 value() const { return value_; }

 private:
  u64 value_ = 0xcbf29ce484222325;
};

bool has_digit(std::string_view word) {
  return std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

u64 LogTemplates::kind_of(std::string_view line) {
  line = line.substr(0, kLongest);
  Hash hash;
  for (size_t at = 0; at < line.size();) {
    const char c = line[at];
    const size_t quoted = c == '"' || c == '\'' ? line.find(c, at + 1) : line.npos;
    if (quoted != line.npos) {
      hash.add('"');
      at = quoted + 1;
    } else if (kBetween.find(c) != kBetween.npos) {
      hash.add(c);
      ++at;
    } else {
      const size_t end = std::min(line.find_first_of(kBetween, at + 1), line.size());
      const std::string_view word = line.substr(at, end - at);
      if (has_digit(word))
        hash.add('0');
      else if (word.find('/') != word.npos)
        hash.add('/');
      else
        hash.add(word);
      at = end;
    }
  }
  return hash.value();
}

LogTemplates::Word LogTemplates::add(std::string_view line, Ns now) {
  if (began_ == 0) began_ = now;
  const u64 key = kind_of(line);
  auto it = kinds_.find(key);
  const bool is_new = it == kinds_.end();
  if (is_new) {
    if (kinds_.size() >= kMost) forget_one();
    it = kinds_.emplace(key, Kind{.first = now, .window = now}).first;
  }
  Kind& kind = it->second;
  kind.last = now;
  if (now - kind.window >= kWindow) {
    kind.before += kind.in_window;
    kind.in_window = 0;
    kind.window = now;
  }
  ++kind.in_window;
  if (now - began_ < kLearning) return Word::usual;
  if (is_new) {
    if (now - minute_ >= kMinute) {
      minute_ = now;
      new_in_minute_ = 0;
    }
    if (++new_in_minute_ > kMostNew) return Word::usual;
    kind.told = now;
    return Word::is_new;
  }
  const Ns age = kind.window - kind.first;
  if (age < kLearning || kind.in_window < kLeast || (kind.told != 0 && now - kind.told < kAgain))
    return Word::usual;
  const double usual =
      static_cast<double>(kind.before) * static_cast<double>(kWindow) / static_cast<double>(age);
  if (static_cast<double>(kind.in_window) < kOften * usual) return Word::usual;
  kind.told = now;
  return Word::more_often;
}

void LogTemplates::forget_one() {
  const auto rarer = [](const auto& a, const auto& b) {
    const bool is_rare_a = a.second.before + a.second.in_window <= 1,
               is_rare_b = b.second.before + b.second.in_window <= 1;
    return is_rare_a != is_rare_b ? is_rare_a : a.second.last < b.second.last;
  };
  kinds_.erase(std::ranges::min_element(kinds_, rarer));
}

}  // namespace spotter::respond
