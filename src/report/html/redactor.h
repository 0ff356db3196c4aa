// Redactor: what a report that is mailed shall not tell. Paths, host names and arguments become numbers
// (path-1, host-1, argument-1), the same one wherever they stand; names of kernels and operators stay. One
// thread.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/notes.h"
#include "diagnose/run.h"
#include "table/table.h"

namespace spotter::report {

class Redactor {
 public:
  // `paths`: as the command names them. They have the first numbers, then the files.
  Redactor(std::span<const std::string> paths, const diagnose::Diagnosis& diagnosis);

  std::string path(std::string_view path);  // all of it is one
  std::string host(std::string_view host);
  std::string text(std::string_view text);  // that speaks of some
  Notes notes(const Notes& notes);
  Table table(const Table& table);
  void redact(diagnose::Diagnosis& diagnosis);

 private:
  struct Numbers {
    const char* kind;
    std::unordered_map<std::string, std::string> of = {};
    size_t count = 0;  // a file has two names: with its folders and without
  };
  static std::string numbered(Numbers& names, std::string_view name);
  std::string word(std::string_view word, bool is_name);
  std::string words(std::string_view text, bool is_name);
  void redact(diagnose::JobFacts& facts);
  void know_frames(const Table& table);

  Numbers paths_ = {"path"}, hosts_ = {"host"}, arguments_ = {"argument"};
  std::vector<std::pair<std::string, std::string>>
      known_;  // with blanks and quotes in them, the longest first
};

}  // namespace spotter::report
