#include "trace/facts/element_types.h"

#include <gtest/gtest.h>

namespace spotter::trace {
namespace {

TEST(ElementTypes, BothWritersNamesAreOneType) {
  const struct {
    const char *of_collectives, *of_operators, *name;
    i64 bytes;
  } cases[] = {
      {"Float", "float", "float32", 4},
      {"Double", "double", "float64", 8},
      {"Half", "c10::Half", "float16", 2},
      {"BFloat16", "c10::BFloat16", "bfloat16", 2},
      {"Long", "long int", "int64", 8},
      {"Long", "long", "int64", 8},
      {"Int", "int", "int32", 4},
      {"Short", "short", "int16", 2},
      {"Char", "signed char", "int8", 1},
      {"Byte", "unsigned char", "uint8", 1},
      {"Bool", "bool", "bool", 1},
      {"UInt16", "short unsigned int", "uint16", 2},
      {"UInt32", "unsigned int", "uint32", 4},
      {"UInt64", "unsigned long", "uint64", 8},
      {"ComplexFloat", "c10::complex<float>", "complex64", 8},
      {"ComplexDouble", "c10::complex<double>", "complex128", 16},
      {"Float8_e4m3fn", "c10::Float8_e4m3fn", "float8_e4m3fn", 1},
      {"Float8_e5m2fnuz", "c10::Float8_e5m2fnuz", "float8_e5m2fnuz", 1},
      {"Float8_e8m0fnu", "c10::Float8_e8m0fnu", "float8_e8m0fnu", 1},
      {"Float4_e2m1fn_x2", "c10::Float4_e2m1fn_x2", "float4_e2m1fn_x2", 1},
  };
  for (const auto& c : cases) {
    for (const char* text : {c.of_collectives, c.of_operators}) {
      const ElementType* type = element_type(text);
      ASSERT_NE(type, nullptr) << text;
      EXPECT_STREQ(type->name, c.name) << text;
      EXPECT_EQ(type->bytes, c.bytes) << text;
    }
  }
}

TEST(ElementTypes, OthersAreNotKnown) {
  for (const char* text : {"", "Scalar", "TensorList", "GenericList", "float32", "FLOAT", "Float9_e5m3"})
    EXPECT_EQ(element_type(text), nullptr) << text;
}

}  // namespace
}  // namespace spotter::trace
