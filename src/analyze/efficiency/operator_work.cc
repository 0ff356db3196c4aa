#include "analyze/efficiency/operator_work.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <tuple>
#include <vector>

#include "base/saturated.h"

namespace spotter::analyze::work {
namespace {

using Dims = std::vector<i64>;

i64 product(std::initializer_list<i64> factors) {
  i64 all = 1;
  for (const i64 factor : factors) all = multiply_saturated(all, factor);
  return all;
}

i64 product(std::span<const i64> factors) {
  i64 all = 1;
  for (const i64 factor : factors) all = multiply_saturated(all, factor);
  return all;
}

// nullptr for a place that is none (-1), or that the call has no argument at.
const RecordedInput* input_at(const RecordedInputs& in, int place) {
  return place >= 0 && static_cast<size_t>(place) < in.size() ? &in[static_cast<size_t>(place)] : nullptr;
}

const RecordedInput* tensor_at(const RecordedInputs& in, int place) {
  const RecordedInput* input = input_at(in, place);
  return input && input->is_tensor() ? input : nullptr;
}

// Adds up bytes, as long as all are known.
class Bytes {
 public:
  Bytes& add(std::optional<i64> bytes, i64 times = 1) {
    if (sum_ && bytes)
      sum_ = add_saturated(*sum_, multiply_saturated(*bytes, times));
    else
      sum_.reset();
    return *this;
  }
  Bytes& add(const RecordedInput* tensor) { return tensor ? add(tensor->bytes()) : *this; }
  Bytes& add(i64 elements, std::string_view type) {
    const i64 size = element_bytes(type);
    return add(size > 0 ? std::optional(multiply_saturated(elements, size)) : std::nullopt);
  }
  std::optional<i64> sum() const { return sum_; }

