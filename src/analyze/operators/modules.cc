#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "analyze/list.h"
#include "analyze/operators/path_text.h"
#include "analyze/operators/span_tree.h"
#include "analyze/operators/tree_order.h"
#include "trace/facts/collective_marks.h"
#include "trace/facts/data_loading.h"
#include "trace/facts/module_spans.h"
#include "trace/facts/torch_marks.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"path", Type::text, Unit::none, Role::key,
     "The module and those around it, the outermost first, joined by /; one in a name is \\/."},
    {"calls", Type::integer, Unit::count, Role::value, "Number of calls."},
    {"device_total_ns", Type::integer, Unit::ns, Role::value,
     "Sum of the durations of the device work that was launched in the calls."},
    {"device_self_ns", Type::integer, Unit::ns, Role::value,
     "Of that, what was launched in no module inside."},
    {"backward_device_ns", Type::integer, Unit::ns, Role::value,
     "Sum of the durations of the device work of the backward pass of its operators, modules inside included."},
    {"host_total_ns", Type::integer, Unit::ns, Role::value, "Sum of the durations of the calls."},
    {"host_self_ns", Type::integer, Unit::ns, Role::value,
     "Of that, what is in no module, no operator and no call of the device's runtime: Python."},
    {"backward_host_ns", Type::integer, Unit::ns, Role::detail,
     "Sum of the durations of the backward operators of its operators, modules inside included."},
    {"operators", Type::integer, Unit::count, Role::detail,
     "Operators that it calls itself, in no module inside."},
    {"depth", Type::integer, Unit::count, Role::detail, "Number of modules around it."},
    {"module_id", Type::integer, Unit::none, Role::detail,
     "Number of the module among those of its class; null where the trace does not say."},
    {"source", Type::text, Unit::none, Role::detail,
     "What tells of it: python (with_modules or with_stack), lightning, or annotation."},
};

enum class Source : u8 { none, annotation, lightning, python };

constexpr const char* kSources[] = {"", "annotation", "lightning", "python"};
constexpr std::string_view kLightningModule = "[pl][module]",
                           kAccumulate =
                               "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";

// What a span's name makes of it.
struct Word {
  Source source = Source::none;
  std::string_view name;  // of the module
};

Word word_of(const trace::Steps& steps, Category category, std::string_view name) {
  if (category == Category::python_function && trace::is_module_span(name))
    return {Source::python, trace::module_of_span(name)};
  if (name.starts_with(kLightningModule)) {
    const size_t colon = name.rfind(": ");
    return {Source::lightning, name.substr(colon == name.npos ? kLightningModule.size() : colon + 2)};
  }
  const bool is_users = category == Category::user_annotation && !is_step_mark(steps, name) &&
                        !trace::is_collective_mark(name) && !trace::is_data_loading(name) &&
                        !trace::is_optimizer_mark(name) && !name.starts_with("[pl][");
  return is_users ? Word{Source::annotation, name} : Word{};
}

struct Module {
  u32 parent = kNone;
  std::string_view name;
  std::optional<i64> id;
  i64 depth = 0;
  Ns first = std::numeric_limits<Ns>::max();  // start of the first call
  i64 calls = 0, operators = 0;
  Ns host_total = 0, host_self = 0, device_total = 0, device_self = 0, backward_host = 0, backward_device = 0;
};

// The tree of the modules: one for each path of names and numbers.
class Modules {
 public:
  // Of the best source that the trace has.
  explicit Modules(const Trace& trace) : trace_(trace), nesting_(trace.nesting()), tree_(trace) {
    find_words();
    if (source_ == Source::none) return;
    place_.assign(nesting_.order.size(), kNone);
    owner_.assign(nesting_.order.size(), kNone);
    for (u32 i = 0; i < nesting_.order.size(); ++i) add(i);
    add_backward();
  }

  Source source() const { return source_; }
  const std::vector<Module>& all() const { return modules_; }
  i64 too_deep() const { return too_deep_; }

