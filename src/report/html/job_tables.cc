#include "report/html/job_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyze/list.h"
#include "analyze/range_text.h"
#include "base/text/json_text.h"
#include "diagnose/diagnose.h"

namespace spotter::report {
namespace {

constexpr Field kFactFields[] = {
    {"name", Type::text, Unit::none, Role::key, "What is told."},
    {"value", Type::text, Unit::none, Role::value, "As a text."},
};
constexpr Field kJobFields[] = {
    {"id", Type::text, Unit::none, Role::key, "What the job is called in addresses."},
    {"folder", Type::text, Unit::none, Role::value, "Where its files are."},
    {"ranks", Type::text, Unit::none, Role::value, "Its ranks that are there."},
    {"host", Type::text, Unit::none, Role::value, "Its machine; null: several, or not known."},
    {"files", Type::integer, Unit::count, Role::value, "How many trace files it has."},
    {"bytes", Type::integer, Unit::bytes, Role::value, "Their size, as stored."},
    {"state", Type::text, Unit::none, Role::value, "new, loading, ready or failed."},
    {"changed_ns", Type::integer, Unit::ns, Role::time, "When it changed last; null in a report."},
};
constexpr Field kRankFields[] = {
    {"rank", Type::integer, Unit::none, Role::key, "Rank; null for a file without one."},
    {"path", Type::text, Unit::none, Role::key, "Its trace file."},
    {"host", Type::text, Unit::none, Role::detail, "Its machine; null where that is not known."},
    {"bytes", Type::integer, Unit::bytes, Role::value, "Size of the file, as stored; null: not known."},
};
constexpr Field kAnalysisFields[] = {
    {"name", Type::text, Unit::none, Role::key, "Of the analysis and its table."},
    {"summary", Type::text, Unit::none, Role::value, "What it is, in a line."},
    {"doc", Type::text, Unit::none, Role::detail, "The definition of its numbers."},
    {"on_request", Type::flag, Unit::none, Role::value, "Whether it is made only for who names it."},
    {"params", Type::text, Unit::none, Role::detail, "Its parameters, as JSON."},
};

const TraceFile* find_file(const Job& job, const std::string& path) {
  const auto found = std::ranges::find(job.files, path, &TraceFile::path);
  return found != job.files.end() ? &*found : nullptr;
}

std::string params_json(std::span<const Param> params) {
  std::string out = "[";
  for (const Param& param : params) {
    if (out.size() > 1) out += ',';
    out += "{\"name\":";
    append_json_text(out, param.name);
    out += ",\"fallback\":";
    if (param.is_text())
      append_json_text(out, std::get<const char*>(param.fallback));
    else
      out += fmt::format("{}", std::get<i64>(param.fallback));
    out += ",\"help\":";
    append_json_text(out, param.help);
    out += '}';
  }
  return out + "]";
}

std::string host_of(const diagnose::Diagnosis& diagnosis, std::optional<i64> rank) {
  const auto found = std::ranges::find(diagnosis.facts.ranks, rank, &diagnose::RankFacts::rank);
  return rank && found != diagnosis.facts.ranks.end() ? found->host : std::string();
}

}  // namespace

Table facts_table(const Facts& facts) {
  Table table("facts", kFactFields);
  for (const auto& [name, value] : facts)
    if (!value.empty()) table.append({std::string_view(name), std::string_view(value)});
  return table;
}

Table jobs_table(const Job& job, const diagnose::Diagnosis& diagnosis, const std::string& title) {
  std::set<i64> ranks;
  std::set<std::string> hosts;
  i64 bytes = 0;
  for (const analyze::RankFile& file : diagnosis.files)
    if (file.rank) ranks.insert(*file.rank);
  for (const diagnose::RankFacts& rank : diagnosis.facts.ranks) hosts.insert(rank.host);
  for (const TraceFile& file : job.files) bytes += file.bytes;
  Table table("jobs", kJobFields);
  const std::string text = analyze::range_text(ranks);
  table.append({"report", std::string_view(title), std::string_view(text),
                hosts.size() == 1 ? or_null(std::string_view(*hosts.begin())) : Value(),
                static_cast<i64>(diagnosis.files.size()), bytes, "ready", Value()});
  return table;
}

Table ranks_table(const Job& job, std::span<const std::string> paths, const diagnose::Diagnosis& diagnosis) {
  Table table("ranks", kRankFields);
  for (size_t i = 0; i < paths.size(); ++i) {
    const analyze::RankFile& file = diagnosis.files[i];
    const TraceFile* stored = find_file(job, paths[i]);
    const std::string host = host_of(diagnosis, file.rank);
    table.append({or_null(file.rank), std::string_view(file.path), or_null(std::string_view(host)),
                  stored ? Value(stored->bytes) : Value()});
  }
  return table;
}

Table analyses_table() {
  Table table("analyses", kAnalysisFields);
  const std::string findings = diagnose::findings_definition();
  table.append({diagnose::kFindings, "What stands out, with evidence and remedy.", std::string_view(findings),
                true, "[]"});
  for (const Analysis* analysis : analyze::all_analyses()) {
    const std::string params = params_json(analysis->params);
    table.append(
        {analysis->name, analysis->summary, analysis->doc, analysis->on_request, std::string_view(params)});
  }
  return table;
}

}  // namespace spotter::report
