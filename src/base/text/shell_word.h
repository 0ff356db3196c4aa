// A word as a shell takes it: as it is, or in quotes where it has something that a shell would read
// otherwise.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace spotter {

inline std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "/._-+=:,@%^";
  const auto is_plain = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kPlain.find(c) != kPlain.npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

// Words as the arguments of a command.
inline std::string shell_words(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

// Paths as the arguments of a command; "-" stays standard input.
inline std::string shell_paths(std::span<const std::string> paths) {
  std::string words;
  for (const std::string& path : paths)
    words +=
        (words.empty() ? "" : " ") + shell_word(path.starts_with("-") && path != "-" ? "./" + path : path);
  return words;
}

}  // namespace spotter
