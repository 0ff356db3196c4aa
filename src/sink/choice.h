// Choice: what of the batches a sink takes: some tables, and those not more often than it wants them. One
// thread.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sink/sink.h"

namespace spotter::sink {

struct ChoiceOptions {
  std::vector<std::string> tables;    // patterns (base/text/glob.h); empty: all but those in `left_out`
  std::vector<std::string> left_out;  // names; not looked at where `tables` says what is wanted
  Ns every = 0;                       // 0: all
};

class Choice {
 public:
  explicit Choice(ChoiceOptions options)
      : options_(std::move(options)),
        wants_all_(options_.every == 0 && options_.tables == std::vector<std::string>{"*"}) {}

  // Of each table of each who looks the first one in each `every` of Unix time, so that the tables of all
  // hosts are of about the same time; tables of events always. A clock that jumps costs or gives one of them.
  std::vector<const Table*> of(const Batch& batch);

 private:
  struct State {
    bool is_wanted = false;
    Ns last = -1;  // which `every`
  };
  bool is_wanted(const std::string& table) const;

  ChoiceOptions options_;
  bool wants_all_;
  std::map<std::pair<std::string, std::string>, State> states_;  // by who looked, and table
};

}  // namespace spotter::sink
