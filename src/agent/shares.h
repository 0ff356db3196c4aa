// Shares: how many things of a kind may be under way at one time, such that nobody takes all: who has one
// already gets another only while one is left for somebody else. One thread.
#pragma once
#include <map>
#include <string>

#include "base/result.h"

namespace spotter::agent {

class Shares {
 public:
  // `things`: for the error: "analyses".
  Shares(size_t most, std::string things) : most_(most), things_(std::move(things)) {}

  // Errors: busy.
  Result<void> take(const std::string& who);
  void give_back(const std::string& who);
  size_t taken() const { return taken_; }

 private:
  size_t most_, taken_ = 0;
  std::string things_;
  std::map<std::string, size_t> of_;  // who has any
};

}  // namespace spotter::agent
