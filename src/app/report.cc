#include "app/report.h"

#include <algorithm>
#include <set>

#include "app/facts.h"
#include "base/utf8.h"
#include "table/ops.h"

namespace spotter {
namespace {

constexpr size_t kMostRanks = 8, kMostNames = 6;
constexpr int kPlainWidth = 100;  // where there is no terminal

constexpr Field kHostColumns[] = {
    {"rank", Type::text, Unit::none, Role::key, ""},
    {"span_ns", Type::integer, Unit::ns, Role::value, ""},
    {"steps", Type::integer, Unit::count, Role::value, ""},
    {"mean step_ns", Type::integer, Unit::ns, Role::value, ""},
    {"longest step_ns", Type::integer, Unit::ns, Role::value, ""},
};
constexpr Field kDeviceColumns[] = {
    {"rank", Type::text, Unit::none, Role::key, ""},
    {"mean step_ns", Type::integer, Unit::ns, Role::value, ""},
    {"device_ns", Type::integer, Unit::ns, Role::value, ""},
    {"compute", Type::real, Unit::ratio, Role::value, ""},
    {"comm", Type::real, Unit::ratio, Role::value, ""},
    {"idle", Type::real, Unit::ratio, Role::value, ""},
    {"on host", Type::real, Unit::ratio, Role::value, ""},
    {"on kernel", Type::real, Unit::ratio, Role::value, ""},
    {"on other", Type::real, Unit::ratio, Role::value, ""},
};

constexpr Field kKernelColumns[] = {
    {"kernel", Type::text, Unit::none, Role::key, ""},
    {"kind", Type::text, Unit::none, Role::value, ""},
    {"count", Type::integer, Unit::count, Role::value, ""},
    {"total_ns", Type::integer, Unit::ns, Role::value, ""},
    {"share", Type::real, Unit::ratio, Role::value, ""},
    {"mean_ns", Type::integer, Unit::ns, Role::value, ""},
};
constexpr Field kOperatorColumns[] = {
    {"operator", Type::text, Unit::none, Role::key, ""},
    {"calls", Type::integer, Unit::count, Role::value, ""},
    {"host self_ns", Type::integer, Unit::ns, Role::value, ""},
    {"device self_ns", Type::integer, Unit::ns, Role::value, ""},
};

Value share(i64 part, i64 whole) {
  if (whole <= 0) return {};
  return static_cast<double>(part) / static_cast<double>(whole);
}

i64 sum_of(const Table& t, std::string_view column) {
  i64 sum = 0;
  for (size_t row = 0; row < t.rows(); row++) sum += t.integer(row, t.column(column));
  return sum;
}

// Sentences broken at blanks, with `indent` before every line but the first.
std::string wrapped(const std::string& text, size_t width, const std::string& indent) {
  std::string out;
  size_t column = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t blank = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, blank - at);
    const size_t cells = static_cast<size_t>(display_width(word));
    if (at > 0 && column + 1 + cells > width) {
      out += "\n" + indent;
      column = indent.size();
    } else if (at > 0) {
      out += ' ';
      column++;
    }
    out += word;
    column += cells;
    at = blank + 1;
  }
  return out;
}

std::string bold(const std::string& text, const TextStyle& style) {
  return style.color ? "\033[1m" + text + "\033[0m" : text;
}

