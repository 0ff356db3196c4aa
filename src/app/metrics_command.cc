// metrics: what is measured on a machine, and what it measures now.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands.h"
#include "app/format_option.h"
#include "app/output.h"
#include "app/terminal.h"
#include "collect/identities.h"
#include "collect/list.h"

namespace spotter {
namespace {

struct Options {
  bool list = false, once = false, per_core = false;
  std::string root;
  std::vector<std::string> tables;
  const Format* format = &all_formats()[0];
};

constexpr Field kListColumns[] = {
    {"metric", Type::text, Unit::none, Role::key, "Name."},
    {"unit", Type::text, Unit::none, Role::value, "Unit."},
    {"kind", Type::text, Unit::none, Role::value, "gauge, counter or text."},
    {"collector", Type::text, Unit::none, Role::value, "Who measures it."},
    {"source", Type::text, Unit::none, Role::value, "Where it comes from."},
    {"help", Type::text, Unit::none, Role::value, "What it means."},
};

Table metric_list() {
  Table table("metrics", kListColumns);
  for (const collect::CollectorKind* collector : collect::all_collectors()) {
    for (const collect::TableKind& kind : collector->tables) {
      for (const Field& field : kind.columns) {
        if (field.role != Role::value && field.role != Role::counter) continue;
        const char* what = field.type == Type::text      ? "text"
                           : field.role == Role::counter ? "counter"
                                                         : "gauge";
        table.append({std::string_view(collect::metric_name(kind, field)),
                      std::string_view(unit_name(field.unit)), std::string_view(what),
                      std::string_view(collector->name), std::string_view(kind.source),
                      std::string_view(field.help)});
      }
    }
  }
  return table;
}

bool is_wanted(const Options& options, std::string_view table) {
  return options.tables.empty() || std::ranges::find(options.tables, table) != options.tables.end();
}

// One sample of each collector, here and now.
Result<int> sample_once(const Options& options) {
  const Host host = Host::at(options.root);
  const collect::Surroundings surroundings{host, std::make_shared<collect::Identities>(host),
                                           options.per_core};
  std::vector<Table> tables;
  Notes notes;
  for (const collect::CollectorKind* kind : collect::all_collectors()) {
    if (std::ranges::none_of(kind->tables, [&](const auto& table) { return is_wanted(options, table.name); }))
      continue;
    const auto lost = [&](const Error& error) {
      notes.add("no_sample", Severity::info, fmt::format("{}: {}", kind->name, error.message));
    };
    auto collector = kind->open(surroundings);
    if (!collector) {
      lost(collector.error());
      continue;
    }
    auto sampled = (*collector)->sample();
    if (!sampled) {
      lost(sampled.error());
      continue;
    }
    for (Table& table : *sampled) {
      if (is_wanted(options, table.name())) tables.push_back(std::move(table));
    }
  }
  TRY(write_output("", render(*options.format, tables, notes, style_of(STDOUT_FILENO))));
  return 0;
}

}  // namespace

Action declare_metrics(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  Options* o = options.get();
  app.add_flag("--list", o->list, "list every metric with its unit, source and meaning");
  app.add_flag("--once", o->once, "sample this machine once, without an agent");
  app.add_option("--root", o->root, "with --once: the root below which /proc and /sys are; default: /")
      ->type_name("DIR");
  add_option(app, "--table", "NAME", "only this table; may be given several times",
             [o](const std::string& word) -> Result<void> {
               if (!collect::find_table(word))
                 return fail(Code::invalid,
                             "there is no table \"{}\"; `spotter metrics --list` lists the metrics", word);
               o->tables.push_back(word);
               return {};
             });
  app.add_flag("--per-core", o->per_core, "with --once: rows for each core, too");
  add_format_option(app, o->format);
  return [options]() -> Result<int> {
    if (options->once) return sample_once(*options);
    const Table list = metric_list();
    TRY(write_output("", render(*options->format, std::span(&list, 1), {}, style_of(STDOUT_FILENO))));
    return 0;
  };
}

}  // namespace spotter
