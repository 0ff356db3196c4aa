#include "base/version.h"
#include "core.h"
#include "unlocked.h"

NB_MODULE(_core, module) {
  module.attr("version") = spotter::kVersion;
  spotter::python::wait_at_exit();
  spotter::python::bind_tables(module);
  spotter::python::bind_records(module);
  spotter::python::bind_runs(module);
  spotter::python::bind_shares(module);
  spotter::python::bind_diff(module);
  spotter::python::bind_export(module);
  spotter::python::bind_hta(module);
  spotter::python::bind_trace(module);
}
