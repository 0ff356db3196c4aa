#include "serve/series.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "read/endings.h"

namespace spotter::serve {
namespace {

constexpr std::string_view kMark = ".pt.trace";

// Places of each worker's files, by the times in their names. Of one recording that is there twice, packed
// and not, the first one.
using Workers = std::map<std::string, std::vector<size_t>>;

Workers workers_of(const std::vector<Recording>& files) {
  std::map<std::string, std::map<std::tuple<size_t, std::string>, size_t>> by_time;
  for (size_t i = 0; i < files.size(); ++i) {
    const auto name = recording_name(files[i].name);
    if (!name) continue;
    const std::string digits =
        name->time.substr(std::min(name->time.find_first_not_of('0'), name->time.size()));
    by_time[name->worker].emplace(std::tuple(digits.size(), digits), i);
  }
  Workers workers;
  for (const auto& [worker, times] : by_time)
    for (const auto& [time, place] : times) workers[worker].push_back(place);
  return workers;
}

// Whether they may have been recorded one after the other.
bool is_series(const std::vector<size_t>& places, const std::vector<Recording>& files) {
  std::set<i64> ranks;
  for (const size_t place : places)
    if (files[place].rank) ranks.insert(*files[place].rank);
  if (ranks.size() > 1) return false;
  std::optional<Ns> end;
  for (const size_t place : places) {
    const Recording& file = files[place];
    if (!file.start || !file.end) continue;
    if (end && *file.start < *end) return false;
    end = *file.end;
  }
  return true;
}

bool are_series(const Workers& workers, const std::vector<Recording>& files) {
  return std::ranges::any_of(workers, [](const auto& w) { return w.second.size() > 1; }) &&
         std::ranges::all_of(workers, [&](const auto& w) { return is_series(w.second, files); });
}

std::vector<std::vector<size_t>> by_number(const Workers& workers) {
  std::vector<std::vector<size_t>> spans;
  for (const auto& [worker, places] : workers) {
    spans.resize(std::max(spans.size(), places.size()));
    for (size_t i = 0; i < places.size(); ++i) spans[i].push_back(places[i]);
  }
  return spans;
}

// Those that overlap, or are connected by others that do.
std::vector<std::vector<size_t>> by_overlap(const Workers& workers, const std::vector<Recording>& files) {
  std::vector<size_t> all;
  for (const auto& [worker, places] : workers) all.insert(all.end(), places.begin(), places.end());
  if (std::ranges::any_of(all, [&](size_t i) { return !files[i].start || !files[i].end; }))
    return by_number(workers);
  std::ranges::sort(all, {}, [&](size_t i) { return std::tuple(*files[i].start, i); });
  std::vector<std::vector<size_t>> spans;
  Ns end = 0;
  for (const size_t i : all) {
    if (spans.empty() || *files[i].start >= end) spans.emplace_back();
    spans.back().push_back(i);
    end = spans.back().size() == 1 ? *files[i].end : std::max(end, *files[i].end);
  }
  return spans;
}

}  // namespace

std::optional<RecordingName> recording_name(std::string_view file_name) {
  if (!read::ending_of(file_name)) return std::nullopt;
  std::string_view stem = read::without_ending(file_name);
  if (!stem.ends_with(kMark)) return std::nullopt;
  stem.remove_suffix(kMark.size());
  const size_t dot = stem.rfind('.');
  if (dot == stem.npos || dot == 0 || dot + 1 == stem.size()) return std::nullopt;
  const std::string_view time = stem.substr(dot + 1);
  if (time.find_first_not_of("0123456789") != time.npos) return std::nullopt;
  return RecordingName{std::string(stem.substr(0, dot)), std::string(time)};
}

std::vector<size_t> repeated(const std::vector<Recording>& files) {
  const Workers workers = workers_of(files);
  if (!are_series(workers, files)) return {};
  std::vector<size_t> places;
  for (const auto& [worker, of] : workers) places.insert(places.end(), of.begin(), of.end());
  return places;
}

std::vector<Span> spans_of(const std::vector<Recording>& files) {
  const Workers workers = workers_of(files);
  std::vector<Span> spans;
  std::set<size_t> taken;
  if (are_series(workers, files)) {
    const auto sizes = std::minmax_element(workers.begin(), workers.end(), [](const auto& a, const auto& b) {
      return a.second.size() < b.second.size();
    });
    const bool are_alike = sizes.first->second.size() == sizes.second->second.size();
    for (auto& places : are_alike ? by_number(workers) : by_overlap(workers, files)) {
      taken.insert(places.begin(), places.end());
      std::ranges::sort(places);
      spans.push_back({std::to_string(spans.size() + 1), std::move(places)});
    }
  }
  Span rest;
  for (size_t i = 0; i < files.size(); ++i) {
    const bool is_copy = !spans.empty() && recording_name(files[i].name);  // of one that is in a span
    if (!taken.contains(i) && !is_copy) rest.files.push_back(i);
  }
  if (!rest.files.empty()) spans.push_back(std::move(rest));
  return spans;
}

}  // namespace spotter::serve
