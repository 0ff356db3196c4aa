#include "simulate/rendezvous.h"

#include <algorithm>

namespace spotter::simulate {

Rendezvous::Rendezvous(const Layout& layout)
    : layout_(layout),
      first_tensor_(static_cast<u32>(layout.groups(GroupKind::data))),
      first_send_(first_tensor_ + static_cast<u32>(layout.groups(GroupKind::tensor))),
      ends_(first_send_ + 2 * static_cast<size_t>(layout.ranks())) {}

u32 Rendezvous::group_channel(GroupKind kind, i64 group) const {
  return static_cast<u32>(group) + (kind == GroupKind::tensor ? first_tensor_ : 0);
}

u32 Rendezvous::send_channel(i64 rank, bool to_next) const {
  return first_send_ + 2 * static_cast<u32>(rank) + (to_next ? 0 : 1);
}

void Rendezvous::arrive(Meeting meeting, Ns at, Ns duration) {
  if (settled_ || at >= kNever) return;
  i64 size = 1;
  if (meeting.channel < first_send_)
    size = layout_.size(meeting.channel < first_tensor_ ? GroupKind::data : GroupKind::tensor);
  Open& open = open_[key(meeting)];
  open.latest = std::max(open.latest, at);
  if (++open.present == size) set_end(meeting, open.latest + duration);
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
