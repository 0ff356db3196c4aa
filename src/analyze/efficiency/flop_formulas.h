// Formulas of what operators compute and move, from the shapes that they were called with. flop_formulas.cc
// holds the one list: an operator more is a line more.
//
// A flop is an addition or a multiplication of real numbers; a function such as exp counts as one. Bytes are
// the least that must move: each tensor that is read once, and each that is written once.
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "analyze/efficiency/operator_work.h"

namespace spotter::analyze {

// What matrix units can do, and what they cannot.
enum class WorkUnit : u8 { matrix, vector };

struct FlopFormula {
  const char* op;
  WorkUnit unit;
  work::Work (*work_of)(const RecordedInputs& inputs, const work::At& at);
  work::At at;

  // nullopt where the inputs do not tell it.
  std::optional<OperatorWork> of(const RecordedInputs& inputs) const { return work_of(inputs, at); }
};

std::span<const FlopFormula> flop_formulas();
const FlopFormula* find_flop_formula(std::string_view op);  // nullptr if there is none

}  // namespace spotter::analyze
