// CachedTraces: traces of which each is read once for all that is usually asked: with its first table come
// the findings and all others that are not large. Captures that were asked for last are kept.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "diagnose/run.h"
#include "mcp/kept.h"
#include "mcp/world.h"

namespace spotter::mcp {

// An error of reading traces names files and what is in them, which is text of jobs: it is told by its kind.
// That a call was given up stays as it is.
Error without_names(const Error& error);

class CachedTraces : public Traces {
 public:
  static constexpr size_t kUsuallyKept = 64;  // readings
  explicit CachedTraces(size_t most_kept = kUsuallyKept);
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
  using Turn = std::unique_lock<std::timed_mutex>;
  Result<Turn> turn_to_read(const Patience& patience);
  Result<void> read_usual(const Capture& capture, const Patience& patience);
  Result<Table> made(const Capture& capture, const WantedTable& wanted, const Patience& patience);

  Kept<Tables> tables_;
  Kept<Table> findings_;  // of far more captures: each is small
  Kept<diagnose::Diff> diffs_;
  std::timed_mutex reading_;  // one at a time: each takes the whole machine
};

}  // namespace spotter::mcp
