#include "trace/facts/element_types.h"

#include <algorithm>

namespace spotter::trace {
namespace {

struct Spelling {
  std::string_view text;  // without a leading "c10::"
  ElementType type;
};

// Source: torch/headeronly/core/ScalarType.h, and what GCC and Clang call these types.
constexpr Spelling kSpellings[] = {
    {"Float", {"float32", 4}},
    {"float", {"float32", 4}},
    {"BFloat16", {"bfloat16", 2}},
    {"Half", {"float16", 2}},
    {"Long", {"int64", 8}},
    {"long int", {"int64", 8}},
    {"long", {"int64", 8}},
    {"long long", {"int64", 8}},
    {"long long int", {"int64", 8}},
    {"Int", {"int32", 4}},
    {"int", {"int32", 4}},
    {"Byte", {"uint8", 1}},
    {"unsigned char", {"uint8", 1}},
    {"Char", {"int8", 1}},
    {"signed char", {"int8", 1}},
    {"char", {"int8", 1}},
    {"Bool", {"bool", 1}},
    {"bool", {"bool", 1}},
    {"Double", {"float64", 8}},
    {"double", {"float64", 8}},
    {"Short", {"int16", 2}},
    {"short", {"int16", 2}},
    {"short int", {"int16", 2}},
    {"UInt16", {"uint16", 2}},
    {"unsigned short", {"uint16", 2}},
    {"short unsigned int", {"uint16", 2}},
    {"unsigned short int", {"uint16", 2}},
    {"UInt32", {"uint32", 4}},
    {"unsigned int", {"uint32", 4}},
    {"UInt64", {"uint64", 8}},
    {"unsigned long", {"uint64", 8}},
    {"long unsigned int", {"uint64", 8}},
    {"unsigned long int", {"uint64", 8}},
    {"unsigned long long", {"uint64", 8}},
    {"long long unsigned int", {"uint64", 8}},
    {"Float8_e4m3fn", {"float8_e4m3fn", 1}},
    {"Float8_e5m2", {"float8_e5m2", 1}},
    {"Float8_e4m3fnuz", {"float8_e4m3fnuz", 1}},
    {"Float8_e5m2fnuz", {"float8_e5m2fnuz", 1}},
    {"Float8_e8m0fnu", {"float8_e8m0fnu", 1}},
    {"Float4_e2m1fn_x2", {"float4_e2m1fn_x2", 1}},
    {"ComplexHalf", {"complex32", 4}},
    {"complex<c10::Half>", {"complex32", 4}},
    {"ComplexFloat", {"complex64", 8}},
    {"complex<float>", {"complex64", 8}},
    {"ComplexDouble", {"complex128", 16}},
    {"complex<double>", {"complex128", 16}},
    {"QInt8", {"qint8", 1}},
    {"qint8", {"qint8", 1}},
    {"QUInt8", {"quint8", 1}},
    {"quint8", {"quint8", 1}},
    {"QInt32", {"qint32", 4}},
    {"qint32", {"qint32", 4}},
    {"QUInt4x2", {"quint4x2", 1}},
    {"quint4x2", {"quint4x2", 1}},
    {"QUInt2x4", {"quint2x4", 1}},
    {"quint2x4", {"quint2x4", 1}},
    {"Bits1x8", {"bits1x8", 1}},
    {"bits1x8", {"bits1x8", 1}},
    {"Bits2x4", {"bits2x4", 1}},
    {"bits2x4", {"bits2x4", 1}},
    {"Bits4x2", {"bits4x2", 1}},
    {"bits4x2", {"bits4x2", 1}},
    {"Bits8", {"bits8", 1}},
    {"bits8", {"bits8", 1}},
    {"Bits16", {"bits16", 2}},
    {"bits16", {"bits16", 2}},
    {"UInt1", {"uint1", 1}},
    {"UInt2", {"uint2", 1}},
    {"UInt3", {"uint3", 1}},
    {"UInt4", {"uint4", 1}},
    {"UInt5", {"uint5", 1}},
    {"UInt6", {"uint6", 1}},
    {"UInt7", {"uint7", 1}},
    {"Int1", {"int1", 1}},
    {"Int2", {"int2", 1}},
    {"Int3", {"int3", 1}},
    {"Int4", {"int4", 1}},
    {"Int5", {"int5", 1}},
    {"Int6", {"int6", 1}},
    {"Int7", {"int7", 1}},
};

}  // namespace

const ElementType* element_type(std::string_view text) {
  constexpr std::string_view kNamespace = "c10::";
  if (text.starts_with(kNamespace)) text.remove_prefix(kNamespace.size());
  const auto* spelling = std::ranges::find(kSpellings, text, &Spelling::text);
  return spelling == std::end(kSpellings) ? nullptr : &spelling->type;
}

}  // namespace spotter::trace
