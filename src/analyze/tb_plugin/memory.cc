#include "analyze/tb_plugin/memory.h"

#include <algorithm>
#include <unordered_map>

#include "trace/microseconds.h"

namespace spotter::analyze::tb_plugin {
namespace {

// The innermost node around a time; marks those on the way. kNone: not even the root is.
u32 innermost(const Tree& tree, u32 root, Us time, std::vector<u8>& was_visited) {
  u32 found = kNone;
  for (u32 next = root; next != kNone;) {
    const UsInterval& around = tree.nodes[next].time;
    if (time < around.start || time >= around.end) break;
    found = next;
    was_visited[found] = true;
    const std::vector<u32>& children = tree.nodes[found].children;
    const auto behind =
        std::ranges::upper_bound(children, time, {}, [&](u32 i) { return tree.nodes[i].time.start; });
    next = behind == children.begin() ? kNone : *(behind - 1);
  }
  return found;
}

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
  std::unordered_map<i64, u32> roots;
  for (const Thread& thread : tree.threads) roots[thread.tid] = thread.root;
  Charges charges;
  charges.was_visited.resize(tree.nodes.size());
  for (const Record& record : records) {
    const auto root = roots.find(thread_of(trace, record.event));
    const u32 node =
        root == roots.end() ? kNone : innermost(tree, root->second, record.time, charges.was_visited);
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
