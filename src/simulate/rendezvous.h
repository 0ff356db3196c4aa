// Rendezvous: where ranks meet in collectives, and when each of those ends. Filled by one thread in the first
// pass; settled, then shared by all threads of the second. An end takes 8 bytes; only meetings at which
// somebody is still missing take more.
#pragma once
#include <array>
#include <limits>
#include <unordered_map>
#include <vector>

#include "simulate/hash.h"
#include "simulate/layout.h"

namespace spotter::simulate {

inline Ns at_most_never(Ns time) { return time < kNever ? time : kNever; }
inline constexpr Ns kUnknown = std::numeric_limits<Ns>::min();

struct Meeting {
  u32 channel = kNone, instance = 0;
};

class Rendezvous {
 public:
  explicit Rendezvous(const Layout& layout);

  // A channel is a group, whose meetings all members attend, or two neighbours in a pipeline that send each
  // other something at once, or a pipeline stage's way to a neighbour: that it "ends" when the sender comes.
  u32 group_channel(GroupKind kind, i64 group) const;
  u32 send_channel(i64 rank, bool to_next) const;
  u32 exchange_channel(i64 rank) const;  // of both, with the next stage

  // The last to come ends it `duration` later. Who comes at kNever does not come.
  void arrive(Meeting meeting, Ns at, Ns duration);
  Ns end(Meeting meeting) const;          // kUnknown: somebody is missing
  void await(Meeting meeting, i64 rank);  // the rank is woken when the end is known
  std::vector<i64> take_woken() { return std::exchange(woken_, {}); }
  void give_up();  // what is waited for never ends
  void settle() { settled_ = true; }

 private:
  struct Open {
    i64 present = 0;
    Ns latest = kUnknown;
    std::vector<i64> waiting;
  };
  static u64 key(Meeting m) { return u64{m.channel} << 32 | m.instance; }
  void set_end(Meeting meeting, Ns end);
  i64 size(u32 channel) const;

  const Layout& layout_;
  std::array<u32, kGroupKinds> first_group_{};
  u32 first_send_ = 0, first_exchange_ = 0;
  std::vector<std::vector<Ns>> ends_;
  std::unordered_map<u64, Open> open_;
  std::vector<i64> woken_;
  bool settled_ = false;
};

}  // namespace spotter::simulate
