#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "analyze/top.h"
#include "base/utf8.h"
#include "diagnose/diagnose.h"
#include "report/report_tables.h"
#include "table/ops.h"
#include "trace/job.h"

namespace spotter::report {
namespace {

constexpr const char* kDeviceLegend =
    "comm: not hidden by compute. on host, kernel, other: what idle gaps wait for.";

// "4 ranks of 8 · NVIDIA H100 · 3 steps (ProfilerStep) · 1.2 s · 1,234,567 events"
std::string headline(const diagnose::JobFacts& f, bool is_damaged, int width) {
  std::set<std::string> devices, hosts;
  std::string mark;
  i64 ranks = 0, events = 0, world = 0, steps = 0;
  Ns span = 0;
  for (const diagnose::RankFacts& r : f.ranks) {
    ranks += r.rank.has_value();
    events += r.events;
    world = std::max(world, r.world_size.value_or(0));
    steps = std::max(steps, r.steps);
    span = std::max(span, r.span);
    if (!r.device.empty()) devices.insert(r.device);
    if (!r.host.empty()) hosts.insert(r.host);
    if (r.steps > 0 && mark.empty()) mark = r.step_mark;
  }
  std::vector<std::string> parts;
  if (f.ranks.size() == 1) parts.push_back(f.ranks[0].file);
  std::string who = ranks == 1 && f.ranks.size() == 1
                        ? fmt::format("rank {}", *f.ranks[0].rank)
                        : fmt::format("{} {}", ranks, ranks == 1 ? "rank" : "ranks");
  if (world > 0) who += fmt::format(" of {}", world);
  if (ranks > 0) parts.push_back(who);
  if (hosts.size() == 1) parts.push_back("host " + *hosts.begin());
  if (hosts.size() > 1) parts.push_back(fmt::format("{} hosts", hosts.size()));
  for (const std::string& d : devices) parts.push_back(d);
  if (steps > 0) parts.push_back(fmt::format("{} step{} ({})", steps, steps == 1 ? "" : "s", mark));
  if (span > 0) parts.push_back(render::human_ns(span));
  parts.push_back(render::human(Value(events), Unit::count, Role::value) +
                  (events == 1 ? " event" : " events"));
  if (is_damaged) parts.push_back("damaged, see Notes");
  std::string lines = parts[0], line = parts[0];
  for (const std::string& part : std::span(parts).subspan(1)) {
    line += " · " + part;
    const bool is_full = display_width(line) > width;
    if (is_full) line = "  · " + part;
    lines += (is_full ? "\n  · " : " · ") + part;
  }
  return lines;
}

std::string told(const Table& found, size_t row) {
  const std::string_view remedy = table::text_or_empty(found, row, "remedy");
  return fmt::format("- {}{}{}", found.text(row, found.column("finding")), remedy.empty() ? "" : " ", remedy);
}

// The most telling ones.
std::string what_stands_out(const diagnose::JobFacts& facts, int width) {
  constexpr size_t kMost = 5;
  const Table found = diagnose::findings(facts);
  if (found.rows() == 0)
    return render::wrapped("- Nothing: the device is busy, communication is hidden, the ranks are in step.",
                           width, "  ") +
           "\n";
  std::string out;
  for (size_t row = 0; row < std::min(found.rows(), kMost); row++)
    out += render::wrapped(told(found, row), width, "  ") + "\n";
  return out;
}

}  // namespace

size_t take_top(ParamSettings& params) {
  constexpr size_t kUsual = 6;
  size_t names = kUsual;
  for (const auto& [name, value] : params) {
    if (name != analyze::kTop.name) continue;
    const auto top = static_cast<size_t>(std::get<i64>(value));
    names = top == 0 ? std::numeric_limits<size_t>::max() : top;
  }
  std::erase_if(params, [](const auto& p) { return p.first == analyze::kTop.name; });
  params.emplace_back(analyze::kTop.name, i64{0});
  return names;
}

// The findings have said already what these notes say, or it goes without saying.
Notes notes_beside_findings(const Notes& notes) {
  constexpr std::string_view kTold[] = {"no_device_work", "no_operators",   "no_steps",
                                        "one_rank",       "no_collectives", kCapturesAtDifferentTimes};
  Notes others;
  for (const Note& note : notes.all()) {
    const bool is_told =
        note.severity != Severity::loss && std::ranges::find(kTold, note.kind) != std::end(kTold);
    if (!is_told) others.add(note);
  }
  return others;
}

std::string findings_text(const Table& found, const render::TextStyle& style) {
  std::string out = render::bold(found.name(), style) + "\n";
  if (found.rows() == 0) out += "No rule finds anything.\n";
  for (size_t row = 0; row < found.rows(); row++) {
    out += render::wrapped(told(found, row), style.width, "  ") + "\n";
    std::string about =
        fmt::format("  {}, {}", found.text(row, found.column("rule")), found.text(row, found.column("kind")));
    for (const std::string_view name : {"rank", "time_ns", "share"}) {
      const Value value = found.at(row, found.column(name));
      if (is_null(value)) continue;
      const Field& field = found.schema()[found.column(name)];
      about +=
          fmt::format(", {}{}", name == "rank" ? "rank " : "", render::human(value, field.unit, field.role));
    }
    about += fmt::format("; more in {}", found.text(row, found.column("evidence")));
    out += render::wrapped(about, style.width, "  ") + "\n";
  }
  return out;
}

std::string report(std::span<const Table> tables, const Notes& notes, const render::TextStyle& style,
                   size_t names) {
  const diagnose::JobFacts facts = diagnose::gather_facts(tables, notes);
  const Notes all = render::all_notes(tables, notes);
  const bool is_damaged = std::ranges::any_of(
      all.all(), [](const Note& n) { return n.severity == Severity::loss && n.kind != "no_trace"; });
  std::string out = headline(facts, is_damaged, style.width) + "\n";
  const auto section = [&](const std::string& title, const std::string& body) {
    out += "\n" + render::bold(title, style) + "\n" + body;
  };

  section("What stands out", what_stands_out(facts, style.width));

  if (facts.has_device_work) {
    section(rank_title(facts), render::render_text_table(device_table(facts), style) +
                                   render::wrapped(kDeviceLegend, style.width) + "\n");
    section("Kernels that take the most device time",
            render::render_text_table(kernel_table(facts.kernels, names), style));
  } else if (std::ranges::any_of(facts.ranks, [](const diagnose::RankFacts& r) { return r.spans > 0; })) {
    section(rank_title(facts), render::render_text_table(host_table(facts), style));
  }
  if (facts.operators.rows() > 0) {
    section(
        facts.operators_by_device ? "Operators that start the most device time"
                                  : "Operators that take the most host time",
        render::render_text_table(operator_table(facts.operators, facts.operators_by_device, names), style));
  }

  const Notes untold = notes_beside_findings(all);
  if (!untold.empty()) section("Notes", render::render_text_notes(untold, style));
  return out + "\n" +
         render::wrapped(
             "More: --table NAME for one analysis whole (`spotter analyses` lists them), --format json or "
             "csv.",
             style.width, "  ") +
         "\n";
}

}  // namespace spotter::report
