// Facts of devices: one-line files of /sys that hardly change and can be dear to read (the speed of a network
// interface takes a lock that all of them share).
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "base/types.h"

namespace spotter::collect {

// The line without its end and blanks around it. Empty: it cannot be read, or has no end.
std::string read_fact(const std::string& path);
// All lines, without blanks around them. Empty: it cannot be read.
std::string read_fact_lines(const std::string& path);
std::optional<i64> read_fact_number(const std::string& path);
// The last part of what a symbolic link names; empty where it is none.
std::string read_link_name(const std::string& path);

// What is known of things that come and go, by their names. It is read when a name first appears and then
// every minute, and forgotten with the first round in which nobody asks for it.
template <class Facts>
class Known {
 public:
  void begin_round(Ns now) {
    now_ = now;
    ++round_;
  }
  // read(name) gives the Facts. The reference holds until end_round().
  template <class Read>
  Facts& at(std::string_view name, Read&& read) {
    auto it = known_.find(name);
    if (it == known_.end()) {
      it = known_.emplace(std::string(name), Entry{read(name), now_ + kAge, 0}).first;
    } else if (now_ >= it->second.expires) {
      it->second = {read(name), now_ + kAge, 0};
    }
    it->second.round = round_;
    return it->second.facts;
  }
  void end_round() {
    std::erase_if(known_, [&](const auto& entry) { return entry.second.round != round_; });
  }

 private:
  static constexpr Ns kAge = kMinute;
  struct Entry {
    Facts facts;
    Ns expires;
    u64 round;
  };

  std::map<std::string, Entry, std::less<>> known_;
  Ns now_ = 0;
  u64 round_ = 0;
};

}  // namespace spotter::collect
