#include "analyze/tb_plugin/memory.h"

#include <algorithm>
#include <unordered_map>

#include "trace/microseconds.h"

namespace spotter::analyze::tb_plugin {
namespace {

// The innermost node around times that only grow, on one thread; marks those on the way.
class Walk {
 public:
  Walk(const Tree& tree, u32 root) : tree_(tree), root_(root) {}

  // kNone: not even the root is.
  u32 to(Us time, std::vector<u8>& was_visited) {
    while (!open_.empty() && !is_around(open_.back(), time)) open_.pop_back();
    for (u32 next = open_.empty() ? root_ : child_at(open_.back(), time);
         next != kNone && is_around(next, time); next = child_at(next, time)) {
      open_.push_back(next);
      was_visited[next] = true;
    }
    return open_.empty() ? kNone : open_.back();
  }

 private:
  bool is_around(u32 i, Us time) const {
    return tree_.nodes[i].time.start <= time && time < tree_.nodes[i].time.end;
  }
  // The last one that has begun.
  u32 child_at(u32 i, Us time) const {
    const std::vector<u32>& children = tree_.nodes[i].children;
    const auto behind =
        std::ranges::upper_bound(children, time, {}, [&](u32 c) { return tree_.nodes[c].time.start; });
    return behind == children.begin() ? kNone : *(behind - 1);
  }

  const Tree& tree_;
  u32 root_;
  std::vector<u32> open_;
};

}  // namespace

std::vector<Record> records_of(const Trace& trace, const Events& events, Notes& notes) {
  std::vector<Record> records;
  i64 nameless = 0;
  for (const EventId e : events.memory) {
    const auto type = trace.integer(e, Arg::device_type), bytes = trace.integer(e, Arg::mem_bytes);
    if ((type != 0 && type != 1) || !bytes) {
      ++nameless;
      continue;
    }
    Record record;
    record.event = e;
    record.time = trace::microseconds(trace.ts[e]);
    if (type == 1) record.place = {true, trace.integer(e, Arg::device_id).value_or(-1)};
    record.bytes = *bytes;
    record.address = trace.integer(e, Arg::addr);
    record.allocated = trace.integer(e, Arg::total_allocated);
    record.reserved = trace.integer(e, Arg::total_reserved);
    records.push_back(record);
  }
  if (nameless > 0)
    notes.add("no_plugin_numbers", Severity::info,
              "memory events are of devices that the plugin does not know; it fails on them (Q8)", -1,
              nameless);
  return records;
}

Charges charge(const Trace& trace, const Tree& tree, const std::vector<Record>& records) {
  std::unordered_map<i64, Walk> walks;
  for (const Thread& thread : tree.threads) walks.try_emplace(thread.tid, tree, thread.root);
  Charges charges;
  charges.was_visited.resize(tree.nodes.size());
  for (const Record& record : records) {
    const auto walk = walks.find(thread_of(trace, record.event));
    const u32 node = walk == walks.end() ? kNone : walk->second.to(record.time, charges.was_visited);
    charges.node.push_back(node != kNone && tree.nodes[node].is_operator ? node : kNone);
  }
  return charges;
}

Curves curves_of(const std::vector<Record>& records) {
  Curves curves;
  for (const Record& r : records)
    if (r.address && r.allocated && r.reserved)
      curves[r.place].push_back({r.time, *r.allocated, *r.reserved});
  return curves;
}

}  // namespace spotter::analyze::tb_plugin
