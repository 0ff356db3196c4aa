// Silences: what nobody wants to be told for a while, and why. It is shown all the same. One thread.
#pragma once
#include <map>
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

class Silences {
 public:
  static constexpr Ns kLongest = 30 * kDay;

  // Errors: invalid (of nothing, of a rule that is none, without a reason, for more than 30 days), busy (1000
  // of them).
  Result<void> add(Silence silence, Ns at);
  void restore(Silence silence) { silences_.push_back(std::move(silence)); }
  void pass(Ns at);  // those that are over go

  std::vector<Silence> all(Ns at) const;
  // Nothing: it is not silenced. One of a host is of all incidents of which something fires there. What
  // several jobs share is silenced where each of its conditions is.
  std::optional<Ns> until(const Incident& incident, const std::map<u64, Condition>& firing, Ns at) const;

 private:
  std::vector<Silence> silences_;
};

}  // namespace spotter::respond
