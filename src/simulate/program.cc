#include "simulate/program.h"

#include "simulate/communication.h"
#include "simulate/faults/step_faults.h"
#include "simulate/inference.h"
#include "simulate/pipeline_order.h"
#include "simulate/transformer.h"

namespace spotter::simulate {
namespace {

constexpr CallName kCalls[] = {
    {"cudaLaunchKernel", 211},    {"cudaLaunchKernelExC", 430},         {"cudaMemcpyAsync", 41},
    {"cudaGraphLaunch", 311},     {"cuLaunchKernel", 307, Cat::driver}, {"cudaEventRecord", 135},
    {"cudaStreamWaitEvent", 147}, {"cudaStreamSynchronize", 131},       {"cudaFree", 22},
    {"cudaMalloc", 20},
};
static_assert(std::size(kCalls) == static_cast<size_t>(Call::count_));

constexpr i64 kStateBytes = 8;       // kept for each parameter by AdamW with 32-bit state
constexpr i64 kOptimizerBytes = 28;  // read and written for each parameter by AdamW with 32-bit state

// One step of a rank of this stage.
class StepWriter {
 public:
  StepWriter(const Spec& spec, i64 stage, Program& program)
      : spec_(spec),
        stage_(stage),
        layers_(spec.chunk_layers()),
        b_(spec, program),
        comms_(spec, b_),
        model_(
            spec, b_, [this] { comms_.reduce_tensor(model_.activation_elements()); },
            [this] { comms_.exchange_tokens(model_.activation_elements()); },
            [this](i64 bytes, bool of_experts) { grad_ready(bytes, of_experts); }),
        faults_(b_, model_, layers_ * passes()),
        saved_(static_cast<size_t>(passes())) {}

  void write() {
    const auto python = b_.python("train.py(118): train_step");
    const auto step = b_.step();
    if (spec_.all_memory_events) b_.for_first_step([this] { make_parameters(); });
    load_data();
    if (!spec_.all_memory_events) zero_grad();
    run_micro_batches();
    if (comms_.reduces() || comms_.shards()) comms_.await_data();
    if (comms_.shards()) comms_.await_scatters();
    if (comms_.reduces_experts()) comms_.await_experts();
    if (spec_.pipeline > 1) comms_.await_sends();
    optimizer_step();
    if (spec_.all_memory_events) zero_grad();
    const auto log = b_.python("train.py(131): log_loss");
    b_.item();
  }

 private:
  i64 passes() const { return spec_.virtual_stages * spec_.micro_batches; }  // of a part of the model
  bool is_first() const { return is_first(0); }
  bool is_last() const { return is_last(spec_.virtual_stages - 1); }
  bool is_first(i64 chunk) const { return chunk_number(spec_, stage_, chunk) == 0; }
  bool is_last(i64 chunk) const {
    return chunk_number(spec_, stage_, chunk) + 1 == spec_.pipeline * spec_.virtual_stages;
  }

