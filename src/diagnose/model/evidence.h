// Evidence: what else is known of a job beside its program: dumps of flight recorders, how full devices'
// memory was, and what operators reach of what their device can do.
#pragma once
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analyze/flight_recorder/flight_records.h"
#include "table/table.h"

namespace spotter::diagnose {

// An operator of a rank with one shape and type.
struct OperatorRate {
  i64 rank = 0;
  std::string name, shapes, dtype, bound;  // as in operator_efficiency
  i64 calls = 0;
  Ns device = 0;     // of all its calls
  double ratio = 0;  // of what its device could do: of its peak in that type, or of its memory's bandwidth
};

struct Evidence {
  const analyze::FlightRecords* records = nullptr;  // outlives it; null: none
  std::map<i64, double> memory_held = {};  // by rank: the most of a device's memory that it had reserved
  std::vector<OperatorRate> operators = {};
  bool has_device_work = false;
  std::set<i64> damaged = {};  // ranks of whose traces a part was lost
  std::set<i64> unread = {};   // ranks whose traces could not be read at all
  std::set<i64> silent = {};   // ranks that were recorded, and did nothing meanwhile
};

// `answers`: of fact_analyses().
Evidence gather_evidence(std::span<const Table> answers, const analyze::FlightRecords* records);

}  // namespace spotter::diagnose
