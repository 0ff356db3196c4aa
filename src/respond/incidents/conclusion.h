// Conclusion: what captures or metrics say of an incident: a cause, if there is one, what speaks against
// others, and what is not known.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "respond/incidents/incident.h"
#include "table/table.h"

namespace spotter::respond {

struct Conclusion {
  std::optional<Verdict> verdict = {};  // nothing: inconclusive
  // A hint: a cause where neither the verdict nor a condition names one.
  struct Hint {
    Verdict verdict;
    Evidence evidence;
  };
  std::optional<Hint> hint = {};
  std::vector<Evidence> evidence = {};
  std::vector<std::string> against = {}, not_known = {};
  std::string to_trace = {};  // of Incident; empty: as it was
};

// Of a capture: its receipts, and the findings of its traces (diagnose). The cause is the first fault; what
// the job could gain by being built otherwise is no reason for it to become slower. A trace alone makes it
// `medium`, and `low` where another rank has two thirds of the time at stake or more. `ranks`: of the job; 0:
// not known. `before`: those that an earlier capture had traced.
Conclusion conclusion_of(const Table& findings, const Table& receipts, i64 ranks,
                         const std::set<i64>& before = {});
// Where there are no findings: why, by the receipts.
Conclusion without_findings(const Table& receipts);
std::set<i64> ranks_traced(const Table& receipts);

}  // namespace spotter::respond