 private:
  void find_words() {
    words_.resize(trace_.strings().size());
    std::vector<u8> is_known(words_.size());
    for (const EventId e : nesting_.order) {
      const StringId name = trace_.name[e];
      // A name is of one category, but for those that are nothing.
      if (is_known[name] && words_[name].source != Source::none) continue;
      is_known[name] = true;
      words_[name] = word_of(trace_.steps(), trace_.category(e), trace_.name_of(e));
      source_ = std::max(source_, words_[name].source);
    }
  }

  u32 module_at(u32 parent, std::string_view name, std::optional<i64> id) {
    const auto [found, is_new] =
        ids_.try_emplace({parent, name, id.value_or(-1)}, static_cast<u32>(modules_.size()));
    if (is_new) {
      modules_.push_back({.parent = parent,
                          .name = name,
                          .id = id,
                          .depth = parent == kNone ? 0 : modules_[parent].depth + 1});
    }
    return found->second;
  }

  // Spans come after those around them.
  void add(u32 i) {
    const EventId e = nesting_.order[i];
    const u32 around = nesting_.parent[i];
    const u32 module = around == kNone ? kNone : place_[around];
    // What is in an operator or a call of the runtime is that one's.
    const u32 owner = around == kNone ? kNone : owner_[around];
    const Word& word = words_[trace_.name[e]];
    const Ns dur = trace_.dur[e];
    const bool is_too_deep = module != kNone && modules_[module].depth + 1 >= kDeepest;
    too_deep_ += word.source == source_ && is_too_deep;
    if (word.source == source_ && !is_too_deep) {
      place_[i] = owner_[i] = module_at(module, word.name, trace_.integer(e, Arg::python_module_id));
      Module& own = modules_[place_[i]];
      ++own.calls;
      own.first = std::min(own.first, trace_.ts[e]);
      own.host_total = add_saturated(own.host_total, dur);
      own.host_self = add_saturated(own.host_self, dur);
      own.device_total = add_saturated(own.device_total, tree_.below(i).device);
      own.device_self = add_saturated(own.device_self, tree_.below(i).device);
      if (module != kNone) modules_[module].device_self -= tree_.below(i).device;
      if (owner != kNone) modules_[owner].host_self -= dur;
      return;
    }
    place_[i] = module;
    owner_[i] = owner;
    const bool is_operator = trace_.category(e) == Category::cpu_op;
    if (owner == kNone || !(is_operator || is_host_call(trace_.category(e)))) return;
    modules_[owner].operators += is_operator;
    modules_[owner].host_self -= dur;
    owner_[i] = kNone;  // what is in it is a part of what was subtracted
  }

  // Per element of Nesting::order: whether it or something below it launched communication.
  std::vector<u8> communicating(const std::vector<u32>& index) const {
    const trace::DeviceWork& work = trace_.device_work();
    std::vector<u8> does(nesting_.order.size());
    for (size_t row = 0; row < work.event.size(); ++row) {
      if (work.kind[row] != trace::WorkKind::communication || work.launch[row] == kNone) continue;
      for (u32 i = index[work.launch[row]]; i != kNone && !does[i]; i = nesting_.parent[i]) does[i] = true;
    }
    return does;
  }

