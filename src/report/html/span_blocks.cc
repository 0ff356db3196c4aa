#include "report/html/span_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analyze/list.h"
#include "analyze/range_text.h"
#include "base/parallel_for.h"
#include "base/saturated.h"
#include "report/html/data_block.h"
#include "table/ops.h"

namespace spotter::report {
namespace {

// What is left of the spans, from all of them to nothing: the first level that fits is taken.
enum SpanLevel : size_t { kWhole, kHostOfSteps, kSteps, kDeviceOfSteps, kLevels };
using BlocksOfRank = std::array<std::string, kLevels>;

constexpr i64 kJsonAtOnce = i64{1} << 29;  // bytes of traces' text: about two million events

// The median and the longest step: what is usual, and what is worst.
struct ChosenSteps {
  std::vector<i64> numbers;  // none: there are no steps
  std::string words;
};

ChosenSteps choose_steps(const Table* steps) {
  std::map<i64, i64> length;  // by number, on the rank that takes the longest
  for (size_t row = 0; steps && row < steps->rows(); ++row) {
    const std::optional<i64> number = table::optional_integer(*steps, row, "number");
    if (!number) continue;
    i64& longest = length[*number];
    longest = std::max(longest, table::optional_integer(*steps, row, "dur_ns").value_or(0));
  }
  std::vector<std::pair<i64, i64>> by_length;
  for (const auto& [number, longest] : length) by_length.emplace_back(longest, number);
  std::ranges::sort(by_length);
  if (by_length.empty()) return {};
  const i64 median = by_length[(by_length.size() - 1) / 2].second, worst = by_length.back().second;
  if (median == worst) return {{worst}, fmt::format("step {}", worst)};
  return {{median, worst}, fmt::format("steps {} (the median) and {} (the longest)", median, worst)};
}

struct SpanWindow {
  Ns begin, end;
};

std::vector<SpanWindow> windows_of(const Table* steps, const ChosenSteps& chosen, std::optional<i64> rank) {
  std::vector<SpanWindow> windows;
  for (size_t row = 0; steps && row < steps->rows(); ++row) {
    const std::optional<i64> number = table::optional_integer(*steps, row, "number");
    if (!number || table::optional_integer(*steps, row, "rank") != rank ||
        std::ranges::find(chosen.numbers, *number) == chosen.numbers.end())
      continue;
    const Ns begin = steps->integer(row, steps->column("start_ns"));
    windows.push_back({begin, add_saturated(begin, steps->integer(row, steps->column("dur_ns")))});
  }
  return windows;
}

Table thinned(const Table& spans, SpanLevel level, const std::vector<SpanWindow>& windows) {
  const size_t side = spans.column("side"), start = spans.column("start_ns"), dur = spans.column("dur_ns");
  std::vector<size_t> rows;
  for (size_t row = 0; row < spans.rows(); ++row) {
    const bool on_device = spans.text(row, side) == "device";
    const Ns begin = spans.integer(row, start), end = add_saturated(begin, spans.integer(row, dur));
    const auto is_inside = [&](const SpanWindow& window) { return begin < window.end && end > window.begin; };
    const bool is_chosen = std::ranges::any_of(windows, is_inside);
    const bool is_kept = level == kHostOfSteps ? on_device || is_chosen
                         : level == kSteps     ? is_chosen
                                               : on_device && is_chosen;
    if (is_kept) rows.push_back(row);
  }
  return table::pick(spans, rows);
}

class SpanBlockMaker {
 public:
  SpanBlockMaker(const Job& job, const analyze::RunRequest& run, const Loader& load,
                 const SpanRequest& wanted)
      : job_(job),
        load_(load),
        wanted_(wanted),
        chosen_(choose_steps(wanted.steps)),
        ranks_(wanted.files.size()) {
    run_.analyses = {&analyze::kSpans};
    run_.steps = run.steps;
    run_.threads = run.threads;
    run_.memory_bytes = run.memory_bytes;
    run_.cancelled = run.cancelled;
    for (size_t level = 0; level < kLevels; ++level) is_open_[level] = level == kWhole || wanted.room;
    if (chosen_.numbers.empty()) is_open_[kSteps] = is_open_[kDeviceOfSteps] = false;
  }

  Result<SpanBlocks> make() {
    if (wanted_.spans && wanted_.files.size() == 1) {
      TRY(encode(*wanted_.spans, 0));
      count({0});
      return chosen();
    }
    for (size_t begin = 0; begin < wanted_.files.size();) {
      Job part;
      std::vector<size_t> places;
      for (i64 json = 0; begin < wanted_.files.size() && json < kJsonAtOnce; ++begin) {
        const auto file = std::ranges::find(job_.files, wanted_.files[begin].path, &TraceFile::path);
        if (file == job_.files.end()) continue;  // it is on another host
        json += std::max<i64>(file->json_bytes, 1);
        part.files.push_back(*file);
        places.push_back(begin);
      }
      if (!part.files.empty()) TRY(add(part, places));
    }
    return chosen();
  }

