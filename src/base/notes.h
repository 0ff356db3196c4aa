// Notes: the ledger of every repair, drop and fallback. It travels inside a Trace and a Table and is shown
// under every output, so that a number from a damaged trace says so. Value type; not thread-safe.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace spotter {

enum class Severity : u8 {
  info,    // a choice or fallback the reader should know of; no number is wrong because of it
  repair,  // the input was wrong and was mended; the value is what its writer meant
  loss,    // something is missing from the numbers
};

const char* severity_name(Severity severity);

struct Note {
  std::string kind;  // stable word for programs: "damaged_event", "truncated"
  Severity severity = Severity::info;
  i64 count = 0;         // how many times
  i64 position = -1;     // byte offset in the (uncompressed) file of the first one; -1: does not apply
  std::string scope;     // file or rank of the first one; empty: the whole run
  i64 scopes = 1;        // how many files or ranks have it
  std::string sentence;  // for a person, without the count: "events were damaged and left out"

  bool operator==(const Note&) const = default;
};

class Notes {
 public:
  // Adds to the note of the same kind, severity and sentence, or makes one. The smallest position is kept.
  void add(std::string_view kind, Severity severity, std::string_view sentence, i64 position = -1,
           i64 count = 1);
  void add(Note note);  // the same for a note of another ledger, with its scope
  // Takes over all of `other`; notes without a scope get this one. Equal notes of several scopes become one,
  // which names the first; merge each scope's notes together before merging scopes, or `scopes` counts one
  // twice.
  void merge(const Notes& other, std::string_view scope = {});
  std::span<const Note> all() const {
    return notes_;
  }  // losses first, then repairs, then infos; else by first arrival
  bool empty() const { return notes_.empty(); }
  i64 count(std::string_view kind) const;  // summed over sentences; 0 if there is none

 private:
  std::vector<Note> notes_;
};

// "3 events were damaged and left out (first at byte 1234, in rank0.json and 2 more)"
// "events were damaged and left out (once, at byte 1234, in rank0.json)"; an info that counts 1 has no
// "once". "the gzip data is damaged (3 times, first at byte 9)": a sentence that begins with an article keeps
// its form.
std::string to_text(const Note& note);

}  // namespace spotter
