// The module `_core`: what the package spotter is made of in Python (python/spotter) and no user calls. It
// takes and gives plain values, and tables; names, defaults and documentation are in Python.
#pragma once
#include <nanobind/nanobind.h>

namespace spotter::python {

namespace nb = nanobind;

void bind_tables(nb::module_& module);
void bind_records(nb::module_& module);
void bind_runs(nb::module_& module);
void bind_shares(nb::module_& module);
void bind_diff(nb::module_& module);
void bind_export(nb::module_& module);
void bind_hta(nb::module_& module);
void bind_trace(nb::module_& module);

}  // namespace spotter::python