 private:
  Result<void> add(const Job& part, const std::vector<size_t>& places) {
    TRY_ASSIGN(analyze::MappedJob mapped, analyze::map_files(part, run_, load_));
    for (const analyze::FileResult& file : mapped.files)
      if (file.error) return within(*file.error, file.evidence.path);
    std::vector<Result<void>> done(places.size());
    // A redactor numbers names as they come: one rank after the other.
    parallel_for(places.size(), wanted_.redactor ? 1 : run_.threads,
                 [&](size_t i) { done[i] = encode(std::move(mapped.files[i]), places[i]); });
    for (const Result<void>& result : done) TRY(result);
    count(places);
    return {};
  }

  void count(const std::vector<size_t>& places) {
    for (const size_t place : places)
      for (size_t level = 0; level < kLevels; ++level)
        sums_[level] += static_cast<i64>(ranks_[place][level].size());
    close_full();
  }

  Result<void> encode(analyze::FileResult file, size_t place) {
    if (file.unwanted || file.tables.empty()) return {};
    const RankTable part = {wanted_.files[place].rank, file.evidence.path, std::move(file.tables[0])};
    Table spans = stack(analyze::kSpans.name, analyze::kSpans.columns, {&part, 1});
    spans.notes = part.table.notes;
    if (wanted_.redactor) spans = wanted_.redactor->table(spans);
    return encode(spans, place);
  }

  Result<void> encode(const Table& spans, size_t place) {
    const std::optional<i64> rank = wanted_.files[place].rank;
    if (spans.rows() == 0 && !rank) return {};  // a launcher's
    const std::vector<SpanWindow> windows = windows_of(wanted_.steps, chosen_, rank);
    for (size_t level = 0; level < kLevels; ++level) {
      if (!is_open_[level]) continue;
      const Table some = level == kWhole ? Table() : thinned(spans, static_cast<SpanLevel>(level), windows);
      const Table& shown = level == kWhole ? spans : some;
      const std::string id = rank ? fmt::format("spans/{}", *rank) : "spans/none";
      TRY_ASSIGN(ranks_[place][level], data_block(id, {{&shown, 1}, {}}));
    }
    return {};
  }

  // What does not fit any more need not be made. Of kSteps as many ranks may be taken as fit.
  void close_full() {
    for (size_t level = 0; level < kLevels; ++level) {
      if (!wanted_.room || sums_[level] <= *wanted_.room || level == kSteps) continue;
      is_open_[level] = false;
      for (BlocksOfRank& rank : ranks_) rank[level] = std::string();
    }
  }

  bool fits(size_t level) const {
    return is_open_[level] && (!wanted_.room || sums_[level] <= *wanted_.room);
  }

  SpanBlocks chosen() {
    constexpr const char* kLeftOut[] = {"", "spans of the host but for those of {}",
                                        "spans but for those of {}", "spans but for those of devices in {}"};
    for (size_t level = 0; level < kLevels; ++level) {
      if (!fits(level)) continue;
      SpanBlocks out;
      for (const BlocksOfRank& rank : ranks_) out.blocks += rank[level];
      if (level == kHostOfSteps && chosen_.numbers.empty())
        out.left_out = "spans of the host";
      else
        out.left_out = fmt::format(fmt::runtime(kLeftOut[level]), chosen_.words);
      return out;
    }
    return some_ranks();
  }

  // Those that matter first, then by number.
  SpanBlocks some_ranks() {
    SpanBlocks out;
    std::vector<size_t> order;
    const auto matters = [&](size_t place) {
      const std::optional<i64> rank = wanted_.files[place].rank;
      return rank && std::ranges::find(wanted_.first_ranks, *rank) != wanted_.first_ranks.end();
    };
    for (const bool first : {true, false})
      for (size_t place = 0; place < ranks_.size(); ++place)
        if (matters(place) == first) order.push_back(place);
    std::set<i64> kept;
    for (const size_t place : order) {
      const std::string& block = ranks_[place][kSteps];
      if (block.empty() || static_cast<i64>(out.blocks.size() + block.size()) > *wanted_.room) continue;
      out.blocks += block;
      if (wanted_.files[place].rank) kept.insert(*wanted_.files[place].rank);
    }
    out.left_out = kept.empty()
                       ? "all spans"
                       : fmt::format("spans but for those of {} on {}", chosen_.words, rank_words(kept));
    return out;
  }

  static std::string rank_words(const std::set<i64>& ranks) {
    return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", analyze::range_text(ranks));
  }

  const Job& job_;
  const Loader& load_;
  const SpanRequest& wanted_;
  const ChosenSteps chosen_;
  analyze::RunRequest run_;
  std::vector<BlocksOfRank> ranks_;
  std::array<i64, kLevels> sums_ = {};
  std::array<bool, kLevels> is_open_ = {};
};

}  // namespace

Result<SpanBlocks> span_blocks(const Job& job, const analyze::RunRequest& run, const Loader& load,
                               const SpanRequest& wanted) {
  return SpanBlockMaker(job, run, load, wanted).make();
}

}  // namespace spotter::report
