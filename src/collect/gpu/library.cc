#include "collect/gpu/library.h"

#include <dlfcn.h>
#include <unistd.h>

namespace spotter::collect {

Result<Library> Library::open(const Host& host, std::initializer_list<const char*> names) {
  Library library;
  std::string reason;
  const auto load = [&](std::string path) {
    library.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library.handle_) {
      const char* text = dlerror();
      reason = text ? text : "the loader gives no reason";
      return false;
    }
    library.path_ = std::move(path);
    return true;
  };
  if (!host.libraries.empty()) {
    for (const char* name : names) {
      std::string path = host.libraries + "/" + name;
      if (access(path.c_str(), F_OK) != 0) continue;
      if (load(std::move(path))) return library;
      return fail(Code::io, "{} does not load: {}", name, reason);
    }
  }
  for (const char* name : names) {
    if (load(name)) return library;
  }
  return fail(Code::not_found, "there is no {} on this machine", *names.begin());
}

Library::~Library() {
  if (handle_) dlclose(handle_);
}

void* Library::symbol(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace spotter::collect
