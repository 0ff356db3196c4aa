// What an operator computes and moves, from its recorded inputs: a function for each kind of work, for the
// list of flop_formulas.cc. nullopt where the inputs do not tell.
#pragma once
#include <array>
#include <optional>
#include <string>

#include "analyze/recorded_inputs.h"

namespace spotter::analyze {

struct OperatorWork {
  i64 flops = 0;             // saturated
  std::optional<i64> bytes;  // nullopt: of a type whose size is not known
  std::string type;          // of the elements that it computes with
};

namespace work {

// Of one operator: places of its arguments (-1: none), and other numbers. What they are is told at each
// function, in braces.
using At = std::array<i8, 6>;
using Work = std::optional<OperatorWork>;

enum Layout : i8 {
  kHeadsFirst,
  kSequenceFirst
};  // [batch, heads, sequence, width] or the middle two exchanged
enum Mask : i8 {
  kTopLeft,
  kBottomRight,
  kNumbered
};  // where a causal mask lies; numbered: 0 none, 1, 2 these

// Matrices, or as many of them in each: {left, right, type of the result: -1 if it is the left one's}. What
// lies before the left one is added.
Work matrix_product(const RecordedInputs& in, const At& at);

// Rows of the left one meet the matrix of their group on the right, or groups of the summed axis each other:
// {left, right}.
Work grouped_product(const RecordedInputs& in, const At& at);

// {matrix or vector, vector}
Work vector_product(const RecordedInputs& in, const At& at);

// torch.matmul: {}
Work matmul(const RecordedInputs& in, const At& at);

// torch.nn.functional.linear: {}
Work linear(const RecordedInputs& in, const At& at);

// aten::convolution and those with its first nine arguments: {}
Work convolution(const RecordedInputs& in, const At& at);

// The gradients of the input and of the weight each take what the forward pass took: {transposed, output
// mask}
Work convolution_backward(const RecordedInputs& in, const At& at);

// Scores of each pair of a query and a key, then the values: two products. {query, causal, Mask, Layout,
// lengths of sequences, window}
Work attention(const RecordedInputs& in, const At& at);

// Five products: the scores again, the gradients of the weights and of the values, of the queries and of the
// keys: three of them as wide as a query, two as a value. {the same}
Work attention_backward(const RecordedInputs& in, const At& at);

// {tensor, flops of an element, weight and bias (one more each where they are), training: where told to be
// False the mean and the deviation are known, and an element is scaled and shifted}
Work normalisation(const RecordedInputs& in, const At& at);

// {tensor, flops of an element for its own gradient, for the weight's, for the bias's, output mask: those
// that are wanted; all where it does not tell}
Work normalisation_backward(const RecordedInputs& in, const At& at);

// {tensor, flops of an element}
Work each_element(const RecordedInputs& in, const At& at);

// {tensors at the beginning, flops of an element of the result}
Work element_wise(const RecordedInputs& in, const At& at);

}  // namespace work
}  // namespace spotter::analyze
