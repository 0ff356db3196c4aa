#include "simulate/pipeline_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace spotter::simulate {
namespace {

using What = PipelineItem::What;

Spec pipeline(i64 stages, i64 micro_batches, i64 parts = 1, bool coupled = false) {
  Spec spec;
  spec.ranks = spec.pipeline = stages;
  spec.micro_batches = micro_batches;
  spec.virtual_stages = parts;
  spec.coupled_sends = coupled;
  return spec;
}

// "F0 B0": with the part behind the micro-batch where there are several.
std::string order(const Spec& spec, i64 stage) {
  std::string text;
  for (const PipelineItem& item : pipeline_order(spec, stage)) {
    const bool exchanges = item.what == What::exchange_next || item.what == What::exchange_previous;
    text += text.empty() ? "" : " ";
    if (exchanges)
      text += item.what == What::exchange_next ? ">" : "<";
    else
      text += fmt::format("{}{}", item.what == What::forward ? "F" : "B", item.micro_batch);
    if (spec.virtual_stages > 1 && !exchanges) text += static_cast<char>('a' + item.chunk);
  }
  return text;
}

TEST(PipelineOrder, OneForwardOneBackward) {
  EXPECT_EQ(order(pipeline(1, 2), 0), "F0 B0 F1 B1");
  EXPECT_EQ(order(pipeline(3, 4), 0), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(order(pipeline(3, 4), 1), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(order(pipeline(3, 4), 2), "F0 B0 F1 B1 F2 B2 F3 B3");
  EXPECT_EQ(order(pipeline(3, 1), 0), "F0 B0");
}

TEST(PipelineOrder, PartsOfAStageTakeTurns) {
  EXPECT_EQ(order(pipeline(3, 3, 2), 2), "F0a F1a F2a F0b B0b F1b B1b F2b B2b B0a B1a B2a");
  EXPECT_EQ(order(pipeline(3, 3, 2), 1), "F0a F1a F2a F0b F1b F2b B0b B1b B2b B0a B1a B2a");
}

TEST(PipelineOrder, WhatFallsTogetherIsCoupled) {
  EXPECT_EQ(order(pipeline(3, 4, 1, true), 0), "F0 F1 F2 > B0 F3 > B1 B2 B3");
  EXPECT_EQ(order(pipeline(3, 4, 1, true), 1), "F0 F1 > B0 < F2 > B1 < F3 > B2 B3");
  EXPECT_EQ(order(pipeline(3, 4, 1, true), 2), "F0 B0 < F1 B1 < F2 B2 < F3 B3");
}

// All that leaves a stage for its neighbour comes there, in the same order.
TEST(PipelineOrder, NeighboursAgree) {
  for (const Spec& spec :
       {pipeline(4, 8), pipeline(4, 2), pipeline(4, 8, 3), pipeline(5, 5, 2), pipeline(4, 8, 1, true),
        pipeline(4, 2, 1, true), pipeline(4, 3, 1, true), pipeline(2, 7, 1, true)}) {
    for (i64 stage = 0; stage < spec.pipeline; ++stage) {
      const i64 next = (stage + 1) % spec.pipeline;
      const i64 wraps = next == 0 ? 1 : 0;
      using Passes = std::vector<std::pair<i64, i64>>;  // of a micro-batch through a part
      Passes forward_sent, forward_come, backward_sent, backward_come;
      i64 exchanges_here = 0, exchanges_there = 0;
      for (const PipelineItem& item : pipeline_order(spec, stage)) {
        if (item.what == What::forward && item.sends)
          forward_sent.emplace_back(item.micro_batch, item.chunk + wraps);
        if (item.what == What::backward && item.receives)
          backward_come.emplace_back(item.micro_batch, item.chunk + wraps);
        exchanges_here += item.what == What::exchange_next;
      }
      for (const PipelineItem& item : pipeline_order(spec, next)) {
        if (item.what == What::forward && item.receives)
          forward_come.emplace_back(item.micro_batch, item.chunk);
        if (item.what == What::backward && item.sends)
          backward_sent.emplace_back(item.micro_batch, item.chunk);
        exchanges_there += item.what == What::exchange_previous;
      }
      EXPECT_EQ(forward_sent, forward_come);
      EXPECT_EQ(backward_sent, backward_come);
      EXPECT_EQ(exchanges_here, exchanges_there);
    }
  }
}

}  // namespace
}  // namespace spotter::simulate
