// Builder: writes a Program down, instruction by instruction. It numbers and shares what instructions name,
// applies --scale, and leaves out what the job does not record or a CUDA graph hides.
#pragma once
#include <initializer_list>
#include <string_view>
#include <unordered_map>

#include "simulate/costs.h"
#include "simulate/program.h"

namespace spotter::simulate {

class Builder {
 public:
  Builder(const Spec& spec, Program& program) : spec_(spec), program_(program) {}

  // A span that ends with the object.
  class Within {
   public:
    explicit Within(Builder* builder) : builder_(builder) {}
    ~Within() {
      if (builder_) builder_->leave();
    }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;

   private:
    Builder* builder_;
  };

  [[nodiscard]] Within step();
  [[nodiscard]] Within operation(const std::string& name, const std::string& args = {}, u32 node = 0);
  [[nodiscard]] Within annotation(const std::string& name);
  [[nodiscard]] Within python(const std::string& name, i32 module = -1);  // where stacks are recorded
  [[nodiscard]] Within comms_record(u32 collective);                      // record_param_comms
  [[nodiscard]] Within backward_engine(const std::string& name, u32 node);
  [[nodiscard]] Within backward_node(const std::string& name, u32 node);

  u32 new_node() { return ++program_.nodes; }  // of autograd
  void work(Ns ns);
  void thread(u32 number);
  void launch(const DeviceWork& work, Call call = Call::launch_kernel);
  void multiply(
      i64 additions);  // so many multiplications, each with an addition, are part of the step's work
  u32 collective(Collective what, std::string kernel);  // only makes it known
  void start(u32 collective, Stream stream);
  void start_in_order(u32 collective);  // on the stream of computation, which it holds up; also in a graph
  void wait(Stream waits, Stream on);
  void item();  // reads a number back: the host waits for what it has launched
  void free_and_allocate(Ns ns);
  void allocate_again(Ns ns);         // the first time fails
  void copy(const DeviceWork& work);  // of pageable memory, for which the host waits
  void load_module(Ns ns);
  u32 allocate(i64 bytes, MemoryUse use = MemoryUse::activations);
  void free(u32 allocation);

  void begin_graph();  // where the job has them: what follows is launched at once and hides its host side
  void open_graph();   // the same in any job
  void end_graph();
  bool in_graph() const { return in_graph_; }

  // What `emit` writes is there only where and when the fault is; once for each of this type.
  template <class F>
  void for_faults(FaultType type, F emit) {
    for (size_t i = 0; i < spec_.faults.size(); ++i) {
      if (spec_.faults[i].type != type) continue;
      fault_ = static_cast<u8>(i + 1);
      emit(spec_.faults[i]);
      fault_ = 0;
    }
  }

  // What `emit` writes is there in iterations of this kind only.
  template <class F>
  void for_phase(When when, F emit) {
    when_ = when;
    emit();
    when_ = When::always;
  }

  // What `emit` writes is there in the first step only.
  template <class F>
  void for_first_step(F emit) {
    first_step_only_ = true;
    emit();
    first_step_only_ = false;
  }

 private:
  void add(Instruction i);
  Within enter(Span span, u32 node = 0, Ns own = kSpan);  // `own`: what the host does before anything else
  void leave();
  u64 scales_of(std::string_view name);  // a bit for each of the spec's
  double factor_of(u64 scales) const;
  u64 open_scales() const { return open_scales_.empty() ? 0 : open_scales_.back(); }
  Ns host(Ns ns) const { return stretched_host(ns, open_scales()); }
  Ns stretched_host(Ns ns, u64 scales) const;
  Ns call_ns(Call call, Ns ns);
  u32 intern(DeviceWork work);

  const Spec& spec_;
  Program& program_;
  std::unordered_map<std::string, u32> spans_, work_, collectives_;
  std::vector<u64> open_scales_;  // of the open spans: a span has its scales once, however deep it nests
  u8 fault_ = 0;
  When when_ = When::always;
  bool in_graph_ = false, first_step_only_ = false;
  u32 graphs_ = 0;
  i64 allocated_ = 0;
  u64 next_address_ = 0x7f20'0000'0000;
};

// `"Input Dims": [[8, 4], []], "Input type": ["c10::BFloat16", "Scalar"]`; an empty shape is a scalar's.
std::string shapes(std::initializer_list<std::initializer_list<i64>> dims);

// The same with values: of tensors their shape, of others their text.
struct Argument {
  std::vector<i64> dims = {};
  std::string value = {};
};
std::string arguments(std::initializer_list<Argument> arguments);

}  // namespace spotter::simulate