  // The outermost backward operators are those of the forward operator's module and of all around it; what
  // adds up a parameter's gradient is that of the operator before it on its thread, unless it sends a bucket
  // of gradients, which are those of many modules.
  void add_backward() {
    std::vector<u32> index(trace_.size(), kNone);
    for (u32 i = 0; i < nesting_.order.size(); ++i) index[nesting_.order[i]] = i;
    const std::vector<u8> communicates = communicating(index);
    std::vector<u8> is_inside(nesting_.order.size());
    for (const trace::Nesting::Thread& thread : nesting_.threads) {
      u32 last = kNone;
      for (u32 i = thread.begin; i < thread.end; ++i) {
        const EventId e = nesting_.order[i];
        const u32 around = nesting_.parent[i];
        is_inside[i] = around != kNone && is_inside[around];
        if (is_inside[i] || trace_.category(e) != Category::cpu_op) continue;
        const EventId forward = tree_.forward(i);
        const bool accumulates = trace_.name_of(e) == kAccumulate && !communicates[i];
        if (forward == kNone && !accumulates) continue;
        is_inside[i] = true;
        if (forward != kNone) last = place_[index[forward]];
        for (u32 m = last; m != kNone; m = modules_[m].parent) {
          modules_[m].backward_host = add_saturated(modules_[m].backward_host, trace_.dur[e]);
          modules_[m].backward_device = add_saturated(modules_[m].backward_device, tree_.below(i).device);
        }
      }
    }
  }

  const Trace& trace_;
  const trace::Nesting& nesting_;
  const SpanTree tree_;
  Source source_ = Source::none;
  std::vector<Word> words_;  // by name
  std::vector<Module> modules_;
  i64 too_deep_ = 0;
  std::map<std::tuple<u32, std::string_view, i64>, u32> ids_;
  // Per element of Nesting::order: the innermost module at or around it; the same, but kNone at and in
  // operators and calls of the runtime.
  std::vector<u32> place_, owner_;
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kModules.name, std::span(kColumns).subspan(1));
  const Modules found(trace);
  if (found.source() == Source::none) {
    table.notes.add(
        "no_modules", Severity::info,
        "traces without modules have no rows here; with_modules=True or with_stack=True records them");
    return table;
  }
  const std::vector<Module>& modules = found.all();
  note_too_deep(found.too_deep(), table);
  std::vector<std::string> paths(modules.size());
  for (const u32 m : tree_order(modules)) {
    const Module& module = modules[m];
    paths[m] = path_text(module.parent == kNone ? "" : paths[module.parent], module.name);
    table.append({std::string_view(paths[m]), module.calls, module.device_total,
                  std::max<Ns>(0, module.device_self), module.backward_device, module.host_total,
                  std::max<Ns>(0, module.host_self), module.backward_host, module.operators, module.depth,
                  or_null(module.id), kSources[static_cast<size_t>(found.source())]});
  }
  return table;
}

}  // namespace

const Analysis kModules = {
    .name = "modules",
    .summary =
        "The modules of the model as a tree, with the host and device time of each, forward and backward.",
    .doc =
        "One row per module and way to it: its path is the names of the modules around it and its own. Modules are, of the first of these that the trace has: calls "
        "of nn.Module among Python's functions (nn.Module: NAME_NUMBER, recorded with with_modules=True or with_stack=True); spans of PyTorch Lightning "
        "([pl][module]CLASS: NAME); annotations of the user (record_function), but not the marks of steps, of collectives, of data loading and of optimizers. What is "
        "around a call is decided per thread, by time. device_total sums the durations of the kernels, copies and sets that were launched in the calls, so that work on several streams adds "
        "up; device_self leaves out what was launched in modules inside; host_self is the duration without the modules, operators and calls of the device's runtime or driver directly "
        "below, so Python's own time. Forward and backward are apart: an operator of the backward pass belongs to the module of its forward operator, the last with its Sequence number to begin before it, and to all around that; of operators inside one another "
        "the outermost counts, and what accumulates a parameter's gradient belongs to the backward operator before it on its thread, unless it sends a bucket of gradients to other ranks. What is more than 100 deep is a part of what is around it. In order of the first calls, each module before those inside. After the module view of the "
        "TensorBoard profiler plugin (torch-tb-profiler 0.4.3), which adds up a module that is called from several places and shows the sum at each, gives calls of the runtime without an id to the first module (Q5), and has no backward times.",
    .params = {},
    .columns = kColumns,
    .reads = kSpanTreeArgs | ArgSet{Arg::python_module_id},
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
