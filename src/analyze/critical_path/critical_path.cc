#include <algorithm>
#include <array>

#include "analyze/critical_path/path_users.h"
#include "analyze/list.h"
#include "analyze/time/device_time.h"
#include "base/saturated.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"step", Type::integer, Unit::none, Role::key, "Number of the step; 0 for a trace without steps."},
    {"length_ns", Type::integer, Unit::ns, Role::value,
     "Length of the step, until its device work is done; with what_if as it was."},
    {"what_if_ns", Type::integer, Unit::ns, Role::value,
     "Length as it would be, and what the times to the right add up to; null without what_if."},
    {"overlap_ns", Type::integer, Unit::ns, Role::detail,
     "The part of length_ns, or of what_if_ns, that is in windows of earlier steps, too: leave it out where steps are added up."},
    {"bound_by", Type::text, Unit::none, Role::value, "What takes the most of the path."},
    {"compute_ns", Type::integer, Unit::ns, Role::value, "Kernels that compute."},
    {"communication_ns", Type::integer, Unit::ns, Role::value,
     "Collectives, sends and receives, their waiting for other ranks included."},
    {"host_operators_ns", Type::integer, Unit::ns, Role::value, "Operators and calls on the host."},
    {"host_gaps_ns", Type::integer, Unit::ns, Role::value, "The host outside operators: Python, mostly."},
    {"data_loading_ns", Type::integer, Unit::ns, Role::value, "Waiting for the data loader's next batch."},
    {"memory_ns", Type::integer, Unit::ns, Role::detail, "Copies and sets on the device."},
    {"kernel_gaps_ns", Type::integer, Unit::ns, Role::detail,
     "From the end of device work to the start of what waited for it on a device."},
    {"launches_ns", Type::integer, Unit::ns, Role::detail,
     "From the start of a launch to the start of its work, where only that held the work up: the call, and its launch delay (kernel_launch_stats)."},
    {"synchronization_ns", Type::integer, Unit::ns, Role::detail,
     "From the end of device work to the end of the host call that waited for it."},
    {"unknown_ns", Type::integer, Unit::ns, Role::detail,
     "Before device work of which no launch is known, or one before the step."},
};

constexpr size_t kFirstBound = 6;  // from there on a column for each BoundBy, in its order
static_assert(std::size(kColumns) == kFirstBound + kBounds);

constexpr Param kParams[] = {kWhatIf};

class User : public PathUser {
 public:
  User(const Trace& trace, const WhatIf& what_if) : trace_(trace), has_what_if_(what_if.is_set()) {}

  void use(const CriticalPath& path) override {
    overlapping_ += path.overlap() > 0;
    std::array<Ns, kBounds> time{};
    for (const PathPiece& piece : path.pieces) {
      Ns& sum = time[static_cast<size_t>(piece.bound)];
      sum = add_saturated(sum, piece.dur);
    }
    const auto most = static_cast<BoundBy>(std::ranges::max_element(time) - time.begin());
    std::vector<Value> row = {path.step, path.length, {}, path.overlap(), std::string_view(bound_name(most))};
    if (has_what_if_) row[2] = path.what_if_length;
    for (const Ns t : time) row.emplace_back(t);
    table_.append(row);
  }

  Table finish(WhatIf& what_if) override {
    what_if.note_unknown_name(table_);
    note_inferred_launches(trace_, table_);
    if (overlapping_ > 0)
      table_.notes.add(
          "overlapping_windows", Severity::info,
          "steps begin before the device work of the one before is done, so that their critical paths "
          "overlap: leave overlap_ns out where they are added up",
          -1, overlapping_);
    return std::move(table_);
  }

 private:
  const Trace& trace_;
  const bool has_what_if_;
  Table table_{kCriticalPath.name, std::span(kColumns).subspan(1)};
  i64 overlapping_ = 0;
};

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  WhatIf what_if(params.text(kWhatIf.name));
  User user(trace, what_if);
  for_each_critical_path(trace, what_if, [&](const CriticalPath& path) { user.use(path); });
  return user.finish(what_if);
}

}  // namespace

std::unique_ptr<PathUser> critical_path_user(const Trace& trace, const WhatIf& what_if) {
  return std::make_unique<User>(trace, what_if);
}

const Analysis kCriticalPath = {
    .name = "critical_path",
    .summary =
        "What the length of each step is made of: the chain of work that its end waited for, per rank.",
    .doc =
        "One row per step. The path goes back from the end of the step, or of the last device work that was launched in it, "
        "whichever is later, to the step's start; at each point to what that point waited for last, so its pieces add up to "
        "length_ns. Where device work runs on into the next step, windows overlap: sums over steps count that time twice, and the time that the steps take together is the sum of length_ns minus that of overlap_ns (critical_path_names adds up so). "
        "Ranks run at the same time: their rows do not add up to a time that passed. Device work waits for its launch, for the work before it on its stream, and for other streams where a host call made its stream wait, or where it begins within 20 us of the end of work there and nothing else explains it; "
        "a host thread goes on after itself, after device work where it synchronises, copies, or finds a queue full (1024), "
        "and after autograd's thread where that one worked while it was in no operator. What synchronised with what comes from the trace's "
        "synchronisation records (cuda_sync), which captures on demand have; without them a wait is taken to be for the work that ended last before it was over. Of several causes the "
        "latest counts, and what it does not explain itself (launch, kernel gap) is time of the edge from it. All kernels of a graph "
        "depend on its one launch. Work of earlier steps that still runs counts, so a device that lags behind is seen. Work whose launch is not in the trace is taken to be launched when what comes after it on its stream first was. "
        "what_if NAME=FACTOR gives what the same graph says when device work and host spans whose names "
        "contain NAME take FACTOR of their time, with other waits as short as the trace shows them; it does not know what other ranks would do. "
        "HTA's path (critical_path_analysis) is the longest chain anywhere in the window, of any length (B26), has no "
        "weight where the host is between operators (B44), loses all but the last kernel of a graph (B5), and its what-if changes no breakdown (B27).",
    .params = kParams,
    .columns = kColumns,
    .reads = kCriticalPathArgs,
    .map = map_trace,
    .map_together = map_path_users,
};

}  // namespace spotter::analyze
