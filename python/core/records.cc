// The analyses as records: what there is to ask for, and what its numbers mean.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "analyze/compat.h"
#include "analyze/list.h"
#include "core.h"
#include "diagnose/diagnose.h"
#include "values.h"

namespace spotter::python {

namespace {

nb::list params_of(const Analysis& analysis) {
  nb::list params;
  for (const Param& param : analysis.params) {
    const nb::object fallback = param.is_text() ? text_of(std::get<const char*>(param.fallback))
                                                : nb::object(nb::int_(std::get<i64>(param.fallback)));
    params.append(nb::make_tuple(param.name, fallback, param.help));
  }
  return params;
}

// (name, summary, doc, on_request, params, columns) of each.
nb::list analyses() {
  nb::list all;
  for (const Analysis* a : analyze::all_analyses())
    all.append(
        nb::make_tuple(a->name, a->summary, a->doc, a->on_request, params_of(*a), fields_of(a->columns)));
  all.append(nb::make_tuple(diagnose::kFindings, "What stands out, with evidence and remedy.",
                            diagnose::findings_definition(), true, nb::list(),
                            fields_of(diagnose::finding_columns())));
  return all;
}

}  // namespace

void bind_records(nb::module_& module) { module.def("analyses", analyses); }

}  // namespace spotter::python
