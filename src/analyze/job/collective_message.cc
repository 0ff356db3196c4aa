#include "analyze/job/collective_message.h"

#include <algorithm>
#include <vector>

#include "analyze/job/collective_names.h"
#include "base/number.h"
#include "trace/element_types.h"

namespace spotter::analyze {
namespace {

std::optional<i64> product(std::optional<i64> a, i64 b) {
  i64 all = 0;
  if (!a || *a < 0 || b < 0 || __builtin_mul_overflow(*a, b, &all)) return std::nullopt;
  return all;
}

std::optional<i64> sum(std::optional<i64> a, std::optional<i64> b) {
  i64 all = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &all)) return std::nullopt;
  return all;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// The elements of a JSON list, as they are written; of anything else none.
std::vector<std::string_view> elements_of(std::string_view list) {
  list = trimmed(list);
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') return {};
  list = trimmed(list.substr(1, list.size() - 2));
  std::vector<std::string_view> elements;
  if (list.empty()) return elements;
  i64 depth = 0;
  bool in_text = false;
  size_t begin = 0;
  for (size_t at = 0; at < list.size(); ++at) {
    const char c = list[at];
    if (in_text && c == '\\') ++at;
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c != ',' || depth > 0) continue;
    elements.push_back(trimmed(list.substr(begin, at - begin)));
    begin = at + 1;
  }
  elements.push_back(trimmed(list.substr(begin)));
  return depth == 0 ? elements : std::vector<std::string_view>();
}

// Of a tensor with these sizes; a scalar has none. nullopt: it is no single tensor.
std::optional<i64> element_count(std::string_view sizes) {
  if (!sizes.starts_with('[')) return std::nullopt;
  std::optional<i64> count = 1;
  for (const std::string_view size : elements_of(sizes)) {
    const std::optional<i64> number = number_in<i64>(size);
    count = number ? product(count, *number) : std::nullopt;
  }
  return count;
}

struct Input {
  std::string_view type;  // as the trace has it; no tensors are "Scalar", "TensorList", "" ...
  std::optional<i64> elements;
};

std::vector<Input> inputs_of(const Trace& trace, EventId e) {
  std::vector<Input> inputs;
  if (e == kNone) return inputs;
  const std::vector<std::string_view> dims = elements_of(trace.text(e, Arg::input_dims).value_or("")),
                                      types = elements_of(trace.text(e, Arg::input_type).value_or(""));
  for (size_t i = 0; i < std::min(dims.size(), types.size()); ++i) {
    std::string_view type = types[i];
    if (type.size() >= 2 && type.front() == '"' && type.back() == '"') type = type.substr(1, type.size() - 2);
    inputs.push_back({type, element_count(dims[i])});
  }
  return inputs;
}

bool is_tensor(const Input& input) {
  for (const std::string_view other : {"", "Scalar", "ScalarList", "TensorList", "GenericList"})
    if (input.type == other) return false;
  return true;
}

void set_type(CollectiveMessage& message, std::string_view text) {
  const trace::ElementType* type = trace::element_type(text);
  const std::string_view name = type ? std::string_view(type->name) : text;
  message.is_of_unknown_type |= !type;
  if (message.type.empty())
    message.type = name;
  else if (message.type != name)
    message.type = "mixed";
}

std::optional<i64> bytes_of(const Input& input) {
  const trace::ElementType* type = trace::element_type(input.type);
  return type ? product(input.elements, type->bytes) : std::nullopt;
}

// What collectives say themselves, since PyTorch 2.2. False where they do not.
bool take_told(const Trace& trace, EventId e, CollectiveMessage& message) {
  if (e == kNone) return false;
  const std::optional<i64> in = trace.integer(e, Arg::in_msg_nelems),
                           out = trace.integer(e, Arg::out_msg_nelems);
  const std::string_view text = trace.text(e, Arg::dtype).value_or(std::string_view());
  if (!in || text.empty()) return false;
  set_type(message, text);
  message.ranks = std::max<i64>(trace.integer(e, Arg::group_size).value_or(0), 0);
  if (const trace::ElementType* type = trace::element_type(text)) {
    message.in_bytes = product(in, type->bytes);
    message.out_bytes = product(out, type->bytes);
  }
  return true;
}

// An annotation has the tensors that are put in; several are one message.
bool take_inputs(const Trace& trace, EventId e, CollectiveMessage& message) {
  std::optional<i64> bytes = 0;
  bool has_any = false;
  for (const Input& input : inputs_of(trace, e)) {
    if (!is_tensor(input)) continue;
    has_any = true;
    set_type(message, input.type);
    bytes = sum(bytes, bytes_of(input));
  }
  if (has_any) message.in_bytes = bytes;
  return has_any;
}

// c10d::_allgather_base_, _reduce_scatter_base_ and alltoall_base_ have the output first, then the input.
void take_output(const Trace& trace, EventId op, CollectiveMessage& message) {
  if (op == kNone || trace.name_of(op).find("_base_") == std::string_view::npos) return;
  const std::vector<Input> inputs = inputs_of(trace, op);
  if (inputs.size() >= 2 && is_tensor(inputs[0]) && is_tensor(inputs[1]))
    message.out_bytes = bytes_of(inputs[0]);
}

bool is_of_several(const Trace& trace, EventId annotation) {
  return annotation != kNone && trace.name_of(annotation).ends_with(":coalesced");
}

// Where out is in from all ranks, or the other way round, the two tell how many there are.
i64 ranks_by_sizes(const CollectiveMessage& message, std::string_view operation) {
  i64 more = message.out_bytes.value_or(0), less = message.in_bytes.value_or(0);
  if (scatters(operation)) std::swap(more, less);
  const bool can_tell = (gathers(operation) || scatters(operation)) && less > 0 && more % less == 0;
  return can_tell ? more / less : 0;
}

}  // namespace

CollectiveMessage message_of(const Trace& trace, const CollectiveCall& call) {
  CollectiveMessage message;
  if (!take_told(trace, call.kernel, message) && !take_told(trace, call.record, message) &&
      !is_of_several(trace, call.annotation)) {
    if (!take_inputs(trace, call.annotation, message)) take_inputs(trace, call.record, message);
    take_output(trace, call.op, message);
  }
  if (message.ranks == 0) message.ranks = ranks_by_sizes(message, operation_of(call.name));
  return message;
}

std::optional<i64> measured_bytes(const CollectiveMessage& message, std::string_view operation) {
  const std::optional<i64> in = message.in_bytes, out = message.out_bytes;
  if (in && out) return std::max(*in, *out);
  if (!in) return out;
  if (!gathers(operation)) return in;
  return message.ranks > 0 ? product(in, message.ranks) : std::nullopt;
}

}  // namespace spotter::analyze
