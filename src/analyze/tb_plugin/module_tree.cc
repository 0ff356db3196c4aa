#include "analyze/tb_plugin/module_tree.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyze/operators/tree_order.h"
#include "base/stable_sort.h"
#include "trace/facts/module_spans.h"

namespace spotter::analyze::tb_plugin {
namespace {

constexpr std::string_view kLightnings = "[pl][module]";

// A call of a Python function or of a module.
struct Call {
  EventId event = kNone;
  bool is_module = false;
  i64 id = kNoId, parent_id = kNoId;
  u32 around = kNone;  // the innermost module around it, of the calls
  bool is_known = false;
  std::vector<u32> inside;  // of a module: those that it is the innermost one around
};

class PythonCalls {
 public:
  PythonCalls(const Trace& trace, const Events& events) : trace_(trace) {
    for (const Event& event : events.all) {
      if (event.type != EventType::python_function && event.type != EventType::module) continue;
      Call& call = calls_.emplace_back();
      call.event = event.id;
      call.is_module = event.type == EventType::module;
      call.id = trace.integer(event.id, Arg::python_id).value_or(kNoId);
      call.parent_id = trace.integer(event.id, Arg::python_parent_id).value_or(kNoId);
      by_id_[call.id] = static_cast<u32>(calls_.size() - 1);
    }
    for (u32 i = 0; i < calls_.size(); ++i) find_around(i);
    for (u32 i = 0; i < calls_.size(); ++i) {
      // Of several calls with one number the last one counts.
      if (!calls_[i].is_module || by_id_[calls_[i].id] != i) continue;
      (calls_[i].around == kNone ? outermost_ : calls_[calls_[i].around].inside).push_back(i);
    }
  }

  ShownModules shown() {
    std::vector<u32> roots = distinct_outermost();
    const auto name = [&](u32 i) { return module_name(trace_, calls_[i].event); };
    stable_sort(roots, [&](u32 a, u32 b) { return name(a) < name(b); });
    ShownModules shown;
    std::vector<std::pair<u32, u32>> open;  // a call, and the place of the module around it
    for (size_t r = roots.size(); r-- > 0;) open.emplace_back(roots[r], kNone);
    while (!open.empty()) {
      const auto [i, parent] = open.back();
      open.pop_back();
      const i64 depth = parent == kNone ? 0 : shown.all[parent].depth + 1;
      if (depth >= kDeepest) {
        ++shown.too_deep;
        continue;
      }
      const auto place = static_cast<u32>(shown.all.size());
      shown.all.push_back({name(i), module_id(trace_, calls_[i].event), parent, depth});
      for (size_t c = calls_[i].inside.size(); c-- > 0;) open.emplace_back(calls_[i].inside[c], place);
    }
    return shown;
  }

 private:
  // Up from the call to one of which it is known; numbers that lead in a circle lead nowhere.
  void find_around(u32 i) {
    std::vector<u32> way;
    u32 around = kNone;
    for (u32 at = i;;) {
      if (calls_[at].is_known) {
        around = calls_[at].around;
        break;
      }
      calls_[at].is_known = true;
      way.push_back(at);
      const auto parent = by_id_.find(calls_[at].parent_id);
      if (parent == by_id_.end()) break;
      at = parent->second;
      if (!calls_[at].is_module) continue;
      around = at;
      break;
    }
    for (const u32 at : way) calls_[at].around = around;
  }

  // The first of those that have the same in them.
  std::vector<u32> distinct_outermost() {
    std::vector<u32> order = outermost_;  // each before what is in it
    for (size_t i = 0; i < order.size(); ++i) {
      const std::vector<u32>& inside = calls_[order[i]].inside;
      order.insert(order.end(), inside.begin(), inside.end());
    }
    using Form = std::tuple<StringId, i64, std::vector<u32>>;  // of a module and, as numbers, those in it
    std::map<Form, u32> forms;
    std::vector<u32> form_of(calls_.size());
    for (size_t i = order.size(); i-- > 0;) {
      const Call& call = calls_[order[i]];
      std::vector<u32> inside;
      for (const u32 c : call.inside) inside.push_back(form_of[c]);
      const Form form(trace_.name[call.event], module_id(trace_, call.event), std::move(inside));
      form_of[order[i]] = forms.try_emplace(form, static_cast<u32>(forms.size())).first->second;
    }
    std::set<u32> seen;
    std::vector<u32> distinct;
    std::ranges::copy_if(outermost_, std::back_inserter(distinct),
                         [&](u32 i) { return seen.insert(form_of[i]).second; });
    return distinct;
  }

  const Trace& trace_;
  std::vector<Call> calls_;
  std::unordered_map<i64, u32> by_id_;
  std::vector<u32> outermost_;
};

// By their names alone: net.fc is in net.
ShownModules lightnings_modules(const Trace& trace, const Events& events) {
  std::map<std::string_view, u32> places;
  for (const Event& event : events.all)
    if (event.type == EventType::pl_module) places[module_name(trace, event.id)] = 0;
  ShownModules shown;
  for (auto& [name, place] : places) {  // by name, so that what is around comes first
    ShownModule module{.name = name};
    const size_t dot = name.rfind('.');
    if (const auto around = places.find(name.substr(0, dot)); dot != name.npos && around != places.end()) {
      module.parent = around->second;
      module.depth = shown.all[module.parent].depth + 1;
    }
    if (module.depth >= kDeepest) {
      ++shown.too_deep;
      continue;
    }
    place = static_cast<u32>(shown.all.size());
    shown.all.push_back(module);
  }
  return shown;
}

}  // namespace

std::string_view module_name(const Trace& trace, EventId e) {
  const std::string_view name = trace.name_of(e);
  if (name.starts_with(kLightnings)) {
    const size_t colon = name.find(": ");
    return colon == name.npos ? name.substr(kLightnings.size()) : name.substr(colon + 2);
  }
  return trace::is_module_span(name) ? trace::module_of_span(name) : name;
}

ShownModules module_tree(const Trace& trace, const Events& events) {
  return is_lightning(trace) ? lightnings_modules(trace, events) : PythonCalls(trace, events).shown();
}

}  // namespace spotter::analyze::tb_plugin
