// Rewriter: the text of each event of one trace -> its text in the output. Only the values that must differ
// are replaced; where none must, the text is the file's, byte for byte. What is no strict JSON is written
// anew with the same meaning, or, where that cannot be, left out; both are counted.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/notes.h"
#include "base/result.h"
#include "export/flow_ids.h"
#include "export/process_ids.h"

namespace spotter::export_ {

// What is known of an event by its number in the file.
struct Placement {
  std::vector<bool> keep;                         // empty: all
  std::vector<std::pair<EventId, i64>> new_tids;  // ascending
  bool keeps(EventId e) const { return keep.empty() || keep[e]; }
};

class Rewriter {
 public:
  // `processes` and `flows`: where ranks are merged, else nullptr. `shift` is added to every time.
  Rewriter(const Placement& placement, ProcessIds* processes, FlowIds* flows, Ns shift)
      : placement_(placement), processes_(processes), flows_(flows), shift_(shift) {}

  // The events must come in order. The text is empty where the event is left out; it is there until the next
  // call.
  std::string_view rewrite(EventId e, std::string_view text);

  void add_notes(Notes& notes) const;

 private:
  struct Replacement {
    std::string_view old;  // in the text; empty: there is none
    const char* key;
    std::string value;
  };
  std::string_view splice(std::string_view text);

  const Placement& placement_;
  ProcessIds* processes_;
  FlowIds* flows_;
  const Ns shift_;
  size_t next_moved_ = 0;
  std::vector<Replacement> replacements_;
  std::string mended_, spliced_;
  i64 written_anew_ = 0, left_out_ = 0, unshifted_ = 0;
};

}  // namespace spotter::export_
