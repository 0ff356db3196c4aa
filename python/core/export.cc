// Traces as one file for a timeline viewer.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "analyze/critical_path/path_finder.h"
#include "beat.h"
#include "core.h"
#include "export/critical_path_flows.h"
#include "export/export_job.h"
#include "job.h"
#include "read/open.h"
#include "requests.h"
#include "values.h"

namespace spotter::python {

namespace {

// The notes.
nb::list export_job(const HeldJob& held, const nb::bytes& output, const Part& part, std::optional<Ns> from,
                    std::optional<Ns> to, Ns bucket, bool critical_path, nb::callable tell) {
  const analyze::RunRequest run = request_of(part);
  const std::string file(output.c_str(), output.size());
  Beat beat(std::move(tell));
  export_::ExportRequest request;
  request.ranks = run.ranks;
  request.steps = run.steps;
  request.from = from;
  request.to = to;
  request.bucket_ns = bucket;
  request.threads = run.threads;
  request.on_progress = beat.on_progress();
  request.cancelled = beat.cancelled();
  if (critical_path) {
    request.flows = export_::critical_path_flows;
    request.flow_args = analyze::kCriticalPathArgs;
  }
  return notes_of(beat.run<Notes>([&]() -> Result<Notes> {
    TRY_ASSIGN(const std::unique_ptr<export_::TraceWriter> out, export_::TraceWriter::open(file));
    return export_::export_job(held.job, request, read::load, *out);
  }));
}

}  // namespace

void bind_export(nb::module_& module) {
  module.def("export", export_job, nb::arg("job"), nb::arg("output"), nb::arg("part"),
             nb::arg("begin").none(), nb::arg("end").none(), nb::arg("bucket"), nb::arg("critical_path"),
             nb::arg("tell"));
}

}  // namespace spotter::python
