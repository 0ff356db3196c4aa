#include "trace/facts/engine_marks.h"

#include <gtest/gtest.h>

namespace spotter::trace {
namespace {

constexpr std::nullopt_t kNotTold = std::nullopt;

struct Case {
  const char* name;
  const char* engine;
  Batch batch;
};

TEST(EngineMarks, NamesTellTheBatch) {
  const Case cases[] = {
      {"execute_context_2(14721)_generation_0(0)", "vLLM", {Phase::prefill, 2, 14721, 0, 0}},
      {"execute_context_0(0)_generation_64(64)", "vLLM", {Phase::decode, 0, 0, 64, 64}},
      {"execute_context_2(6144)_generation_3(3)", "vLLM", {Phase::mixed, 2, 6144, 3, 3}},
      {"execute_context_0(0)_generation_0(0)", "vLLM", {Phase::idle, 0, 0, 0, 0}},
      {"execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489sqsq37sqsk34489)",
       "vLLM",
       {Phase::mixed, 9, 8155, 37, 37}},
      {"execute_new_1_cached_0", "vLLM", {Phase::prefill, 1, kNotTold, 0, kNotTold}},
      {"execute_new_0_cached_7", "vLLM", {Phase::decode, 0, kNotTold, 7, kNotTold}},
      {"step[EXTEND bs=2 toks=4096]", "SGLang", {Phase::prefill, 2, 4096, kNotTold, kNotTold}},
      {"step[EXTEND bs=2 toks=12 c_sqsq=80 c_sqsk=120 c_sk=20]",
       "SGLang",
       {Phase::prefill, 2, 12, kNotTold, kNotTold}},
      {"step[DECODE bs=16]", "SGLang", {Phase::decode, kNotTold, kNotTold, 16, 16}},
      {"step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]",
       "SGLang",
       {Phase::decode, kNotTold, kNotTold, 64, 128}},
      {"step[TARGET_VERIFY bs=4]", "SGLang", {Phase::decode, kNotTold, kNotTold, 4, kNotTold}},
      {"step[MIXED bs=3]", "SGLang", {Phase::mixed, kNotTold, kNotTold, kNotTold, kNotTold}},
      {"step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 g_sqsq=1 g_sqsk=12]",
       "SGLang",
       {Phase::mixed, 1, 5, 1, 1}},
      {"step[MIXED bs=1 c=1 g=0 c_sq=3 c_sk=3 c_sqsq=9 c_sqsk=9 g_sq=0 g_sk=0 g_sqsq=0 g_sqsk=0]",
       "SGLang",
       {Phase::prefill, 1, 3, 0, 0}},
      {"step[IDLE bs=0]", "SGLang", {Phase::idle, kNotTold, kNotTold, kNotTold, kNotTold}},
      {"prefill[bs=3 tok=16384 ctx=[8063, 7153, 1168]]",
       "ATOM",
       {Phase::prefill, 3, 16384, kNotTold, kNotTold}},
      {"decode[bs=64 tok=64 d=64]", "ATOM", {Phase::decode, kNotTold, kNotTold, 64, 64}},
      {"decode[bs=117/128 tok=117 d=117]", "ATOM", {Phase::decode, kNotTold, kNotTold, 117, 117}},
      {"decode[bs=128 tok=384 p=2 d=126 sqsq=132612 sqsk=1114112 sk=258048 tbo=1]",
       "ATOM",
       {Phase::mixed, 2, kNotTold, 126, kNotTold}},
      {"[Executor] _forward_step 12: 3 ctx reqs, 4 gen reqs",
       "TensorRT-LLM",
       {Phase::mixed, 3, kNotTold, 4, kNotTold}},
      {"[Executor] _forward_step 60000: 0 ctx reqs, 0 ctx tokens, 32 gen reqs",
       "TensorRT-LLM",
       {Phase::decode, 0, 0, 32, kNotTold}},
  };
  for (const Case& c : cases) {
    const std::optional<EngineMark> mark = engine_mark(c.name);
    ASSERT_TRUE(mark) << c.name;
    EXPECT_STREQ(mark->engine, c.engine) << c.name;
    EXPECT_EQ(mark->batch, c.batch) << c.name;
  }
}

TEST(EngineMarks, OtherNamesAreNone) {
  for (const char* name :
       {"", "execute_context_", "execute_context_1(2)_generation_3(4)x", "execute_context_1(2)_generation_3(",
        "execute_new_1_cached_", "execute_new_99999999999999999999_cached_1", "step[", "step[DRAFT bs=1]",
        "draft[1/3 bs=4]", "decode", "prefill", "ProfilerStep#3", "capture_128_decode"})
    EXPECT_FALSE(engine_mark(name)) << name;
}

TEST(EngineMarks, TokensAreThoseOfBothWhereBothAreKnown) {
  const auto tokens = [](const char* name) { return engine_mark(name)->batch.tokens(); };
  EXPECT_EQ(tokens("execute_context_2(6144)_generation_3(3)"), 6147);
  EXPECT_EQ(tokens("step[EXTEND bs=2 toks=4096]"), 4096);
  EXPECT_EQ(tokens("step[DECODE bs=16]"), 16);
  EXPECT_EQ(tokens("step[TARGET_VERIFY bs=4]"), kNotTold);
  EXPECT_EQ(tokens("execute_new_1_cached_0"), kNotTold);
  EXPECT_EQ(tokens("step[MIXED bs=3]"), kNotTold);
}

}  // namespace
}  // namespace spotter::trace
