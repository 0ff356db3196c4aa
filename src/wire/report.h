// What agents say to one another of a job that has parts on several hosts (respond/incidents/report.h): the
// body of POST /v1/conditions and its answer, as JSON. Members of other names are left alone: agents of two
// versions talk to each other.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "respond/incidents/report.h"

namespace spotter::wire {

std::string report_text(const respond::Report& report);
// Errors: invalid (no report, or one without a host and a job, or with more than 1,000 conditions).
Result<respond::Report> read_report(std::string_view text);

std::string report_answer_text(const respond::ReportAnswer& answer);
// Errors: invalid.
Result<respond::ReportAnswer> read_report_answer(std::string_view text);

}  // namespace spotter::wire
