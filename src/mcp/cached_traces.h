// CachedTraces: traces of which each is read once for all that is usually asked: with its first table come
// the findings and all others that are not large. Captures that were asked for last are kept.
#pragma once
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "diagnose/run.h"
#include "mcp/world.h"

namespace spotter::mcp {

// An error of reading traces names files and what is in them, which is text of jobs: it is told by its kind.
// That a call was given up stays as it is.
Error without_names(const Error& error);

class CachedTraces : public Traces {
 public:
  static constexpr size_t kUsuallyKept = 64;  // readings
  explicit CachedTraces(size_t most_kept = kUsuallyKept) : most_kept_(most_kept) {}
  Result<Table> table(const Capture& capture, const WantedTable& wanted, const Patience& patience) override;
  bool has_findings(const Capture& capture) override;
  Result<std::shared_ptr<const diagnose::Diff>> diff(const Capture& before, const Capture& after,
                                                     const Patience& patience) override;

 protected:
  // The request's tables, and findings where they are wanted.
  virtual Result<diagnose::Diagnosis> diagnose(const Capture& capture, diagnose::Request request) = 0;
  virtual Result<diagnose::Diff> compare(const Capture& before, const Capture& after,
                                         diagnose::DiffRequest request) = 0;

 private:
  using Tables = std::map<std::string, Table>;  // by name
  using TablesPtr = std::shared_ptr<const Tables>;
  TablesPtr find(const std::string& key);
  void keep(const std::string& key, TablesPtr tables);
  Result<TablesPtr> usual(const Capture& capture, const Patience& patience);

  const size_t most_kept_;
  std::mutex mutex_;                                                    // of what is below
  std::list<std::pair<std::string, TablesPtr>> kept_;                   // the last used first
  std::pair<std::string, std::shared_ptr<const diagnose::Diff>> diff_;  // the last one
  std::mutex reading_;  // one at a time: each takes the whole machine
};

}  // namespace spotter::mcp
