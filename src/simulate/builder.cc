#include "simulate/builder.h"

#include "base/saturated.h"
#include "simulate/hash.h"

namespace spotter::simulate {
void Builder::add(Instruction i) {
  i.fault = fault_;
  i.when = when_;
  i.first_step_only = first_step_only_;
  if (fault_ == 0) i.place = ++program_.places;
  program_.code.push_back(i);
}

u64 Builder::scales_of(std::string_view name) {
  u64 scales = 0;
  for (size_t i = 0; i < spec_.scales.size(); ++i)
    if (name.find(spec_.scales[i].name) != name.npos) scales |= u64{1} << i;
  program_.scales |= scales;
  return scales;
}

double Builder::factor_of(u64 scales) const {
  double factor = 1;
  for (size_t i = 0; i < spec_.scales.size(); ++i)
    if (scales >> i & 1) factor *= spec_.scales[i].factor;
  return factor;
}

Ns Builder::stretched_host(Ns ns, u64 scales) const {
  return scales == 0 ? ns : stretched(ns, factor_of(scales));
}
Ns Builder::call_ns(Call call, Ns ns) {
  return stretched_host(ns, open_scales() | scales_of(name_of(call).name));
}

Builder::Within Builder::enter(Span span, u32 node, Ns own) {
  if (in_graph_) return Within(nullptr);
  const std::string key = fmt::format("{}|{}|{}|{}|{}|{}", static_cast<int>(span.cat), span.name, span.args,
                                      span.is_backward, span.module, span.collective);
  const auto [known, is_new] = spans_.try_emplace(key, static_cast<u32>(program_.spans.size()));
  open_scales_.push_back(open_scales() | scales_of(span.name));
  if (is_new) program_.spans.push_back(std::move(span));
  add({.op = Op::enter, .what = known->second, .id = node});
  work(own);
  return Within(this);
}

void Builder::leave() {
  open_scales_.pop_back();
  add({.op = Op::leave});
}

Builder::Within Builder::step() {
  open_scales_.push_back(0);
  add({.op = Op::enter_step});
  work(kSpan);
  return Within(this);
}

Builder::Within Builder::operation(const std::string& name, const std::string& args, u32 node) {
  return enter({.name = name, .args = args}, node, kOperator);
}

Builder::Within Builder::annotation(const std::string& name) {
  return enter({.cat = Cat::user_annotation, .name = name, .args = {}});
}

Builder::Within Builder::python(const std::string& name, i32 module) {
  if (!spec_.python_stacks) return Within(nullptr);
  return enter({.cat = Cat::python_function, .name = name, .args = {}, .module = module});
}

Builder::Within Builder::comms_record(u32 collective) {
  return enter({.name = "record_param_comms", .args = {}, .collective = collective});
}

Builder::Within Builder::backward_engine(const std::string& name, u32 node) {
  return enter({.name = "autograd::engine::evaluate_function: " + name, .args = {}, .is_backward = true},
               node, kAutogradNode);
}

Builder::Within Builder::backward_node(const std::string& name, u32 node) {
  return enter({.name = name, .args = {}, .is_backward = true}, node);
}

void Builder::work(Ns ns) {
  if (!in_graph_) add({.op = Op::work, .ns = host(ns)});
}

void Builder::thread(u32 number) { add({.op = Op::thread, .what = number}); }

u32 Builder::intern(DeviceWork work) {
  const std::string key =
      fmt::format("{}|{}|{}|{}|{}", work.name, work.ns, work.bytes, work.blocks, work.in_layer);
  const auto [known, is_new] = work_.try_emplace(key, static_cast<u32>(program_.work.size()));
  if (is_new) {
    work.ns = stretched_host(work.ns, scales_of(work.name));
    program_.work.push_back(std::move(work));
  }
  return known->second;
}

void Builder::launch(const DeviceWork& work, Call call) {
  const u32 what = intern(work);
  if (in_graph_) {
    add({.op = Op::node, .what = what});
    return;
  }
  add({.op = Op::launch,
       .call = call,
       .what = what,
       .ns = call_ns(call, call == Call::memcpy_async ? kCopyCall : kLaunchCall),
       .piece_ns = host(kPieceHost)});
}

u32 Builder::collective(Collective what, std::string kernel) {
  what.scale = factor_of(scales_of(kernel));
  what.work = intern({.name = std::move(kernel),
                      .kind = DeviceKind::communication,
                      .blocks = 24,
                      .threads = 544,
                      .registers = 96,
                      .shared_bytes = 82'240});
  const std::string key =
      fmt::format("{}|{}|{}|{}|{}", static_cast<int>(what.group), static_cast<int>(what.way), what.name,
                  what.in_elements, what.out_elements);
  const auto [known, is_new] = collectives_.try_emplace(key, static_cast<u32>(program_.collectives.size()));
  if (is_new) program_.collectives.push_back(std::move(what));
  return known->second;
}

void Builder::start(u32 collective, Stream stream) {
  wait(stream, kCompute);
  add({.op = Op::collective,
       .stream = stream,
       .call = Call::launch_kernel_ex,
       .what = collective,
       .ns = call_ns(Call::launch_kernel_ex, kLaunchCall)});
}

void Builder::start_in_order(u32 collective) {
  add({.op = Op::collective,
       .stream = kCompute,
       .call = Call::launch_kernel_ex,
       .what = collective,
       .id = in_graph_ ? graphs_ : 0,
       .ns = in_graph_ ? 0 : call_ns(Call::launch_kernel_ex, kLaunchCall)});
}

void Builder::wait(Stream waits, Stream on) {
  add({.op = Op::wait, .stream = waits, .what = on, .ns = call_ns(Call::stream_wait_event, kEventCall)});
}

void Builder::item() {
  const auto item = operation("aten::item", shapes({{}}));
  const auto dense = operation("aten::_local_scalar_dense", shapes({{}}));
  launch({.name = "Memcpy DtoH (Device -> Pinned)", .kind = DeviceKind::copy, .ns = 1'200, .bytes = 4},
         Call::memcpy_async);
  add({.op = Op::synchronize, .call = Call::stream_synchronize});
}

void Builder::free_and_allocate(Ns ns) {
  const auto empty = operation("aten::empty");
  add({.op = Op::free_all, .call = Call::free, .ns = call_ns(Call::free, ns / 2)});
  add({.op = Op::malloc, .call = Call::malloc, .ns = call_ns(Call::malloc, ns - ns / 2)});
}

void Builder::allocate_again(Ns ns) {
  add({.op = Op::malloc, .call = Call::malloc, .ns = call_ns(Call::malloc, ns / 4)});
  free_and_allocate(ns - ns / 4);
}

void Builder::copy(const DeviceWork& work) {
  const u32 what = intern(work);
  add({.op = Op::copy,
       .call = Call::memcpy_async,
       .what = what,
       .ns = call_ns(Call::memcpy_async, kCopyCall)});
  add({.op = Op::synchronize, .call = Call::stream_synchronize});
}

void Builder::load_module(Ns ns) { add({.op = Op::load_module, .ns = host(ns)}); }

u32 Builder::allocate(i64 bytes, MemoryUse use) {
  allocated_ += bytes;
  if (first_step_only_) program_.kept_bytes += bytes;
  program_.reserved_bytes = std::max(program_.reserved_bytes, allocated_);
  program_.allocations.push_back({bytes, next_address_, allocated_, use});
  next_address_ += static_cast<u64>(bytes + 511) / 512 * 512;
  const auto index = static_cast<u32>(program_.allocations.size() - 1);
  if (!in_graph_) add({.op = Op::memory, .what = index});
  return index;
}

void Builder::free(u32 allocation) {
  const Allocation of = program_.allocations[allocation];
  allocated_ -= of.bytes;
  program_.allocations.push_back({-of.bytes, of.address, allocated_, of.use});
  if (!in_graph_) add({.op = Op::memory, .what = static_cast<u32>(program_.allocations.size() - 1)});
}

void Builder::begin_graph() {
  if (spec_.cuda_graphs) open_graph();
}

void Builder::open_graph() {
  add({.op = Op::graph,
       .call = Call::graph_launch,
       .id = ++graphs_,
       .ns = call_ns(Call::graph_launch, kGraphCall)});
  in_graph_ = true;
}

void Builder::end_graph() { in_graph_ = false; }

void Builder::multiply(i64 additions) {
  program_.flops = add_saturated(program_.flops, multiply_saturated(2, additions));
}

std::string arguments(std::initializer_list<Argument> arguments) {
  std::string dims, types, values;
  for (const Argument& a : arguments) {
    const char* between = dims.empty() ? "" : ", ";
    const char* type = !a.dims.empty() ? "c10::BFloat16" : a.value.empty() ? "" : "Scalar";
    dims += fmt::format("{}[{}]", between, fmt::join(a.dims, ", "));
    types += fmt::format("{}\"{}\"", between, type);
    values += fmt::format("{}\"{}\"", between, a.value);
  }
  return fmt::format("\"Concrete Inputs\": [{}], \"Input type\": [{}], \"Input Dims\": [{}]", values, types,
                     dims);
}

std::string shapes(std::initializer_list<std::initializer_list<i64>> dims) {
  std::string lists, types;
  for (const auto& d : dims) {
    lists += fmt::format("{}[{}]", lists.empty() ? "" : ", ", fmt::join(d, ", "));
    types += fmt::format("{}\"{}\"", types.empty() ? "" : ", ", d.size() == 0 ? "Scalar" : "c10::BFloat16");
  }
  return fmt::format("\"Input type\": [{}], \"Input Dims\": [{}]", types, lists);
}

}  // namespace spotter::simulate
