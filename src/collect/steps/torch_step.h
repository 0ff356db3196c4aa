// Where PyTorch tells of a step. With KINETO_USE_DAEMON set when it is imported, its hook behind each
// optimizer's step calls torch::autograd::profiler::profilerStep() of libtorch_cpu.so (PyTorch 2.13; nothing
// else calls it).
#pragma once
#include "base/result.h"
#include "base/system/descriptor.h"
#include "base/system/host.h"
#include "base/types.h"

namespace spotter::collect {

struct TorchStep {
  Descriptor library;  // open for reading
  u64 offset = 0;      // of the function, in the file
};

// Of a process. Errors: not_found (it has no PyTorch), unsupported (it has one that does not say when a step
// ends), denied (its memory map, or the library, may not be read), invalid, io; in a sentence that names the
// process.
Result<TorchStep> find_torch_step(const Host& host, i64 pid);
// Of an open libtorch_cpu.so, whoever gave it. Errors: unsupported, invalid, io.
Result<TorchStep> torch_step_of(Descriptor library);

}  // namespace spotter::collect
