#include "simulate/rendezvous.h"

#include <algorithm>

namespace spotter::simulate {

Rendezvous::Rendezvous(const Layout& layout) : layout_(layout) {
  const auto ranks = static_cast<u32>(layout.ranks());
  for (size_t k = 0; k < kGroupKinds; ++k) {
    first_group_[k] = first_send_;
    first_send_ += static_cast<u32>(layout.groups(static_cast<GroupKind>(k)));
  }
  first_exchange_ = first_send_ + 2 * ranks;
  ends_.resize(first_exchange_ + ranks);
}

u32 Rendezvous::group_channel(GroupKind kind, i64 group) const {
  return first_group_[static_cast<size_t>(kind)] + static_cast<u32>(group);
}

u32 Rendezvous::exchange_channel(i64 rank) const { return first_exchange_ + static_cast<u32>(rank); }

i64 Rendezvous::size(u32 channel) const {
  if (channel >= first_exchange_) return 2;
  if (channel >= first_send_) return 1;
  size_t kind = kGroupKinds - 1;
  while (channel < first_group_[kind]) --kind;
  return layout_.size(static_cast<GroupKind>(kind));
}

u32 Rendezvous::send_channel(i64 rank, bool to_next) const {
  return first_send_ + 2 * static_cast<u32>(rank) + (to_next ? 0 : 1);
}

void Rendezvous::arrive(Meeting meeting, Ns at, Ns duration) {
  if (settled_ || at >= kNever) return;
  Open& open = open_[key(meeting)];
  open.latest = std::max(open.latest, at);
  if (++open.present == size(meeting.channel)) set_end(meeting, open.latest + duration);
}

Ns Rendezvous::end(Meeting meeting) const {
  const std::vector<Ns>& ends = ends_[meeting.channel];
  const Ns end = meeting.instance < ends.size() ? ends[meeting.instance] : kUnknown;
  return settled_ && end == kUnknown ? kNever : end;
}

void Rendezvous::await(Meeting meeting, i64 rank) { open_[key(meeting)].waiting.push_back(rank); }

void Rendezvous::set_end(Meeting meeting, Ns end) {
  std::vector<Ns>& ends = ends_[meeting.channel];
  if (ends.size() <= meeting.instance) ends.resize(meeting.instance + 1, kUnknown);
  if (ends[meeting.instance] == kUnknown) ends[meeting.instance] = end;
  const auto open = open_.find(key(meeting));
  woken_.insert(woken_.end(), open->second.waiting.begin(), open->second.waiting.end());
  open_.erase(open);
}

void Rendezvous::give_up() {
  std::vector<u64> awaited;
  for (const auto& [key, open] : open_)
    if (!open.waiting.empty()) awaited.push_back(key);
  std::sort(awaited.begin(), awaited.end());
  for (const u64 key : awaited) set_end({static_cast<u32>(key >> 32), static_cast<u32>(key)}, kNever);
}

}  // namespace spotter::simulate
