// The name by which the kernel shows a thread (comm of its task): it takes 15 bytes and refuses longer ones.
#pragma once
#include <pthread.h>

#include <string>
#include <string_view>

namespace spotter {

inline void set_thread_name(pthread_t thread, std::string_view name) {
  constexpr size_t kMost = 15;
  pthread_setname_np(thread, std::string(name.substr(0, kMost)).c_str());
}

}  // namespace spotter
