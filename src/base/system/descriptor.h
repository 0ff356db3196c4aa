// Descriptor: owns an open file of the system, and closes it.
#pragma once
#include <unistd.h>

#include <utility>

namespace spotter {

struct Descriptor {
  explicit Descriptor(int number = -1) : fd(number) {}
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  Descriptor(Descriptor&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }

  int fd;  // -1: none
};

}  // namespace spotter
