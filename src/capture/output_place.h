// Where a process is to write, as its file system says. Waits for it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/system/host.h"
#include "capture/process_root.h"
#include "capture/repository.h"

namespace spotter::capture {

struct Writer {
  i64 pid = 0, uid = -1;
  std::string path;  // as the process will call its file
};

struct OutputPlace {
  std::shared_ptr<const ProcessRoot> root;
  Result<void> may_write;  // errors: those of ProcessRoot::check_directory()
  Ns before = 0;           // when a file of that name, if it is there, had changed
  Repository repository;   // that the process works in; empty: it cannot be told
};

std::vector<OutputPlace> find_places(const Host& host, const std::vector<Writer>& writers);

}  // namespace spotter::capture
