#include "analyze/flight_recorder/process_groups.h"

#include <algorithm>

#include "analyze/communication/collective_names.h"
#include "base/stable_sort.h"
#include "base/text/number.h"

namespace spotter::analyze {
namespace {

using Call = FlightRecord::Call;

std::string sizes_text(const FlightRecord::Sizes& sizes) {
  std::string text;
  for (const std::vector<i64>& tensor : sizes)
    text += fmt::format("{}[{}]", text.empty() ? "" : ", ", fmt::join(tensor, ", "));
  return fmt::format("[{}]", text);
}

std::string types_text(const std::vector<std::string>& types) {
  const std::set<std::string> distinct(types.begin(), types.end());
  return fmt::format("{}", fmt::join(distinct, ", "));
}

std::string in_and_out(const std::string& in, const std::string& out) {
  return in == out ? in : fmt::format("{} -> {}", in, out);
}

i64 elements_in(const FlightRecord::Sizes& sizes) {
  i64 sum = 0;
  for (const std::vector<i64>& tensor : sizes) {
    i64 product = 1;
    for (const i64 size : tensor)
      if (__builtin_mul_overflow(product, size, &product)) return -1;
    if (__builtin_add_overflow(sum, product, &sum)) return -1;
  }
  return sum;
}

// "all_reduce" of "nccl:all_reduce".
std::string_view without_backend(std::string_view name) {
  const size_t colon = name.find(':');
  return colon == name.npos ? name : name.substr(colon + 1);
}

struct Ends {
  i64 own = 0, peer = 0;  // ranks within the group
  bool receives = false;
};

// "send 0->3", "recv 3<-0"
std::optional<Ends> ends_of(std::string_view operation) {
  const size_t blank = operation.find(' ');
  if (blank == operation.npos) return std::nullopt;
  const std::string_view ends = operation.substr(blank + 1);
  const bool receives = operation.starts_with("recv");
  const size_t arrow = ends.find(receives ? "<-" : "->");
  if (arrow == ends.npos) return std::nullopt;
  const std::optional<u32> own = number_in<u32>(ends.substr(0, arrow)),
                           peer = number_in<u32>(ends.substr(arrow + 2));
  if (!own || !peer) return std::nullopt;
  return Ends{*own, *peer, receives};
}

// Whether the record has every call that its rank made.
bool is_whole(const FlightRecord& record) {
  i64 next = 0;
  for (const Call& call : record.calls)
    if (call.record_id != next++) return false;
  return !record.calls.empty() || record.statuses.empty();
}

std::vector<i64> in_order(std::vector<i64> ranks) {
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  return ranks;
}

}  // namespace

CallForm form_of(const Call& call) {
  CallForm form;
  form.operation = without_backend(call.name);
  const std::string in = sizes_text(call.input_sizes), out = sizes_text(call.output_sizes);
  const std::string in_types = types_text(call.input_types), out_types = types_text(call.output_types);
  form.sizes = in_and_out(in, out);
  form.types = in_and_out(in_types, out_types);
  form.elements_in = elements_in(call.input_sizes);
  form.elements_out = elements_in(call.output_sizes);
  const std::string kind = operation_of(form.operation);
  form.is_all_to_all = kind == "all_to_all";
  const bool varies = form.is_all_to_all || form.operation.find("_v") != std::string::npos;
  const bool takes_same = !varies && kind != "scatter", gives_same = !varies && kind != "gather";
  form.agreed = fmt::format("{}|{}|{}|{}|{}", form.operation, takes_same ? in : "", gives_same ? out : "",
                            kind == "scatter" ? "" : in_types, kind == "gather" ? "" : out_types);
  return form;
}

std::optional<i64> GroupRank::first_open() const {
  const auto open = std::ranges::find(collectives, false, &GroupCall::has_ended);
  return open == collectives.end() ? std::nullopt : std::optional(open->sequence);
}

void ProcessGroups::add(const FlightRecord& record) {
  const i64 rank = record.file.rank;
  notes_.merge(record.notes, record.file.path);
  if (!ranks_.insert(rank).second) {
    notes_.add("flight_record_twice", Severity::info,
               fmt::format("there are several flight recorder dumps of rank {}; the newest counts", rank));
    return;
  }
  std::map<std::pair<std::string, std::string>, std::vector<i64>> members;
  for (const FlightRecord::Group& group : record.groups) {
    std::vector<i64>& ranks = members[{group.name, group.description}] = in_order(group.ranks);
    if (std::ranges::binary_search(ranks, rank)) place_in({group.name, group.description, ranks}, rank);
  }
  std::map<i64, GroupKey> keys;  // by this process's number of the group
  for (const Call& call : record.calls) {
    const std::vector<i64>& ranks = members[{call.group, call.description}];
    const GroupKey& key = keys.try_emplace(call.group_id, call.group, call.description, ranks).first->second;
    add_call(call, std::get<2>(key), place_in(key, rank));
  }
  for (const FlightRecord::Status& status : record.statuses) {
    if (const auto key = keys.find(status.group_id); key != keys.end())
      place_in(key->second, rank).status = status;
  }
  for (ProcessGroup& group : groups_) {
    const auto place = group.ranks.find(rank);
    if (place == group.ranks.end()) continue;
    stable_sort(place->second.collectives,
                [](const GroupCall& a, const GroupCall& b) { return a.sequence < b.sequence; });
    place->second.has_forgotten = !is_whole(record);
    if (!place->second.has_forgotten && !place->second.last) place->second.last = 0;
  }
}

GroupRank& ProcessGroups::place_in(const GroupKey& key, i64 rank) {
  const auto [id, is_new] = group_ids_.try_emplace(key, groups_.size());
  if (is_new) {
    const auto& [name, description, ranks] = key;
    groups_.push_back({name, description, {ranks.begin(), ranks.end()}, {}});
  }
  ProcessGroup& group = groups_[id->second];
  group.members.insert(rank);
  GroupRank& place = group.ranks[rank];
  place.rank = rank;
  return place;
}

u32 ProcessGroups::form_id(const Call& call) {
  CallForm form = form_of(call);
  const auto [id, is_new] =
      form_ids_.try_emplace({form.operation, form.sizes, form.types}, static_cast<u32>(forms_.size()));
  if (is_new) forms_.push_back(std::move(form));
  return id->second;
}

void ProcessGroups::add_call(const Call& call, const std::vector<i64>& members, GroupRank& place) {
  const bool has_ended = call.has_ended();
  const u32 form = form_id(call);
  ++place.calls;
  place.open_calls += !has_ended;
  place.last = std::max(place.last.value_or(0), call.collective_seq);
  if (!call.is_p2p) {
    place.collectives.push_back({call.collective_seq, form, has_ended, call.created});
    return;
  }
  const std::optional<Ends> ends = ends_of(forms_[form].operation);
  if (has_ended || !ends || ends->peer >= std::ssize(members)) return;
  place.transfers.push_back(
      {members[static_cast<size_t>(ends->peer)], ends->receives, form, call.p2p_seq, call.created});
}

}  // namespace spotter::analyze
