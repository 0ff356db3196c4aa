// Program: what a rank does in one step, as a list of instructions over tables of the things they name. All
// ranks of a pipeline stage share one; machine.h runs it. Made by build_program (program.cc), then const.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "simulate/spec.h"

namespace spotter::simulate {

enum class Op : u8 {
  enter,        // the host begins span `what`; `id`: number of the autograd node in the step, 0: none
  leave,        // and ends the innermost one
  enter_step,   // ProfilerStep#N, or what inference.h has
  work,         // the host is busy for `ns`
  thread,       // the host goes on as thread `what`
  launch,       // the host calls `call` for `ns`; device work `what` follows on `stream`
  collective,   // the same for collective `what`; of the graph before where `id` is not 0
  graph,        // cudaGraphLaunch of graph `id`; its `node`s follow
  node,         // device work `what` of the graph before
  copy,         // as launch, of a copy of pageable memory: the call ends with it
  load_module,  // the host waits for `ns` until the driver has loaded code
  wait,         // `stream` waits for what is on stream `what` now; the host calls for `ns`
  synchronize,  // the host calls `call` until all that is on `stream` is done
  free_all,     // the same for all streams, then goes on calling for `ns`
  malloc,       // the host calls `call` for `ns`
  memory,       // allocation `what`
};

enum class Call : u8 {
  launch_kernel,
  launch_kernel_ex,
  memcpy_async,
  graph_launch,
  driver_launch,
  event_record,
  stream_wait_event,
  stream_synchronize,
  free,
  malloc,
  count_
};
struct CallName {
  const char* name;
  int cbid;
  Cat cat = Cat::runtime;
};
const CallName& name_of(Call call);

// Streams of a device: what may run at the same time.
enum Stream : u8 { kCompute, kData, kScatter, kTensor, kSend, kReceive, kExpert, kExpertData, kStreams };

// In which iterations of inference an instruction is.
enum class When : u8 { always, prefill, decode };

struct Instruction {
  Op op;
  When when = When::always;
  u8 fault = 0;  // 1 + the fault that it is a part of: skipped where and when that is not; 0: always there
  bool first_step_only = false;
  u8 stream = kCompute;
  Call call = Call::launch_kernel;
  u32 what = 0;
  u32 id = 0;
  u32 place = 0;  // tells the instructions of a step apart; those of faults count nothing
  Ns ns = 0;
  Ns piece_ns = 0;  // of a launch: the host's work for each further one, where a fault splits it
};

struct Span {
  Cat cat = Cat::cpu_op;
  std::string name;
  std::string args;          // JSON members, such as shapes; may be empty
  bool is_backward = false;  // the autograd engine's part: Sequence number is that of the forward one
  i32 module = -1;           // number of an nn.Module
  i64 collective = -1;       // record_param_comms of this collective
};

enum class DeviceKind : u8 { compute, copy, communication };

struct DeviceWork {
  std::string name;
  DeviceKind kind = DeviceKind::compute;
  Ns ns = 0;
  i64 bytes = 0;  // copies
  i64 blocks = 1, threads = 128;
  int registers = 32, shared_bytes = 0;
  bool in_layer = false;
  bool is_product = false;  // of matrices
};

struct Collective {
  GroupKind group = GroupKind::data;
  // An exchange is a send to a neighbour and a receive from it as one.
  enum class Way : u8 {
    all,
    send_next,
    receive_next,
    send_previous,
    receive_previous,
    exchange_next,
    exchange_previous
  } way = Way::all;
  std::string name;  // allreduce ...
  i64 in_elements = 0, out_elements = 0;
  u32 work = 0;   // its kernel, without the duration
  i64 bytes = 0;  // that a rank sends in all
  i64 rounds = 1;
  double scale = 1;

  bool exchanges() const { return way == Way::exchange_next || way == Way::exchange_previous; }
};

// What memory is for.
enum class MemoryUse : u8 { parameters, gradients, optimizer_state, activations, temporaries, count_ };
inline constexpr size_t kMemoryUses = static_cast<size_t>(MemoryUse::count_);
inline constexpr std::array<const char*, kMemoryUses> kMemoryUseNames = {
    "parameters", "gradients", "optimizer_state", "activations", "temporaries"};

struct Allocation {
  i64 bytes = 0;  // negative: freed
  u64 address = 0;
  i64 allocated = 0;  // in all, after it, in the first step
  MemoryUse use = MemoryUse::activations;
};

struct Program {
  std::vector<Instruction> code;
  std::vector<Span> spans;
  std::vector<DeviceWork> work;
  std::vector<Collective> collectives;
  std::vector<Allocation> allocations;
  u32 places = 0;
  u32 nodes = 0;           // of autograd in a step
  i64 reserved_bytes = 0;  // the most that is allocated in the first step
  i64 kept_bytes = 0;      // allocated in the first step alone, and never freed
  i64 flops = 0;           // of products of matrices and attention; saturated
  u64 scales = 0;          // a bit for each of the spec's that something in it has the name of
};

Program build_program(const Spec& spec, i64 stage);

}  // namespace spotter::simulate
