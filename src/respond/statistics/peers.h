// Peers: which members of a job (ranks, hosts, links) differ from the others that do the same work, by one
// metric. A metric of own work names suspects; one that counts waiting, too, names those who wait for them.
//
// r = (x - median) / max(1.4826 MAD, 0.05 |median|, floor); a member is outlying in a window if |r| >= 6 and
// |x - median| >= 15 % of |median|, and an outlier if it is so in 4 of 5 successive windows. One test of a
// thousand metrics every 5 s is 1.4 x 10^8 tests a day for 8,000 of them: that is why once is not enough.
//
// One thread. Memory: of the members that have been outlying lately.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace spotter::respond {

struct PeerOptions {
  double floor = 0;            // of the metric, in its unit: a spread that means nothing; above 0
  i64 least_members = 4;       // with fewer there is no test
  double spreads = 6;          // |r|
  double share = 0.15;         // of the median, that it is away from it
  double least_spread = 0.05;  // of the median
  i64 outlying = 4, of = 5;    // windows that begin it
  i64 recovered = 5;           // windows in succession, none outlying, that end it
};
Result<void> check(const PeerOptions& options);

// The r of each value; a value that is not finite has none (0) and is no part of the median. Empty where too
// few are.
struct PeerDeviations {
  double median = 0;
  std::vector<double> r;
};
PeerDeviations deviations_of(std::span<const double> values, const PeerOptions& options);

struct PeerValue {
  u64 member = 0;    // each one once
  double value = 0;  // the median of its samples of the window
};

struct PeerEvent {
  enum class Kind : u8 {
    began,
    recovered,
    not_compared,  // was an outlier, and has had no value for as long, or there are too few members
  };
  Kind kind = Kind::began;
  u64 member = 0;
  Ns since = 0;  // of began: its first outlying window
  double value = 0, median = 0, r = 0;
};

class Peers {
 public:
  explicit Peers(const PeerOptions& options) : options_(options) {}  // checked ones

  // A window (5 s by default of those who ask) that ended at `at`, with the members that do the same work.
  // Events in the order of members.
  std::vector<PeerEvent> add(Ns at, std::span<const PeerValue> values);

 private:
  struct Window {
    Ns at = 0;
    bool is_compared = false, is_outlying = false;
  };
  struct State {
    std::deque<Window> windows;  // the last ones
    bool is_outlier = false;
  };
  bool is_outlying(const PeerEvent& event) const;
  std::optional<PeerEvent> judge(State& state) const;  // its kind and since

  PeerOptions options_;
  std::map<u64, State> states_;  // of those that have been outlying lately
};

}  // namespace spotter::respond
