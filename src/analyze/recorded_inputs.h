// Recorded inputs: what an operator was called with, as record_shapes=True writes it: "Input Dims", "Input
// type" and, since PyTorch 2.1, "Concrete Inputs", each a JSON list with a member per argument of the
// operator's schema.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/facts/device_peaks.h"
#include "trace/trace.h"

namespace spotter::analyze {

// An element's size as its type is written ("c10::BFloat16"); 0 for what is no type of an element.
i64 element_bytes(std::string_view type);
bool is_complex(std::string_view type);
i64 numbers_in_element(std::string_view type);  // 2 of a packed type, else 1
// That a product of matrices of this type is computed in, without TF32 (which the type does not tell).
std::optional<trace::Precision> precision_of(std::string_view type);

struct RecordedInput {
  std::string type;                     // "float", "Scalar", "ScalarList", "TensorList"; empty: not given
  std::vector<i64> dims;                // of a tensor, each 0 or more; a list of tensors has none here
  std::optional<std::string> concrete;  // value of what is no tensor: "True", "[1, 1]"; nullopt: not recorded
  bool is_list = false;                 // of tensors, by its dims

  bool is_tensor() const { return !is_list && (!dims.empty() || element_bytes(type) > 0); }
  i64 elements() const;              // saturated
  std::optional<i64> bytes() const;  // nullopt: of an unknown type
  std::optional<bool> flag() const;  // "True", "False"
  std::optional<i64> integer() const;
  std::optional<std::vector<i64>> list() const;    // "[1, 1]"
  std::optional<std::vector<bool>> flags() const;  // "[True, False]"
};

using RecordedInputs = std::vector<RecordedInput>;

// nullopt where the texts are not such lists. `concrete` may be absent; of a longer list the rest is left
// out.
std::optional<RecordedInputs> parse_recorded_inputs(std::string_view dims, std::string_view types,
                                                    std::optional<std::string_view> concrete);

// What trace analyses read for it.
inline const ArgSet kRecordedInputArgs = {Arg::input_dims, Arg::input_type, Arg::concrete_inputs};

}  // namespace spotter::analyze
