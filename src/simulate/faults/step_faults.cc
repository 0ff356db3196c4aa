#include "simulate/faults/step_faults.h"

namespace spotter::simulate {

// As TorchDynamo, AOTAutograd and Inductor tell of themselves (torch/_dynamo/utils.py: dynamo_timed), and
// then the code that they made. Triton loads it by the driver's API, of which libkineto records launches
// alone; CUPTI tells the loading as overhead.
void StepFaults::compile(const Fault& fault) {
  const Ns lower = fault.ns * 3 / 10, wait = fault.ns * 4 / 10, load = fault.ns / 20;
  {
    const auto lookup = b_.operation("TorchDynamo Cache Lookup");
  }
  {
    const auto frame = b_.annotation("_compile.compile_inner (dynamo_timed)");
    b_.work(fault.ns - lower - wait - load);
    const auto backend = b_.annotation("OutputGraph.call_user_compiler (dynamo_timed)");
    const auto autograd = b_.annotation("create_aot_dispatcher_function (dynamo_timed)");
    const auto inductor = b_.annotation("compile_fx_inner (dynamo_timed)");
    b_.work(lower);
    const auto workers = b_.annotation("async_compile.wait (dynamo_timed)");
    b_.work(wait);
  }
  const auto region = b_.operation("Torch-Compiled Region: 0/1");
  const auto graph =
      b_.annotation("## Call CompiledFxGraph fk5xwqmjv2hpyb3ztrlo4aned6cis7u2gqzxkmvwybpd5rjhtelo ##");
  const auto kernel = b_.operation("triton_poi_fused_add_mul_0");
  b_.load_module(load);
  b_.launch({.name = "triton_poi_fused_add_mul_0", .ns = 4'000, .blocks = 128, .registers = 24},
            Call::driver_launch);
}

void StepFaults::copy(const Fault& fault, bool to_device) {
  const i64 elements = fault.bytes / kElementBytes;
  const auto to = b_.operation("aten::to", shapes({{elements}, {}, {}, {}, {}, {}, {}, {}}));
  const auto inner = b_.operation("aten::_to_copy", shapes({{elements}, {}, {}, {}, {}, {}, {}}));
  const auto copy = b_.operation("aten::copy_", shapes({{elements}, {elements}, {}}));
  b_.copy({.name = to_device ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy DtoH (Device -> Pageable)",
           .kind = DeviceKind::copy,
           .ns = pageable_copy_ns(fault.bytes),
           .bytes = fault.bytes});
}

void StepFaults::before_forward() {
  b_.for_faults(FaultType::compilation, [this](const Fault& fault) { compile(fault); });
}

void StepFaults::before_layer(i64 pass) {
  const auto each = [&](i64 count, auto f) {
    for (i64 i = pass * count / passes_; i < (pass + 1) * count / passes_; ++i) f(i);
  };
  b_.for_faults(FaultType::allocator_retries,
                [&](const Fault& fault) { each(fault.count, [&](i64) { b_.free_and_allocate(fault.ns); }); });
  b_.for_faults(FaultType::memory_pressure,
                [&](const Fault& fault) { each(2, [&](i64) { b_.allocate_again(fault.ns / 2); }); });
  b_.for_faults(FaultType::extra_calls,
                [&](const Fault& fault) { each(fault.count, [&](i64) { model_.activate_again(); }); });
  b_.for_faults(FaultType::copies,
                [&](const Fault& fault) { each(fault.count, [&](i64 i) { copy(fault, i % 2 != 0); }); });
}

void StepFaults::amid_layers() {
  b_.for_faults(FaultType::gc_pause, [this](const Fault& fault) { b_.work(fault.ns); });
}

void StepFaults::after_layer(i64 layer) {
  b_.for_faults(FaultType::host_sync, [&](const Fault& fault) {
    if ((layer + 1) % fault.count != 0) return;
    b_.item();
    b_.work(fault.ns);
  });
}

}  // namespace spotter::simulate