 private:
  std::optional<i64> sum_ = 0;
};

// Each of the multiplications of a product with the addition behind it; complex ones are four of each. Of
// packed numbers the summed axis is as many times longer.
i64 product_flops(std::string_view type, std::initializer_list<i64> factors) {
  return multiply_saturated((is_complex(type) ? 8 : 2) * numbers_in_element(type), product(factors));
}

// What torch.dtype's number, as arguments hold it, is written as otherwise.
std::string_view type_numbered(i64 number) {
  constexpr std::pair<i64, std::string_view> kTypes[] = {
      {5, "c10::Half"}, {6, "float"}, {15, "c10::BFloat16"}};
  for (const auto& [n, type] : kTypes)
    if (n == number) return type;
  return {};
}

// The shape that both become; nullopt where they do not fit.
std::optional<Dims> broadcast(std::span<const i64> a, std::span<const i64> b) {
  Dims out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {  // from the last axis
    const i64 x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

// One number for each axis; one for all may stand for them.
std::optional<Dims> per_axis(const RecordedInput* input, size_t axes) {
  std::optional<Dims> numbers = input ? input->list() : std::nullopt;
  if (numbers && numbers->size() == 1) numbers->resize(axes, numbers->front());
  return numbers && numbers->size() == axes ? numbers : std::nullopt;
}

// Axes of what a convolution makes; nullopt where it makes nothing, or the numbers are no convolution's.
std::optional<Dims> convolved(const RecordedInputs& in, const Dims& x, const Dims& w, bool transposed) {
  const size_t axes = x.size() - 2;
  const auto stride = per_axis(input_at(in, 3), axes), padding = per_axis(input_at(in, 4), axes),
             dilation = per_axis(input_at(in, 5), axes), extra = per_axis(input_at(in, 7), axes);
  if (!stride || !padding || !dilation || (transposed && !extra)) return std::nullopt;
  constexpr i64 kMost = i64{1} << 30;  // products of two stay whole
  const auto in_range = [&](i64 least, i64 number) { return number >= least && number <= kMost; };
  Dims out;
  for (size_t i = 0; i < axes; ++i) {
    if (transposed && !in_range(0, (*extra)[i])) return std::nullopt;
    const i64 s = (*stride)[i], p = (*padding)[i], d = (*dilation)[i], length = x[i + 2], width = w[i + 2];
    if (!in_range(1, s) || !in_range(0, p) || !in_range(1, d) || !in_range(1, length) || !in_range(1, width))
      return std::nullopt;
    const i64 reach = d * (width - 1);
    const i64 left = length + 2 * p - reach - 1;
    if (transposed)
      out.push_back((length - 1) * s - 2 * p + reach + (*extra)[i] + 1);
    else
      out.push_back(left >= 0 ? left / s + 1 : 0);
    if (out.back() < 1) return std::nullopt;
  }
  return out;
}

// Each element of the weight meets the batch and each place of one of the two: of what comes out, or of what
// goes in where the convolution is transposed. So groups are counted: the weight has the channels of one.
i64 convolution_flops(i64 batch, std::span<const i64> places, const RecordedInput& w) {
  return product_flops(w.type, {batch, product(places), w.elements()});
}

bool are_convolved(const RecordedInput* x, const RecordedInput* w) {
  return x && w && x->dims.size() >= 3 && x->dims.size() == w->dims.size();
}

struct Attention {
  i64 batch, heads, queries, keys, width, value_width;
  const RecordedInput *q, *k, *v;
};

// {query, causal, mask, layout, lengths of sequences or -1, window or -1}
std::optional<Attention> attention_of(const RecordedInputs& in, const At& at) {
  const RecordedInput *q = tensor_at(in, at[0]), *k = tensor_at(in, at[0] + 1), *v = tensor_at(in, at[0] + 2);
  if (!q || !k || !v || q->dims.size() != 4 || k->dims.size() != 4 || v->dims.size() != 4)
    return std::nullopt;
  // Of sequences of several lengths in one the shapes do not tell the lengths, and of a window not its place.
  if (tensor_at(in, at[4])) return std::nullopt;
  for (int i = 0; at[5] >= 0 && i < 2; ++i) {
    const RecordedInput* window = input_at(in, at[5] + i);
    if (window && window->integer().value_or(-1) != -1) return std::nullopt;
  }
  const size_t head = at[3] == kHeadsFirst ? 1 : 2, sequence = 3 - head;
  const Attention a = {
      q->dims[0], q->dims[head], q->dims[sequence], k->dims[sequence], q->dims[3], v->dims[3], q, k, v};
  const i64 key_heads = k->dims[head];
  const bool fit = k->dims[0] == a.batch && v->dims[0] == a.batch && v->dims[head] == key_heads &&
                   v->dims[sequence] == a.keys && k->dims[3] == a.width && key_heads > 0 &&
                   a.heads % key_heads == 0;
  return fit ? std::optional(a) : std::nullopt;
}

// 1 + ... + n, saturated.
i64 sum_to(i64 n) { return n % 2 == 0 ? multiply_saturated(n / 2, n + 1) : multiply_saturated(n, n / 2 + 1); }

// Of a query and a key that it looks at. A causal mask that is told leaves, of a square, the lower half with
// the diagonal.
i64 pairs_of(const Attention& a, const RecordedInputs& in, const At& at) {
  const RecordedInput* told = input_at(in, at[1]);
  Mask mask = static_cast<Mask>(at[2]);
  bool causal = told && told->flag().value_or(false);
  if (mask == kNumbered) {
    const i64 number = told ? told->integer().value_or(0) : 0;
    causal = number == 1 || number == 2;
    mask = number == 2 ? kBottomRight : kTopLeft;
  }
  constexpr i64 kMost = i64{1} << 62;
  if (!causal || a.queries >= kMost || a.keys >= kMost) return multiply_saturated(a.queries, a.keys);
  const i64 least = std::min(a.queries, a.keys);
  if (a.queries > a.keys && mask == kTopLeft)
    return add_saturated(sum_to(least), multiply_saturated(a.queries - a.keys, a.keys));
  if (a.queries < a.keys && mask == kBottomRight)
    return add_saturated(sum_to(least), multiply_saturated(a.queries, a.keys - a.queries));
  return sum_to(least);
}

// What each element of the tensor takes; all tensors are read, and one like it is written.
Work per_element(const RecordedInputs& in, int place, i64 flops) {
  const RecordedInput* x = tensor_at(in, place);
  if (!x) return std::nullopt;
  Bytes bytes;
  for (const RecordedInput& input : in)
    if (input.is_tensor()) bytes.add(&input);
  bytes.add(x);
  return OperatorWork{multiply_saturated(x->elements(), flops), bytes.sum(), x->type};
}

// Whose type the result of several has: that of tensors before that of single numbers, then the widest kind,
// then the largest.
const RecordedInput* promoted(const RecordedInput* a, const RecordedInput* b) {
  const auto rank = [](const RecordedInput& input) {
    return std::tuple(!input.dims.empty(), precision_of(input.type).has_value(), is_complex(input.type),
                      element_bytes(input.type));
  };
  return !a || rank(*b) > rank(*a) ? b : a;
}

}  // namespace

Work matrix_product(const RecordedInputs& in, const At& at) {
  const RecordedInput *a = tensor_at(in, at[0]), *b = tensor_at(in, at[1]);
  if (!a || !b || a->dims.size() != b->dims.size()) return std::nullopt;
  const size_t rank = a->dims.size();
  if (rank != 2 && rank != 3) return std::nullopt;
  const i64 batch = rank == 3 ? a->dims[0] : 1;
  const i64 m = a->dims[rank - 2], k = a->dims[rank - 1], n = b->dims[rank - 1];
  if (b->dims[rank - 2] != k || (rank == 3 && b->dims[0] != batch)) return std::nullopt;
  const RecordedInput* type = input_at(in, at[2]);
  const std::string_view result = type && type->integer() ? type_numbered(*type->integer()) : a->type;
  Bytes bytes;
  bytes.add(a).add(b).add(product({batch, m, n}), result);
  if (at[0] > 0) bytes.add(&in[0]);
  return OperatorWork{product_flops(a->type, {batch, m, n, k}), bytes.sum(), a->type};
}

Work grouped_product(const RecordedInputs& in, const At& at) {
  const RecordedInput *a = tensor_at(in, at[0]), *b = tensor_at(in, at[1]);
  if (!a || !b) return std::nullopt;
  const size_t left = a->dims.size(), right = b->dims.size();
  if (left < 2 || left > 3 || right < 2 || right > 3) return std::nullopt;
  const i64 k = a->dims[left - 1], n = b->dims[right - 1];
  if (b->dims[right - 2] != k) return std::nullopt;
  const i64 rows = left == 3 && right == 3 ? product({a->dims[0], a->dims[1]}) : a->dims[left - 2];
  return OperatorWork{product_flops(a->type, {rows, n, k}), std::nullopt, a->type};
}

Work vector_product(const RecordedInputs& in, const At& at) {
  const RecordedInput *a = tensor_at(in, at[0]), *b = tensor_at(in, at[1]);
  if (!a || !b || b->dims.size() != 1 || a->dims.empty() || a->dims.back() != b->dims[0]) return std::nullopt;
  Bytes bytes;
  bytes.add(a).add(b).add(a->dims.size() == 2 ? a->dims[0] : 1, a->type);
  if (at[0] > 0) bytes.add(&in[0]);
  return OperatorWork{product_flops(a->type, {a->elements()}), bytes.sum(), a->type};
}

Work matmul(const RecordedInputs& in, const At&) {
  const RecordedInput *a = tensor_at(in, 0), *b = tensor_at(in, 1);
  if (!a || !b || a->dims.empty() || b->dims.empty()) return std::nullopt;
  Dims left = a->dims, right = b->dims;
  if (left.size() == 1) left.insert(left.begin(), 1);
  if (right.size() == 1) right.push_back(1);
  const i64 m = left.end()[-2], k = left.end()[-1], n = right.end()[-1];
  if (right.end()[-2] != k) return std::nullopt;
  const auto batch =
      broadcast(std::span(left).first(left.size() - 2), std::span(right).first(right.size() - 2));
  if (!batch) return std::nullopt;
  const i64 matrices = product(*batch);
  Bytes bytes;
  bytes.add(a).add(b).add(product({matrices, m, n}), a->type);
  return OperatorWork{product_flops(a->type, {matrices, m, n, k}), bytes.sum(), a->type};
}

Work linear(const RecordedInputs& in, const At&) {
  const RecordedInput *x = tensor_at(in, 0), *w = tensor_at(in, 1);
  if (!x || !w || x->dims.empty() || w->dims.size() != 2 || x->dims.back() != w->dims[1]) return std::nullopt;
  const i64 rows = product(std::span(x->dims).first(x->dims.size() - 1)), n = w->dims[0], k = w->dims[1];
  Bytes bytes;
  bytes.add(x).add(w).add(tensor_at(in, 2)).add(product({rows, n}), x->type);
  return OperatorWork{product_flops(x->type, {rows, n, k}), bytes.sum(), x->type};
}

Work convolution(const RecordedInputs& in, const At&) {
  const RecordedInput *x = tensor_at(in, 0), *w = tensor_at(in, 1), *flag = input_at(in, 6);
  if (!are_convolved(x, w) || !flag || !flag->flag()) return std::nullopt;
  const bool transposed = *flag->flag();
  const std::optional<Dims> out = convolved(in, x->dims, w->dims, transposed);
  const RecordedInput* groups = input_at(in, 8);
  if (!out || !groups || !groups->integer()) return std::nullopt;
  const i64 channels = transposed ? multiply_saturated(w->dims[1], *groups->integer()) : w->dims[0];
  const i64 flops = convolution_flops(
      x->dims[0], transposed ? std::span(x->dims).subspan(2) : std::span<const i64>(*out), *w);
  Bytes bytes;
  bytes.add(x).add(w).add(tensor_at(in, 2)).add(product({x->dims[0], channels, product(*out)}), x->type);
  return OperatorWork{flops, bytes.sum(), w->type};
}

Work convolution_backward(const RecordedInputs& in, const At& at) {
  const RecordedInput *gradient = tensor_at(in, 0), *x = tensor_at(in, 1), *w = tensor_at(in, 2);
  const RecordedInput *flag = input_at(in, at[0]), *mask = input_at(in, at[1]);
  if (!are_convolved(x, w) || !gradient || gradient->dims.size() != x->dims.size()) return std::nullopt;
  const auto wanted = mask ? mask->flags() : std::nullopt;
  if (!flag || !flag->flag() || !wanted || wanted->size() != 3) return std::nullopt;
  const bool of_input = (*wanted)[0], of_weight = (*wanted)[1];
  const Dims& places = *flag->flag() ? x->dims : gradient->dims;
  const i64 forward = convolution_flops(x->dims[0], std::span(places).subspan(2), *w);
  Bytes bytes;
  bytes.add(gradient);
  if (of_input) bytes.add(w).add(x);
  if (of_weight) bytes.add(x).add(w);
  return OperatorWork{multiply_saturated(forward, i64{of_input} + of_weight), bytes.sum(), w->type};
}

Work attention(const RecordedInputs& in, const At& at) {
  const std::optional<Attention> a = attention_of(in, at);
  if (!a) return std::nullopt;
  const i64 widths = add_saturated(a->width, a->value_width);
  Bytes bytes;
  bytes.add(a->q).add(a->k).add(a->v).add(product({a->batch, a->heads, a->queries, a->value_width}),
                                          a->q->type);
  return OperatorWork{product_flops(a->q->type, {a->batch, a->heads, pairs_of(*a, in, at), widths}),
                      bytes.sum(), a->q->type};
}

Work attention_backward(const RecordedInputs& in, const At& at) {
  const std::optional<Attention> a = attention_of(in, at);
  if (!a) return std::nullopt;
  const i64 widths = add_saturated(multiply_saturated(3, a->width), multiply_saturated(2, a->value_width));
  const i64 result = product({a->batch, a->heads, a->queries, a->value_width});
  Bytes bytes;
  bytes.add(a->q).add(a->k).add(a->v).add(a->q).add(a->k).add(a->v);
  bytes.add(result, a->q->type).add(result, a->q->type);
  return OperatorWork{product_flops(a->q->type, {a->batch, a->heads, pairs_of(*a, in, at), widths}),
                      bytes.sum(), a->q->type};
}

Work normalisation(const RecordedInputs& in, const At& at) {
  const RecordedInput* training = input_at(in, at[4]);
  constexpr i64 kScaleAndShift = 2;
  if (training && training->flag() == false) return per_element(in, at[0], kScaleAndShift);
  return per_element(in, at[0],
                     at[1] + i64{tensor_at(in, at[2]) != nullptr} + (tensor_at(in, at[3]) != nullptr));
}

Work normalisation_backward(const RecordedInputs& in, const At& at) {
  const RecordedInput* mask = input_at(in, at[4]);
  auto wanted = mask ? mask->flags() : std::nullopt;
  if (!wanted || wanted->size() != 3) wanted = {true, true, true};
  i64 flops = 0;
  for (size_t i = 0; i < wanted->size(); ++i) flops += (*wanted)[i] ? at[i + 1] : 0;
  return per_element(in, at[0], flops);
}

Work each_element(const RecordedInputs& in, const At& at) { return per_element(in, at[0], at[1]); }

Work element_wise(const RecordedInputs& in, const At& at) {
  const RecordedInput* type = nullptr;
  bool any_real = false;
  Dims shape;
  Bytes bytes;
  for (int i = 0; i < at[0]; ++i) {
    const RecordedInput* x = tensor_at(in, i);
    if (!x) continue;
    const std::optional<Dims> both = broadcast(shape, x->dims);
    if (!both) return std::nullopt;
    shape = *both;
    bytes.add(x);
    type = promoted(type, x);
    any_real = any_real || precision_of(x->type);
  }
  if (!type) return std::nullopt;
  const i64 elements = product(shape);
  // Whole numbers become real ones next to a real number, but of which type is not recorded.
  if (any_real && !precision_of(type->type))
    bytes.add(std::nullopt);
  else
    bytes.add(elements, type->type);
  return OperatorWork{multiply_saturated(elements, at[1]), bytes.sum(), type->type};
}

}  // namespace spotter::analyze::work
