// Element types of tensors by any name that a trace gives them: collectives tell those of c10::ScalarType
// ("BFloat16"), "Input type" those of C++ as compilers spell them ("c10::BFloat16", "long", "long int").
#pragma once
#include <string_view>

#include "base/types.h"

namespace spotter::trace {

struct ElementType {
  const char* name;  // of torch.dtype: "bfloat16"
  i64 bytes;         // of an element; those of less than a byte lie in bytes, of which one is an element
};

// nullptr: not known.
const ElementType* element_type(std::string_view text);

}  // namespace spotter::trace
