// A world of one capture whose findings are given, for tests.
#pragma once
#include <memory>
#include <utility>

#include "diagnose/diagnose.h"
#include "mcp/cached_traces.h"

namespace spotter::mcp {

class OneCapture : public CachedTraces {
 public:
  explicit OneCapture(Table findings) : findings_(std::move(findings)) {}
  Result<std::vector<Capture>> captures(const Patience&) override {
    return std::vector<Capture>{{.id = "c1",
                                 .job = "7",
                                 .state = "written",
                                 .paths = {"/t/7"},
                                 .at = 1'795'000'000'000'000'000,
                                 .files = 4,
                                 .bytes = 1,
                                 .version = "v1"}};
  }
  std::string options() const override { return "/t"; }
  int readings = 0;

 protected:
  Result<diagnose::Diagnosis> diagnose(const Capture&, diagnose::Request request) override {
    ++readings;
    if (request.run.cancelled && *request.run.cancelled) return fail(Code::cancelled, "it was cancelled");
    diagnose::Diagnosis made;
    for (const Analysis* analysis : request.run.analyses)
      made.tables.emplace_back(analysis->name, analysis->columns);
    if (request.findings) made.findings = findings_;
    return made;
  }
  Result<diagnose::Diff> compare(const Capture&, const Capture&, diagnose::DiffRequest) override {
    return fail(Code::unsupported, "one capture is not compared");
  }

 private:
  Table findings_;
};

// A table of findings; of each what stands in mechanism, kind, ranks, subject.
inline Table findings_of(std::initializer_list<std::array<const char*, 4>> rows) {
  Table table(diagnose::kFindings, diagnose::finding_columns());
  for (const auto& [mechanism, kind, ranks, subject] : rows) {
    std::vector<Value> cells(table.columns());
    const auto set = [&](const char* column, const char* text) {
      cells[table.column(column)] = or_null(std::string_view(text));
    };
    set("mechanism", mechanism);
    set("kind", kind);
    set("ranks", ranks);
    set("subject", subject);
    set("finding", subject);
    set("evidence", "spotter analyze /t/7 --table kernel_breakdown --ranks 3");
    cells[table.column("time_ns")] = i64{26'000'000};
    cells[table.column("share")] = 0.25;
    table.append(cells);
  }
  return table;
}

inline World world_of(Table findings) {
  World world;
  world.traces = std::make_unique<OneCapture>(std::move(findings));
  return world;
}

}  // namespace spotter::mcp
