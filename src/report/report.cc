#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "analyze/top.h"
#include "base/result.h"
#include "report/headline.h"
#include "report/list.h"

namespace spotter::report {

namespace {

Report report_of(const diagnose::JobFacts& facts, const Subject& subject) {
  Report report{.headline = headline(facts), .sections = {}};
  for (const Section* section : all_sections()) {
    if (section->is_shown(subject))
      report.sections.push_back(
          {section->name, section->title(subject), section->parts(subject), section->sentence});
  }
  return report;
}

Subject subject_of(const diagnose::Diagnosis& diagnosis, size_t names) {
  CHECK(diagnosis.findings);
  return {diagnosis.facts, *diagnosis.findings, diagnosis.what_if ? &*diagnosis.what_if : nullptr, names};
}

}  // namespace

Report make_report(const diagnose::Diagnosis& diagnosis, size_t names) {
  return report_of(diagnosis.facts, subject_of(diagnosis, names));
}

Report make_page_report(const diagnose::Diagnosis& diagnosis, size_t names, const PageRoom& room) {
  Subject subject = subject_of(diagnosis, names);
  subject.page = room;
  subject.tables = diagnosis.tables;
  return report_of(diagnosis.facts, subject);
}

const Table* find_table(const Subject& subject, std::string_view name) {
  for (const Table& table : subject.tables)
    if (table.name() == name && table.rows() > 0) return &table;
  return nullptr;
}

size_t names_listed(const ParamSettings& params, size_t usual) {
  size_t names = usual;
  for (const auto& [name, value] : params) {
    if (name != analyze::kTop.name) continue;
    const auto top = static_cast<size_t>(std::get<i64>(value));
    names = top == 0 ? std::numeric_limits<size_t>::max() : top;
  }
  return names;
}

}  // namespace spotter::report
