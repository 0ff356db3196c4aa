// Replay: what rules would have said of samples of before, and whether somebody would have been told of it.
// No clock: the same samples give the same. One thread; memory is bounded by what the rules hold, and by the
// conditions that are found.
#pragma once
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "respond/incidents/incidents.h"
#include "respond/rules.h"

namespace spotter::respond {

struct Occurrence {
  Condition condition = {};   // as it was said first
  Ns ended = 0;               // 0: it went on at the end of the samples
  std::string incident = {};  // of which it would have been a part
  bool is_told = false;       // that incident
};

class Replay {
 public:
  explicit Replay(const RulesOptions& options);

  // Samples of one range of time: tables with a column `time_ns`, rows in any order. Ranges come in the order
  // of time, and do not overlap.
  void add(std::span<const Table> tables);
  // After the last range: all that was found, in the order in which it began.
  std::vector<Occurrence> found() const;

  // Rules that are at work, none of whose tables was among the samples.
  std::vector<std::string> without_samples() const;
  // From when on samples are as fine as rules judge them; 0: no sample was. Coarser ones are means, in which
  // what lasted less is not seen.
  Ns fine_since() const { return fine_since_; }
  Ns first() const { return first_; }
  i64 left_out() const { return rules_.left_out() + left_out_; }

  static constexpr Ns kFine = 2 * kSecond;      // between samples of a rank or device, at most
  static constexpr size_t kMostFound = 10'000;  // more are counted

 private:
  void add(Batch batch);
  void take(const std::vector<Condition>& changes, Ns at);
  void take(const Incidents::Changes& changes, Ns at);

  Rules rules_;
  Incidents incidents_;
  RuleSettings settings_;
  std::set<std::string, std::less<>> tables_;
  std::vector<Occurrence> found_;
  std::map<u64, size_t> open_;                   // by fingerprint: its place in found_
  std::set<std::string> told_;                   // ids
  std::map<std::string, Ns, std::less<>> last_;  // by table: its last sample
  Ns first_ = 0, fine_since_ = 0;
  i64 left_out_ = 0;
};

}  // namespace spotter::respond
