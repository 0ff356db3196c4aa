#include "capture/aside.h"

#include <map>

#include "base/system/side_threads.h"

namespace spotter::capture {
namespace {

constexpr int kMostOfOneUser = 32;  // those that hang count until they do not

}  // namespace

Aside aside_for_each_user() {
  return [users = std::make_shared<std::map<i64, SideThreads>>()](i64 uid, std::function<void()> work) {
    return users->try_emplace(uid, kMostOfOneUser).first->second.run(std::move(work));
  };
}

}  // namespace spotter::capture
