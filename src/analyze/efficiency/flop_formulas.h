// Formulas of what operators compute and move, from the shapes that they were called with. flop_formulas.cc
// holds the one list: an operator more is a line more.
//
// A flop is an addition or a multiplication of real numbers; a function such as exp counts as one. Bytes are
// the least that must move: each tensor that is read once, and each that is written once.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>

#include "analyze/recorded_inputs.h"

namespace spotter::analyze {

struct OperatorWork {
  i64 flops = 0;             // saturated
  std::optional<i64> bytes;  // nullopt: of a type whose size is not known
  std::string type;          // of the elements that it computes with
};

// What matrix units can do, and what they cannot.
enum class WorkUnit : u8 { matrix, vector };

struct FlopFormula {
  const char* op;
  WorkUnit unit;
  // nullopt where the inputs do not tell it. `at`: places of arguments and other numbers; see the list.
  std::optional<OperatorWork> (*work)(const RecordedInputs& inputs, const std::array<i8, 6>& at);
  std::array<i8, 6> at;

  std::optional<OperatorWork> of(const RecordedInputs& inputs) const { return work(inputs, at); }
};

std::span<const FlopFormula> flop_formulas();
const FlopFormula* find_flop_formula(std::string_view op);  // nullptr if there is none

}  // namespace spotter::analyze
