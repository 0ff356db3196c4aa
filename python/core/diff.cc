// Two jobs compared.
#include "diagnose/diff.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "beat.h"
#include "core.h"
#include "held_table.h"
#include "job.h"
#include "read/open.h"
#include "requests.h"
#include "values.h"

namespace spotter::python {

namespace {

// (table, causes, notes).
nb::tuple diff(const HeldJob& before, const HeldJob& after, const Part& part, bool by_rank, bool by_function,
               bool by_path, bool by_shapes, nb::callable tell) {
  diagnose::DiffRequest request{.run = request_of(part),
                                .how = {.by_rank = by_rank, .by_function = by_function},
                                .by_path = by_path,
                                .by_shapes = by_shapes,
                                .causes = true};
  Beat beat(std::move(tell));
  request.run.on_progress = beat.on_progress();
  request.run.cancelled = beat.cancelled();
  diagnose::Diff found = beat.run<diagnose::Diff>(
      [&] { return diagnose::diff(before.job, after.job, std::move(request), read::load); });
  nb::list causes;
  for (const std::string& cause : found.causes) causes.append(text_of(cause));
  found.table.notes = found.notes;
  return nb::make_tuple(nb::cast(HeldTable(std::move(found.table))), causes, notes_of(found.notes));
}

}  // namespace

void bind_diff(nb::module_& module) {
  module.def("diff", diff, nb::arg("before"), nb::arg("after"), nb::arg("part"), nb::arg("by_rank"),
             nb::arg("by_function"), nb::arg("by_path"), nb::arg("by_shapes"), nb::arg("tell"));
}

}  // namespace spotter::python
