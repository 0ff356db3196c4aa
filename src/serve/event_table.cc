#include "serve/event_table.h"

#include <algorithm>
#include <unordered_set>

#include "base/parallel_for.h"
#include "base/system/descriptor.h"
#include "base/text/utf8.h"
#include "read/event_texts.h"
#include "read/open.h"
#include "trace/device_work.h"
#include "trace/forward_links.h"
#include "trace/links.h"
#include "trace/nesting.h"

namespace spotter::serve {
namespace {

constexpr Field kColumns[] = {
    {"name", Type::text, Unit::none, Role::key,
     "What is told: a member of the event; json, the event as the file has it; or how another event is linked with it: "
     "launch, launched, parent, forward, backward."},
    whole({"value", Type::text, Unit::none, Role::value, "What it is; of another event its name."}),
    {"event", Type::integer, Unit::none, Role::detail,
     "Of another event its position in the file's traceEvents."},
};
constexpr size_t kMostLinks = 1000;  // of one kind

class EventRows {
 public:
  EventRows(const Trace& trace, EventId event) : trace_(trace), event_(event), table_("event", kColumns) {}

  void add(std::string_view name, std::string_view value) { table_.append({name, value, {}}); }
  void add_members() {
    const Ns base = trace_.info().base_ns;
    const Kind& kind = trace_.kind_of(event_);
    const Track& track = trace_.tracks()[trace_.track[event_]];
    add("name", trace_.name_of(event_));
    add("category", trace_.strings()[kind.category_text]);
    add("phase", std::string(1, kind.phase));
    add("start_ns", std::to_string(base + trace_.ts[event_]));
    add("dur_ns", std::to_string(trace_.dur[event_]));
    add("process",
        track.pid_text ? std::string(trace_.strings()[track.pid_text]) : std::to_string(track.pid));
    add("thread", track.tid_text ? std::string(trace_.strings()[track.tid_text]) : std::to_string(track.tid));
  }
  void add_links() {
    add_parents();
    add_launches();
    add_autograd();
  }
  Table take() { return std::move(table_); }

 private:
  void add_event(std::string_view name, EventId other) {
    table_.append({name, trace_.name_of(other), static_cast<i64>(other)});
  }
  void add_all(std::string_view name, const std::vector<EventId>& others) {
    for (const EventId other : std::span(others).first(std::min(others.size(), kMostLinks)))
      add_event(name, other);
    if (others.size() > kMostLinks)
      table_.notes.add("left_out", Severity::info,
                       "linked events are left out: only the first 1000 are listed", -1,
                       static_cast<i64>(others.size() - kMostLinks));
  }

  // The innermost first.
  void add_parents() {
    const trace::Nesting& nesting = trace_.nesting();
    const auto at = std::ranges::find(nesting.order, event_);
    if (at == nesting.order.end()) return;
    auto i = nesting.parent[static_cast<size_t>(at - nesting.order.begin())];
    for (; i != kNone; i = nesting.parent[i]) add_event("parent", nesting.order[i]);
  }

  // The launch of device work; of a host span the device work that was launched in it.
  void add_launches() {
    const trace::LaunchLinks& links = trace_.links();
    std::unordered_set<EventId> inside = {event_};
    const trace::Nesting& nesting = trace_.nesting();
    std::vector<u8> is_inside(nesting.order.size());
    for (size_t i = 0; i < nesting.order.size(); ++i) {
      is_inside[i] =
          nesting.order[i] == event_ || (nesting.parent[i] != kNone && is_inside[nesting.parent[i]]);
      if (is_inside[i]) inside.insert(nesting.order[i]);
    }
    std::vector<EventId> launched;
    for (size_t i = 0; i < links.device.size(); ++i) {
      if (links.launch[i] == kNone) continue;
      if (links.device[i] == event_)
        add_event("launch", links.launch[i]);
      else if (inside.contains(links.launch[i]))
        launched.push_back(links.device[i]);
    }
    add_all("launched", launched);
  }

  void add_autograd() {
    if (trace_.category(event_) != Category::cpu_op) return;
    const trace::ForwardLinks links(trace_);
    const i64 node = links.node(event_);
    if (node < 0) return;
    const EventId forward = links.forward(node);
    if (links.backward().has(event_)) {
      if (forward != kNone) add_event("forward", forward);
      return;
    }
    if (forward != event_) return;
    std::vector<EventId> backward;
    for (EventId e = 0; e < trace_.size(); ++e)
      if (links.backward().has(e) && links.node(e) == node) backward.push_back(e);
    add_all("backward", backward);
  }

  const Trace& trace_;
  const EventId event_;
  Table table_;
};

// The text of one event; reading ends with it.
Result<std::string> text_of(const TraceFile& file, const LoadRequest& how, EventId event) {
  std::string found;
  bool is_found = false;
  const Result<void> done =
      read::for_each_event_text(file, how, [&](EventId e, std::string_view text) -> Result<void> {
        if (e < event) return {};
        if (e == event) found = text, is_found = true;
        return fail(Code::cancelled, "enough");
      });
  if (!is_found && !done) return tl::unexpected(done.error());
  if (!is_found) return fail(Code::io, "{}: the file changed while it was read", file.path);
  return found;
}

}  // namespace

Result<Table> event_table(const JobPtr& job, const JobFile& file, EventId event,
                          const std::atomic<bool>& cancelled) {
  TraceFile traced;
  traced.path = file.path;
  traced.bytes = file.found.bytes;
  LoadRequest how;
  how.args = trace::kDeviceWorkArgs;
  how.args |= trace::kForwardLinkArgs;
  how.threads = all_processors();
  how.cancelled = &cancelled;
  TRY_ASSIGN(const TracePtr trace, loader_of(job)(traced, how));
  if (event >= trace->size())
    return fail(Code::not_found, "{}: there is no event {}; it has {}", file.path, event, trace->size());
  TRY_ASSIGN(const int descriptor, open_found(file.path, file.found));
  const Descriptor opened(descriptor);
  traced.descriptor = opened.fd;
  how.args = trace->loaded();
  TRY_ASSIGN(const std::string text, text_of(traced, how, event));
  EventRows rows(*trace, event);
  rows.add_members();
  rows.add("json", text);
  rows.add_links();
  return rows.take();
}

}  // namespace spotter::serve
