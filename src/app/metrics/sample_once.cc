#include "app/metrics/sample_once.h"

#include <algorithm>
#include <memory>

#include "collect/list.h"
#include "collect/process/identities.h"

namespace spotter::app {
namespace {

bool is_wanted(const OnceOptions& options, std::string_view table) {
  return options.tables.empty() || std::ranges::find(options.tables, table) != options.tables.end();
}

}  // namespace

OneSample sample_once(const OnceOptions& options) {
  const Host host = Host::at(options.root);
  collect::Surroundings surroundings{host, std::make_shared<collect::Identities>(host), options.per_core};
  surroundings.textfile_directory = options.textfile_directory;
  OneSample out;
  for (const collect::CollectorKind* kind : collect::all_collectors()) {
    const auto is_named = [&](const auto& table) { return is_wanted(options, table.name); };
    if (options.tables.empty() ? !kind->is_on : std::ranges::none_of(kind->tables, is_named)) continue;
    const auto lost = [&](const Error& error) {
      out.notes.add("no_sample", Severity::info, fmt::format("{}: {}", kind->name, error.message));
    };
    auto collector = kind->open(surroundings);
    if (!collector) {
      lost(collector.error());
      continue;
    }
    auto sampled = collect::ask(*kind, **collector);
    if (!sampled) {
      lost(sampled.error());
      continue;
    }
    for (Table& table : *sampled) {
      if (is_wanted(options, table.name())) out.tables.push_back(std::move(table));
    }
  }
  return out;
}

}  // namespace spotter::app
