// Library: a shared library of a vendor that is opened at run time. Functions are looked up by name one by
// one, and one that is not there is nullptr: drivers differ. The library stays open while the object lives.
#pragma once
#include <initializer_list>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/system/host.h"

namespace spotter::collect {

class Library {
 public:
  // The first of `names` that opens, each looked for in host.libraries first and then where the loader looks.
  // Errors: not_found; io where one is there and does not load.
  static Result<Library> open(const Host& host, std::initializer_list<const char*> names);
  Library() = default;
  ~Library();
  Library(Library&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}
  Library& operator=(Library&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(path_, other.path_);
    return *this;
  }

  template <class F>
  F find(const char* name) const {
    return reinterpret_cast<F>(symbol(name));
  }
  const std::string& path() const { return path_; }

 private:
  void* symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace spotter::collect
