// Errors as Python's exceptions: those of spotter/errors.py, by their codes.
#pragma once
#include <utility>

#include "base/result.h"

namespace spotter::python {

[[noreturn]] void raise(const Error& error);

template <class T>
T value_of(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace spotter::python
