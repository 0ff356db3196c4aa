// Gates of a comparison: what must not have grown, and by how much it may.
#pragma once
#include <string>

#include "diagnose/compare.h"

namespace spotter::app {

// QUANTITY>AMOUNT, with an amount in percent of before, or a time (memory: a size).
struct Gate {
  std::string word;  // as it was written
  diagnose::Quantity quantity = diagnose::Quantity::step;
  std::optional<double> share = {};  // else:
  i64 amount = 0;                    // ns or bytes
};

// "step>5%", "communication>2ms", "memory>1G". Errors: invalid.
Result<Gate> parse_gate(const std::string& word);

// Whether it has grown by more than that. Errors: not_found (a job does not tell).
Result<bool> is_exceeded(const Gate& gate, const diagnose::Diagnosis& before,
                         const diagnose::Diagnosis& after);

}  // namespace spotter::app
