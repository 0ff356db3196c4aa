// Ethtool: the counters that the driver of a network interface keeps beside those that all have, each under a
// name that is the driver's own (as `ethtool -S`). ioctl SIOCETHTOOL, include/uapi/linux/ethtool.h. It may
// block: the kernel asks the driver under a lock that all interfaces share.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "base/system/descriptor.h"
#include "base/types.h"

namespace spotter::collect {

class Ethtool {
 public:
  // Errors: io (no socket).
  static Result<Ethtool> open();

  // Errors: unsupported (the driver has none), not_found (no such interface), denied, io.
  Result<std::vector<std::string>> names(const std::string& interface);
  // The values under those names, in their order. Errors: as above; invalid where there are now another
  // number of them, so that the names must be read again.
  Result<std::vector<u64>> values(const std::string& interface, size_t names);

 private:
  explicit Ethtool(Descriptor socket) : socket_(std::move(socket)) {}
  Result<void> ask(const std::string& interface, void* question) const;
  Result<size_t> count(const std::string& interface);
  // The head of a question, zero, with room for its answer; until the next one.
  template <class Question>
  Question* question(size_t entry_bytes, size_t entries);

  Descriptor socket_;
  std::vector<u64> memory_;
};

}  // namespace spotter::collect
