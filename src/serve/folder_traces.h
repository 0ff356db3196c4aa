// The jobs below folders, for who asks for tables and not for a page: each folder with traces is a capture.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mcp/cached_traces.h"
#include "mcp/cells.h"
#include "serve/finder.h"

namespace spotter::serve {

class FolderTraces : public mcp::CachedTraces {
 public:
  explicit FolderTraces(const std::vector<std::string>& roots)
      : options_(mcp::command_paths(roots)), finder_(roots) {}
  Result<std::vector<mcp::Capture>> captures(const mcp::Patience& patience) override;
  std::string options() const override { return options_; }

 protected:
  Result<diagnose::Diff> compare(const mcp::Capture& before, const mcp::Capture& after,
                                 diagnose::DiffRequest request) override;
  Result<diagnose::Diagnosis> diagnose(const mcp::Capture& capture, diagnose::Request request) override;

 private:
  // Errors: cancelled.
  Result<std::vector<JobPtr>> look(const std::atomic<bool>* cancelled);
  Result<JobPtr> find(const mcp::Capture& capture, const std::atomic<bool>* cancelled);

  const std::string options_;
  std::timed_mutex mutex_;  // of the finder
  Finder finder_;
};

}  // namespace spotter::serve
