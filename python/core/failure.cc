#include "failure.h"

#include <nanobind/nanobind.h>

#include "core.h"

namespace spotter::python {

void raise(const Error& error) {
  const nb::object type = nb::module_::import_("spotter.errors").attr("BY_CODE")[code_name(error.code)];
  const nb::object message = nb::steal(
      PyUnicode_DecodeUTF8(error.message.data(), static_cast<Py_ssize_t>(error.message.size()), "replace"));
  PyErr_SetObject(type.ptr(), message.ptr());
  throw nb::python_error();
}

}  // namespace spotter::python