  // As model.to("cuda") does.
  void make_parameters() {
    const auto apply = b_.python("torch/nn/modules/module.py(928): _apply");
    const auto to = b_.operation("aten::to");
    const auto copy = b_.operation("aten::_to_copy");
    const auto empty = b_.operation("aten::empty_strided");
    for_weights([this](i64 elements) {
      model_.allocate(elements * kElementBytes, MemoryUse::parameters);
      b_.work(1'000);
    });
  }

  // Calls f(elements on this rank) for each layer's weights, and for those of the vocabulary.
  template <class F>
  void for_weights(F f) {
    for (i64 l = 0; l < layers_ * spec_.virtual_stages; ++l) f(model_.layer_parameters() / model_.shards());
    if (is_first()) f(model_.vocabulary_parameters() / model_.shards());
    if (is_last()) f(model_.vocabulary_parameters() / model_.shards());
  }

  void zero_grad() {
    const auto zero_grad = b_.annotation("Optimizer.zero_grad#AdamW.zero_grad");
    b_.work(45'000);
    model_.free_gradients();
  }

  void load_data() {
    {
      const auto next = b_.annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
      const auto python = b_.python("torch/utils/data/dataloader.py(731): __next__");
      b_.work(110'000);
      b_.for_faults(FaultType::data_loader_stall, [&](const Fault& fault) { b_.work(fault.ns); });
    }
    if (!is_first() && !is_last()) return;
    const i64 tokens = spec_.batch * kTokens * spec_.micro_batches, bytes = tokens * 8;
    const auto to = b_.operation("aten::to", shapes({{tokens}, {}, {}, {}, {}, {}, {}, {}}));
    const auto inner = b_.operation("aten::_to_copy", shapes({{tokens}, {}, {}, {}, {}, {}, {}}));
    const auto copy = b_.operation("aten::copy_", shapes({{tokens}, {tokens}, {}}));
    b_.launch({.name = "Memcpy HtoD (Pinned -> Device)",
               .kind = DeviceKind::copy,
               .ns = host_copy_ns(bytes),
               .bytes = bytes},
              Call::memcpy_async);
  }

  void run_micro_batches() {
    using What = PipelineItem::What;
    for (const PipelineItem& item : pipeline_order(spec_, stage_)) {
      if (item.what == What::forward)
        forward(item);
      else if (item.what == What::backward)
        backward(item);
      else
        comms_.exchange(item.what == What::exchange_next, model_.activation_elements());
    }
  }

  void forward(const PipelineItem& item) {
    const auto [what, micro_batch, chunk, receives, sends] = item;
    const i64 pass = micro_batch * spec_.virtual_stages + chunk;
    const i64 first_layer = chunk_number(spec_, stage_, chunk) * layers_;
    Transformer::Saved& saved = saved_[static_cast<size_t>(pass)];
    const auto python = b_.python("nn.Module: Transformer_0", 0);
    if (receives) comms_.receive(true, model_.activation_elements());
    {
      const auto scope = forward_scope();
      if (pass == 0) faults_.before_forward();
      if (comms_.shards()) comms_.gather_parameters(model_.layer_parameters());
      if (is_first(chunk)) model_.embedding(saved);
      for (i64 l = 0; l < layers_; ++l) {
        if (comms_.shards()) comms_.await_data();
        if (comms_.shards() && l + 1 < layers_) comms_.gather_parameters(model_.layer_parameters());
        const auto block = b_.python(fmt::format("nn.Module: TransformerBlock_{}", first_layer + l),
                                     static_cast<i32>(4 * (chunk * layers_ + l)));
        faults_.before_layer(pass * layers_ + l);
        model_.attention(first_layer + l, saved);
        if (micro_batch == 0 && chunk * layers_ + l == spec_.virtual_stages * layers_ / 2)
          faults_.amid_layers();
        model_.perceptron(first_layer + l, saved);
        faults_.after_layer(first_layer + l);
      }
      if (is_last(chunk)) model_.loss(saved);
    }
    if (sends) comms_.send(true, model_.activation_elements());
  }

  Builder::Within forward_scope() {
    if (comms_.reduces()) return b_.annotation("DistributedDataParallel.forward");
    if (comms_.shards()) return b_.annotation("FullyShardedDataParallel.forward");
    return Builder::Within(nullptr);
  }

  void backward(const PipelineItem& item) {
    const auto [what, micro_batch, chunk, receives, sends] = item;
    Transformer::Saved& saved = saved_[static_cast<size_t>(micro_batch * spec_.virtual_stages + chunk)];
    const bool accumulates = micro_batch > 0;
    const auto python = b_.python("torch/_tensor.py(648): backward");
    const auto engine = b_.python("torch/autograd/graph.py(824): _engine_run_backward");
    if (receives) comms_.receive(false, model_.activation_elements());
    last_backward_ = micro_batch + 1 == spec_.micro_batches;
    b_.thread(1);
    if (comms_.shards()) comms_.gather_parameters(model_.layer_parameters());
    if (is_last(chunk)) model_.loss_backward(saved, accumulates);
    for (i64 l = layers_ - 1; l >= 0; --l) {
      if (comms_.shards()) comms_.await_data();
      if (comms_.shards() && l > 0) comms_.gather_parameters(model_.layer_parameters());
      model_.perceptron_backward(saved, accumulates);
      model_.attention_backward(saved, accumulates);
      reduce_ready();
      if (comms_.shards()) comms_.scatter_gradients(model_.layer_parameters());
    }
    if (is_first(chunk)) model_.embedding_backward(saved, accumulates);
    model_.end_backward();
    if (comms_.reduces() && last_backward_) comms_.flush_buckets(true);
    b_.thread(0);
    if (sends) comms_.send(false, model_.activation_elements());
  }

  void grad_ready(i64 bytes, bool of_experts) {
    if (!comms_.reduces() || !last_backward_) return;
    comms_.add_gradient(bytes, of_experts);
    reduce_ready();
  }

  void reduce_ready() {
    if (comms_.reduces() && last_backward_ && !b_.in_graph()) comms_.flush_buckets(false);
  }

  void optimizer_step() {
    const auto annotation = b_.annotation("Optimizer.step#AdamW.step");
    const auto python = b_.python("torch/optim/adamw.py(220): step");
    for_weights([this](i64 elements) { update(elements); });
  }

  void make_state(i64 parameters) {
    const auto op = b_.operation("aten::zeros_like");
    model_.allocate(parameters * kStateBytes, MemoryUse::optimizer_state);
    b_.work(1'000);
  }

  void update(i64 parameters) {
    if (spec_.all_memory_events) b_.for_first_step([&] { make_state(parameters); });
    const auto op = b_.operation("aten::_fused_adamw_");
    Transformer::Memory pointers = model_.allocate(parameters / 512, MemoryUse::temporaries);
    b_.work(4'000);
    model_.free(pointers);
    b_.launch(
        {.name =
             "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
             "FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, "
             "(at::native::ADAM_MODE)1, false> >",
         .ns = memory_bound_ns(parameters * kOptimizerBytes),
         .blocks = (parameters + 65535) / 65536,
         .threads = 512,
         .registers = 48});
  }

  const Spec& spec_;
  i64 stage_, layers_;  // of one part of the model
  Builder b_;
  Communication comms_;
  Transformer model_;
  StepFaults faults_;
  std::vector<Transformer::Saved> saved_;
  bool last_backward_ = false;
};

}  // namespace

const CallName& name_of(Call call) { return kCalls[static_cast<size_t>(call)]; }

Program build_program(const Spec& spec, i64 stage) {
  if (spec.inference) return build_inference_program(spec);
  Program program;
  StepWriter(spec, stage, program).write();
  return program;
}

}  // namespace spotter::simulate
