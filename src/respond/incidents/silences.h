// Silences: what nobody wants to be told for a while, and why. It is shown all the same. One thread.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "respond/incidents/incident.h"

namespace spotter::respond {

// Of what: empty fields match all, and one at least is not empty.
struct Silence {
  std::string rule = {}, job = {}, host = {}, user = {};
  Ns until = 0;
  std::string reason = {}, by = {};
};
bool matches(const Silence& silence, const Incident& incident);

class Silences {
 public:
  // Errors: invalid (of nothing, of a rule that is none, without a reason, for more than 30 days), busy (1000
  // of them).
  Result<void> add(Silence silence, Ns at);
  void restore(Silence silence) { silences_.push_back(std::move(silence)); }
  void pass(Ns at);  // those that are over go

  std::vector<Silence> all(Ns at) const;
  std::optional<Ns> until(const Incident& incident, Ns at) const;  // nothing: it is not silenced

 private:
  std::vector<Silence> silences_;
};

}  // namespace spotter::respond
