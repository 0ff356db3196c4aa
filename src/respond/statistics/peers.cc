#include "respond/statistics/peers.h"

#include <algorithm>
#include <cmath>

#include "respond/statistics/median.h"

namespace spotter::respond {

Result<void> check(const PeerOptions& o) {
  constexpr i64 kMostWindows = 1000;
  if (!(o.floor > 0 && std::isfinite(o.floor)))
    return fail(Code::invalid, "floor: {}: above 0, in the metric's unit", o.floor);
  if (o.least_members < 3) return fail(Code::invalid, "least_members: {}: at least 3", o.least_members);
  if (!(o.spreads > 0 && std::isfinite(o.spreads)))
    return fail(Code::invalid, "spreads: {}: above 0", o.spreads);
  if (!(o.share >= 0 && std::isfinite(o.share))) return fail(Code::invalid, "share: {}: 0 or more", o.share);
  if (!(o.least_spread >= 0 && std::isfinite(o.least_spread)))
    return fail(Code::invalid, "least_spread: {}: 0 or more", o.least_spread);
  if (o.of < 1 || o.of > kMostWindows || o.outlying < 1 || o.outlying > o.of)
    return fail(Code::invalid, "outlying, of: {} of {} windows", o.outlying, o.of);
  if (o.recovered < 1 || o.recovered > kMostWindows)
    return fail(Code::invalid, "recovered: {}: 1 to {} windows", o.recovered, kMostWindows);
  return {};
}

PeerDeviations deviations_of(std::span<const double> values, const PeerOptions& options) {
  std::vector<double> known;
  std::ranges::copy_if(values, std::back_inserter(known), [](double v) { return std::isfinite(v); });
  if (std::ssize(known) < options.least_members) return {};
  const Level level = level_of(known);
  const double spread =
      std::max({level.spread, options.least_spread * std::abs(level.median), options.floor});
  PeerDeviations deviations = {.median = level.median, .r = {}};
  for (double value : values)
    deviations.r.push_back(std::isfinite(value) ? (value - level.median) / spread : 0);
  return deviations;
}

std::optional<PeerEvent> Peers::judge(State& state) const {
  const auto& windows = state.windows;
  const auto last = [&](i64 count) { return windows.end() - std::min<i64>(count, std::ssize(windows)); };
  const auto is_outlying = [](const Window& window) { return window.is_outlying; };
  if (!state.is_outlier) {
    if (std::count_if(last(options_.of), windows.end(), is_outlying) < options_.outlying) return {};
    state.is_outlier = true;
    const Ns since = std::find_if(last(options_.of), windows.end(), is_outlying)->at;
    return PeerEvent{.kind = PeerEvent::Kind::began, .since = since};
  }
  const auto first = last(options_.recovered);
  if (std::any_of(first, windows.end(), is_outlying)) return {};
  state.is_outlier = false;
  const bool is_compared = std::any_of(first, windows.end(), [](const Window& w) { return w.is_compared; });
  return PeerEvent{.kind = is_compared ? PeerEvent::Kind::recovered : PeerEvent::Kind::not_compared,
                   .since = first->at};
}

std::vector<PeerEvent> Peers::add(Ns at, std::span<const PeerValue> values) {
  std::vector<double> numbers;
  for (const PeerValue& value : values) numbers.push_back(value.value);
  const PeerDeviations deviations = deviations_of(numbers, options_);
  std::map<u64, PeerEvent> now;  // of those that are compared: what an event of theirs would say
  for (size_t i = 0; i < deviations.r.size(); ++i) {
    if (!std::isfinite(numbers[i])) continue;
    const PeerEvent event = {
        .member = values[i].member, .value = numbers[i], .median = deviations.median, .r = deviations.r[i]};
    now.emplace(event.member, event);
    if (is_outlying(event)) states_.try_emplace(event.member);
  }
  std::vector<PeerEvent> events;
  for (auto it = states_.begin(); it != states_.end();) {
    auto& [member, state] = *it;
    const auto found = now.find(member);
    const bool is_compared = found != now.end();
    state.windows.push_back({at, is_compared, is_compared && is_outlying(found->second)});
    if (std::ssize(state.windows) > std::max(options_.of, options_.recovered)) state.windows.pop_front();
    if (const auto judged = judge(state)) {
      PeerEvent event = is_compared ? found->second : PeerEvent{.member = member};
      event.kind = judged->kind;
      event.since = judged->since;
      events.push_back(event);
    }
    const bool is_quiet = !state.is_outlier && std::ranges::none_of(state.windows, &Window::is_outlying);
    it = is_quiet ? states_.erase(it) : std::next(it);
  }
  return events;
}

bool Peers::is_outlying(const PeerEvent& event) const {
  return std::abs(event.r) >= options_.spreads &&
         std::abs(event.value - event.median) >= options_.share * std::abs(event.median);
}

}  // namespace spotter::respond
