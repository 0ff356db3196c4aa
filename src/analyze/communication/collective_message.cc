#include "analyze/communication/collective_message.h"

#include <algorithm>
#include <limits>

#include "analyze/communication/collective_names.h"
#include "analyze/recorded_inputs.h"
#include "trace/facts/element_types.h"

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

// As far as they were recorded.
RecordedInputs inputs_of(const Trace& trace, EventId e) {
  if (e == kNone) return {};
  return parse_recorded_inputs(trace.text(e, Arg::input_dims).value_or(""),
                               trace.text(e, Arg::input_type).value_or(""), std::nullopt)
      .value_or(RecordedInputs());
}

// Also of an element that is not known here.
bool is_one_tensor(const RecordedInput& input) {
  for (const std::string_view other : {"", "Scalar", "ScalarList", "TensorList", "GenericList"})
    if (input.type == other) return false;
  return !input.is_list;
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

// nullopt also where that is more than fits.
std::optional<i64> bytes_of(const RecordedInput& input) {
  const std::optional<i64> bytes = input.bytes();
  return bytes == std::numeric_limits<i64>::max() ? std::nullopt : bytes;
}

// What collectives say themselves, since PyTorch 2.2. False where they do not.
bool take_told(const Trace& trace, EventId e, CollectiveMessage& message) {
  if (e == kNone) return false;
  const std::optional<i64> in = trace.integer(e, Arg::in_msg_nelems),
                           out = trace.integer(e, Arg::out_msg_nelems);
  const std::string_view text = trace.text(e, Arg::dtype).value_or(std::string_view());
  if (!in || text.empty()) return false;
  set_type(message, text);
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
  for (const RecordedInput& input : inputs_of(trace, e)) {
    if (!is_one_tensor(input)) continue;
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
  const RecordedInputs inputs = inputs_of(trace, op);
  if (inputs.size() >= 2 && is_one_tensor(inputs[0]) && is_one_tensor(inputs[1]))
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
  message.ranks = call.group_size;
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
