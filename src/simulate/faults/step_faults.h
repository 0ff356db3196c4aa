// StepFaults: what faults put into the forward pass. Nothing of it is in the steps and on the ranks without
// them.
#pragma once
#include "simulate/transformer.h"

namespace spotter::simulate {

class StepFaults {
 public:
  // `passes`: of layers in a step, over which what comes several times is spread.
  StepFaults(Builder& builder, Transformer& model, i64 passes)
      : b_(builder), model_(model), passes_(passes) {}

  void before_forward();  // of the first micro-batch
  void before_layer(i64 pass);
  void amid_layers();
  void after_layer(i64 layer);

 private:
  void compile(const Fault& fault);
  void copy(const Fault& fault, bool to_device);

  Builder& b_;
  Transformer& model_;
  i64 passes_;
};

}  // namespace spotter::simulate
