// Clock: the two times that captures are told by. The loop's thread.
#pragma once
#include "base/system/host.h"
#include "capture/capture.h"
#include "net/loop.h"

namespace spotter::agent {

struct Clock {
  const net::Loop& loop;
  const Host& host;
  capture::Times now() const { return {loop.now(), host.unix_now() / 1'000'000}; }
};

}  // namespace spotter::agent