// "4 ranks of 8 · NVIDIA H100 · 3 steps (ProfilerStep) · 1.2 s · 1,234,567 events"
std::string headline(const Facts& f) {
  std::set<std::string> devices, hosts;
  std::string mark;
  i64 ranks = 0, events = 0, world = 0, steps = 0;
  Ns span = 0;
  for (const RankFacts& r : f.ranks) {
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
  if (steps > 0) parts.push_back(fmt::format("{} steps ({})", steps, mark));
  if (span > 0) parts.push_back(human_ns(span));
  parts.push_back(human(Value(events), Unit::count, Role::value) + (events == 1 ? " event" : " events"));
  std::string line;
  for (const std::string& p : parts) line += (line.empty() ? "" : " · ") + p;
  return line;
}

// Where there are many ranks, those that are idle most and least.
std::vector<const RankFacts*> chosen_ranks(const Facts& f) {
  std::vector<const RankFacts*> ranks;
  for (const RankFacts& r : f.ranks) ranks.push_back(&r);
  if (ranks.size() <= kMostRanks) return ranks;
  const auto key = [](const RankFacts* r) {
    return r->device_time > 0 ? static_cast<double>(r->idle) / static_cast<double>(r->device_time) : 0.0;
  };
  std::sort(ranks.begin(), ranks.end(),
            [&](auto* a, auto* b) { return key(a) != key(b) ? key(a) > key(b) : a < b; });
  ranks.erase(ranks.begin() + kMostRanks / 2, ranks.end() - kMostRanks / 2);
  return ranks;
}

std::string name_of(const RankFacts& r) { return r.rank ? std::to_string(*r.rank) : r.file; }

Value mean_step(const RankFacts& r) { return r.steps > 0 ? Value(r.step_sum / r.steps) : Value{}; }

Table host_table(const Facts& f) {
  Table t("ranks", kHostColumns);
  for (const RankFacts* r : chosen_ranks(f)) {
    const std::string name = name_of(*r);
    t.append({std::string_view(name), r->span, r->steps, mean_step(*r),
              r->steps > 0 ? Value(r->step_max) : Value{}});
  }
  return t;
}

Table device_table(const Facts& f) {
  Table t("ranks", kDeviceColumns);
  for (const RankFacts* r : chosen_ranks(f)) {
    const std::string name = name_of(*r);
    t.append({std::string_view(name), mean_step(*r), r->device_time > 0 ? Value(r->device_time) : Value{},
              share(r->compute, r->device_time),
              share(r->communication - r->hidden_communication, r->device_time),
              share(r->idle, r->device_time), share(r->host_wait, r->stream_idle),
              share(r->kernel_wait, r->stream_idle), share(r->other_wait, r->stream_idle)});
  }
  return t;
}

Table kernel_table(const Table& kernels) {
  Table t("kernels", kKernelColumns);
  const i64 total = sum_of(kernels, "sum_ns");
  for (size_t row = 0; row < std::min(kernels.rows(), kMostNames); row++) {
    const i64 count = kernels.integer(row, kernels.column("count")),
              sum = kernels.integer(row, kernels.column("sum_ns"));
    t.append({kernels.at(row, kernels.column("name")), kernels.at(row, kernels.column("kind")), count, sum,
              share(sum, total), count > 0 ? Value(sum / count) : Value{}});
  }
  return t;
}

Table operator_table(const Table& operators, bool device) {
  Table t("operators", std::span(kOperatorColumns).first(device ? 4 : 3));
  for (size_t row = 0; row < std::min(operators.rows(), kMostNames); row++) {
    const Value cells[] = {operators.at(row, operators.column("name")),
                           operators.at(row, operators.column("calls")),
                           operators.at(row, operators.column("host_self_ns")),
                           operators.at(row, operators.column("device_self_ns"))};
    t.append(std::span(cells).first(t.columns()));
  }
  return t;
}

std::string rank_title(const Facts& f) {
  std::string title = "Ranks";
  if (f.ranks.size() > kMostRanks)
    title += fmt::format(" (of {}: the most and the least idle)", f.ranks.size());
  if (!f.has_device_work) return title;
  return title +
         ": device time from first to last work; its shares of compute, of communication that nothing hides, "
         "and "
         "idle; what the gaps of the busiest stream wait on";
}

// The advice has said already what these notes say.
bool is_told(const Note& note) {
  return note.severity == Severity::info &&
         (note.kind == "no_device_work" || note.kind == "no_operators" || note.kind == "no_steps");
}

}  // namespace

void set_report_params(std::vector<std::pair<std::string, i64>>& params) {
  const bool set = std::any_of(params.begin(), params.end(), [](const auto& p) { return p.first == "top"; });
  if (!set) params.emplace_back("top", 0);
}

std::string report(std::span<const Table> tables, const Notes& notes, const TextStyle& wanted) {
  const Facts facts = gather_facts(tables);
  TextStyle style = wanted;
  if (style.width == 0) style.width = kPlainWidth;
  const size_t width = static_cast<size_t>(style.width);
  std::string out = wrapped(headline(facts), width, "  ") + "\n";
  const auto section = [&](const std::string& title, const std::string& body) {
    out += "\n" + bold(wrapped(title, width, "  "), style) + "\n" + body;
  };

  std::string sentences;
  for (const std::string& s : advice(facts)) sentences += wrapped("- " + s, width, "  ") + "\n";
  section("What stands out", sentences);

  const bool any_spans =
      std::any_of(facts.ranks.begin(), facts.ranks.end(), [](const RankFacts& r) { return r.spans > 0; });
  if (any_spans) {
    const Table ranks = facts.has_device_work ? device_table(facts) : host_table(facts);
    section(rank_title(facts), render_text_table(ranks, style));
  }
  if (facts.has_device_work) {
    section("Kernels that take the most device time", render_text_table(kernel_table(facts.kernels), style));
  }
  if (facts.operators.rows() > 0) {
    section(facts.has_device_work ? "Operators that start the most device time"
                                  : "Operators that take the most host time",
            render_text_table(operator_table(facts.operators, facts.has_device_work), style));
  }

  std::string lines;
  const Notes all = all_notes(tables, notes);
  for (const Note& note : all.all()) {
    if (is_told(note)) continue;
    lines += wrapped(fmt::format("{}: {}", severity_name(note.severity), to_text(note)), width, "  ") + "\n";
  }
  if (!lines.empty()) section("Notes", lines);
  return out + "\n" +
         wrapped(
             "More: --table NAME for one analysis whole (`spotter analyses` lists them), --format json or "
             "csv.",
             width, "  ") +
         "\n";
}

}  // namespace spotter
