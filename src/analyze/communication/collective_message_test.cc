#include "analyze/communication/collective_message.h"

#include <gtest/gtest.h>

#include "analyze/communication/collective_names.h"
#include "base/result.h"
#include "trace/builder.h"

namespace spotter::analyze {
namespace {

using trace::ArgValue;
using trace::TraceBuilder;

struct Told {
  CollectiveMessage message;
  std::optional<i64> bytes;
};

// Of the only collective of a trace.
Told told(TraceBuilder& builder) {
  const TracePtr trace = builder.build();
  const CollectiveCalls found = collective_calls(*trace);
  CHECK(found.calls.size() == 1);
  const CollectiveMessage message = message_of(*trace, found.calls[0]);
  return {message, measured_bytes(message, operation_of(found.calls[0].name))};
}

Told told_by_kernel(const char* name, const char* type, i64 in, i64 out, i64 ranks) {
  TraceBuilder builder;
  builder.span("kernel", "ncclDevKernel_Generic", 0, 20, 0, 10,
               {{Arg::collective_name, name},
                {Arg::dtype, type},
                {Arg::in_msg_nelems, in},
                {Arg::out_msg_nelems, out},
                {Arg::group_size, ranks}});
  return told(builder);
}

TEST(CollectiveMessage, KernelsTellIt) {
  const Told reduced = told_by_kernel("allreduce", "BFloat16", 100, 100, 4);
  EXPECT_EQ(reduced.message.type, "bfloat16");
  EXPECT_EQ(reduced.message.ranks, 4);
  EXPECT_EQ(reduced.message.in_bytes, 200);
  EXPECT_EQ(reduced.bytes, 200);
  EXPECT_EQ(told_by_kernel("_allgather_base", "Float", 100, 400, 4).bytes, 1600);
  EXPECT_EQ(told_by_kernel("_reduce_scatter_base", "Double", 400, 100, 4).bytes, 3200);
  EXPECT_EQ(told_by_kernel("all_to_allv", "Byte", 7, 9, 4).bytes, 9);
  EXPECT_EQ(told_by_kernel("barrier", "Byte", 0, 0, 4).bytes, 0);
}

TEST(CollectiveMessage, AnUnknownTypeHasNoBytes) {
  const Told reduced = told_by_kernel("allreduce", "Float3_e1m1", 100, 100, 4);
  EXPECT_EQ(reduced.message.type, "Float3_e1m1");
  EXPECT_TRUE(reduced.message.is_of_unknown_type);
  EXPECT_FALSE(reduced.bytes);
}

TEST(CollectiveMessage, WhatNoMachineHoldsIsNotKnown) {
  EXPECT_FALSE(told_by_kernel("allreduce", "Float", i64{1} << 62, i64{1} << 62, 4).bytes);
  EXPECT_FALSE(told_by_kernel("allreduce", "Float", -5, -5, 4).bytes);
}

// A kernel as it was before 2.4, its launch, and what is around that.
void add_launch(TraceBuilder& builder, const char* annotation, std::initializer_list<ArgValue> of_annotation,
                std::initializer_list<ArgValue> of_record, const char* op = "c10d::x",
                std::initializer_list<ArgValue> of_op = {}) {
  builder.span("cpu_op", op, 1, 1, 0, 100, of_op);
  builder.span("cpu_op", "record_param_comms", 1, 1, 1, 98, of_record);
  builder.span("user_annotation", annotation, 1, 1, 2, 90, of_annotation);
  builder.span("cuda_runtime", "cudaLaunchKernel", 1, 1, 3, 5, {{Arg::correlation, i64{1}}});
  builder.span("kernel", "ncclKernel_AllReduce", 0, 20, 50, 10, {{Arg::correlation, i64{1}}});
}

TEST(CollectiveMessage, ElseTheOperatorThatLaunchedThem) {
  TraceBuilder builder;
  add_launch(builder, "nccl:_all_gather_base", {{Arg::input_dims, "[[999]]"}, {Arg::input_type, "[\"int\"]"}},
             {{Arg::collective_name, "_allgather_base"},
              {Arg::dtype, "Half"},
              {Arg::in_msg_nelems, i64{10}},
              {Arg::out_msg_nelems, i64{20}},
              {Arg::group_size, i64{2}},
              {Arg::group_name, "7"},
              {Arg::group_ranks, "[0, 1]"},
              {Arg::seq, i64{3}}});
  const TracePtr trace = builder.build();
  const CollectiveCalls found = collective_calls(*trace);
  ASSERT_EQ(found.calls.size(), 1u);
  EXPECT_EQ(found.calls[0].name, "_allgather_base");
  EXPECT_EQ(found.calls[0].group, " 7 [0, 1]");
  EXPECT_EQ(found.calls[0].sequence, 3);
  const CollectiveMessage message = message_of(*trace, found.calls[0]);
  EXPECT_EQ(message.type, "float16");
  EXPECT_EQ(message.out_bytes, 40);
}

TEST(CollectiveMessage, ElseTheShapesOfTheAnnotation) {
  TraceBuilder one, several, scalar, mixed;
  add_launch(one, "nccl:all_reduce", {{Arg::input_dims, "[[20, 30]]"}, {Arg::input_type, "[\"float\"]"}}, {});
  EXPECT_EQ(told(one).bytes, 2400);
  add_launch(several, "nccl:all_reduce",
             {{Arg::input_dims, "[[20, 30], [5], []]"},
              {Arg::input_type, "[\"c10::Half\", \"c10::Half\", \"Scalar\"]"}},
             {});
  const Told both = told(several);
  EXPECT_EQ(both.message.type, "float16");
  EXPECT_EQ(both.bytes, 1210);
  add_launch(scalar, "nccl:broadcast", {{Arg::input_dims, "[[]]"}, {Arg::input_type, "[\"long int\"]"}}, {});
  EXPECT_EQ(told(scalar).bytes, 8);
  add_launch(mixed, "nccl:all_reduce",
             {{Arg::input_dims, "[[4], [4]]"}, {Arg::input_type, "[\"float\", \"long\"]"}}, {});
  const Told of_two = told(mixed);
  EXPECT_EQ(of_two.message.type, "mixed");
  EXPECT_EQ(of_two.bytes, 48);
}

TEST(CollectiveMessage, ElseThoseOfTheOperators) {
  TraceBuilder record, gathered;
  add_launch(record, "nccl:all_to_all", {},
             {{Arg::input_dims, "[[384], [], []]"}, {Arg::input_type, "[\"long\", \"Scalar\", \"\"]"}});
  EXPECT_EQ(told(record).bytes, 3072);
  add_launch(gathered, "nccl:_all_gather_base",
             {{Arg::input_dims, "[[16]]"}, {Arg::input_type, "[\"signed char\"]"}}, {},
             "c10d::_allgather_base_",
             {{Arg::input_dims, "[[1024], [16], []]"},
              {Arg::input_type, "[\"signed char\", \"signed char\", \"\"]"}});
  const Told all = told(gathered);
  EXPECT_EQ(all.bytes, 1024);
  EXPECT_EQ(all.message.ranks, 64);
}

TEST(CollectiveMessage, NothingToldIsNotKnown) {
  TraceBuilder none, list, broken, gather;
  add_launch(none, "nccl:all_reduce", {}, {});
  EXPECT_FALSE(told(none).bytes);
  add_launch(list, "nccl:all_reduce", {},
             {{Arg::input_dims, "[[[9], [8]]]"}, {Arg::input_type, "[\"TensorList\"]"}});
  EXPECT_FALSE(told(list).bytes);
  add_launch(broken, "nccl:all_reduce", {{Arg::input_dims, "[[4, x]]"}, {Arg::input_type, "[\"float\"]"}},
             {});
  EXPECT_FALSE(told(broken).bytes);
  // What each rank puts in says nothing of what all have, where their number is not known.
  add_launch(gather, "nccl:_all_gather_base", {{Arg::input_dims, "[[4]]"}, {Arg::input_type, "[\"float\"]"}},
             {});
  EXPECT_FALSE(told(gather).bytes);
}

TEST(CollectiveMessage, ShapesThatAreNoListsAreTaken) {
  for (const char* text :
       {"", "[", "]", "[]", "[[]", "[[[]]]", "[,]", "[\"", "[[1],", "{}", "[[1]] x", "[]]"}) {
    TraceBuilder builder;
    add_launch(builder, "nccl:all_reduce", {{Arg::input_dims, text}, {Arg::input_type, "[\"float\"]"}}, {});
    EXPECT_FALSE(told(builder).bytes) << text;
  }
}

}  // namespace
}  // namespace spotter::analyze
