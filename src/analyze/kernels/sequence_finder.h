// Finds where sequences of names occur in a text of names, all of them in one go (Aho and Corasick, Efficient
// string matching, 1975): the time is that of the text, of the sequences and of what is found.
#pragma once
#include <span>
#include <unordered_map>
#include <vector>

#include "base/text/strings.h"
#include "base/types.h"

namespace spotter::analyze {

class SequenceFinder {
 public:
  // Its number: that of the first that was equal, else how many there were. Not empty.
  u32 add(std::span<const StringId> sequence);
  // After the last one.
  void finish();

  // Calls use(number, begin) for every occurrence, also where they overlap, by their ends.
  template <class F>
  void find(std::span<const StringId> text, F use) const {
    u32 node = 0;
    for (u32 i = 0; i < text.size(); ++i) {
      node = step(node, text[i]);
      for (u32 at = nodes_[node].found; at != kNone; at = nodes_[nodes_[at].fallback].found)
        use(nodes_[at].sequence, i + 1 - nodes_[at].length);
    }
  }

 private:
  // What has been read, so far as a sequence may begin with it.
  struct Node {
    u32 before = 0;  // without its last name
    StringId name = 0;
    u32 length = 0;
    u32 fallback = 0;      // the longest node that it ends with
    u32 found = kNone;     // the longest one that it ends with, or is, and that is a whole sequence
    u32 sequence = kNone;  // the one that it is
  };

  static u64 key_of(u32 node, StringId name) { return u64{node} << 32 | name; }
  u32 step(u32 node, StringId name) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);  // the first has read nothing
  std::unordered_map<u64, u32> next_;
  u32 sequences_ = 0;
};

}  // namespace spotter::analyze
