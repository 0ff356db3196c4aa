// The jobs below folders, for who asks for tables and not for a page: each folder with traces is a capture.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mcp/cached_traces.h"
#include "serve/finder.h"

namespace spotter::serve {

class FolderTraces : public mcp::CachedTraces {
 public:
  explicit FolderTraces(std::vector<std::string> roots) : finder_(std::move(roots)) {}
  Result<std::vector<mcp::Capture>> captures() override;

 protected:
  Result<diagnose::Diff> compare(const mcp::Capture& before, const mcp::Capture& after,
                                 diagnose::DiffRequest request) override;
  Result<diagnose::Diagnosis> diagnose(const mcp::Capture& capture, diagnose::Request request) override;

 private:
  std::vector<JobPtr> look();
  Result<JobPtr> find(const mcp::Capture& capture);

  std::mutex mutex_;  // of the finder
  Finder finder_;
};

}  // namespace spotter::serve
