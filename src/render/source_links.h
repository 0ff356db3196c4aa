// Lines of source code as links in a terminal (OSC 8), from the same words as the page's: "[ROOT=]TEMPLATE
// ...".
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace spotter::render {

class SourceLinks {
 public:
  // Words with blanks between. A template has {path} or {relative}, {line} and {column} in it; without any it
  // is the root of the sources. ROOT is the folder of the traced host that {relative} counts from; without it
  // a template takes the paths that begin nowhere, and {path} those that begin at the root. Errors: invalid
  // (no address; a scheme that runs code or reads files).
  static Result<SourceLinks> parse(std::string_view words);

  bool empty() const { return rules_.empty(); }
  // Of "train.py(118): step" or "train.py:118"; empty: it is no line of a file, or of none that these know.
  std::string address(std::string_view frame) const;
  // Prose, or a stack, with each such place in it a link. Paths with blanks are not found.
  std::string linked(std::string_view text) const;

 private:
  struct Rule {
    std::string root, address;
  };
  std::vector<Rule> rules_;  // the longest root first
};

// The text as a link to that address; empty: as it is.
std::string hyperlink(std::string_view text, std::string_view address);

}  // namespace spotter::render
