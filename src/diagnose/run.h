// From a job to its tables and what stands out in it: the one caller of analyses where findings may be
// wanted.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "analyze/replay/job_path.h"
#include "analyze/run.h"
#include "diagnose/job_facts.h"
#include "diagnose/what_if.h"

namespace spotter::diagnose {

inline constexpr double kSensitivity = 0.01;

struct Request {
  analyze::RunRequest run = {};       // the tables that are wanted, and their parameters; may be none
  bool findings = false;              // their parameters are their own: they are made from all rows
  std::vector<WhatIf> what_ifs = {};  // asked together; none: no such table
  bool path = false;                  // with findings, the job's critical path, too
  std::string paths = {};             // of the job, as a command names them: for the evidence of findings
  double sensitivity = kSensitivity;  // the share of the job's step below which nothing is told
  std::set<i64> silent = {};          // ranks of whose files it is known that they have no events
  // Files that other hosts mapped: for fact_request() where findings alone are wanted, else for `run`; both
  // at once are not for them.
  std::vector<analyze::FileResult> elsewhere = {};
  // Instead of analyze::map_files(): who has the job's maps already (analyze/mapped_shard.h).
  std::function<Result<analyze::MappedJob>(const Job&, const analyze::RunRequest&)> map = {};
  FlightRecordLoader load_record = {};  // of dumps beside the traces; none: they are not looked at
};

struct Diagnosis {
  std::vector<Table> tables;               // one per analysis of the request, in order
  std::optional<Table> findings;           // where they are wanted, as are the facts that they are made from
  std::vector<Table> fact_tables = {};     // where findings alone are wanted: what they are made from, whole
  std::optional<Table> what_if;            // where anything is asked
  std::optional<analyze::PathTimes> path;  // where it is wanted
  JobFacts facts;
  std::vector<analyze::RankFile> files = {};
  Notes notes;                   // of the job and of every trace
  std::optional<Ns> start = {};  // of the job's first span, Unix time
  std::vector<analyze::PhaseTime> timing;
};

// Errors: those of analyze::run and of what_if.
Result<Diagnosis> run(const Job& job, Request request, const Loader& load);

// What has to be mapped so that findings can be made beside the answers of this request.
analyze::RunRequest with_facts(analyze::RunRequest request);

// What another host is asked to map for findings.
analyze::RunRequest fact_request();

// Without those that findings tell, or that go without saying.
Notes notes_beside_findings(const Notes& notes);

}  // namespace spotter::diagnose
