#include "read/plain_data/pickle.h"

#include <gtest/gtest.h>

#include "read/plain_data/json_data.h"

namespace spotter::read {
namespace {

using namespace std::string_view_literals;

// As Python writes it; bytes as b<length>.
std::string shown(const Datum& d) {
  const auto elements = [&](std::string_view open, std::string_view close) {
    std::string text;
    for (const Datum& element : d.elements()) text += (text.empty() ? "" : ", ") + shown(element);
    return fmt::format("{}{}{}", open, text, close);
  };
  switch (d.kind()) {
    case DataKind::none:
      return "None";
    case DataKind::boolean:
      return *d.boolean() ? "True" : "False";
    case DataKind::integer:
      return d.integer() ? std::to_string(*d.integer()) : "wide";
    case DataKind::real:
      return fmt::format("{}", *d.real());
    case DataKind::text:
      return fmt::format("'{}'", *d.text());
    case DataKind::bytes:
      return fmt::format("b{}", d.bytes()->size());
    case DataKind::list:
      return elements("[", "]");
    case DataKind::tuple:
      return elements("(", ")");
    case DataKind::set:
      return elements("set(", ")");
    case DataKind::dict:
      return elements("{", "}");
  }
  return "";
}

std::string shown(const Result<PlainData>& data) { return data ? shown(data->root()) : data.error().message; }

// The same value as CPython 3.11 pickles it with protocols 2 to 5:
//   shared = [5]
//   {"none": None, "yes": True, "no": False, "ints": [7, 300, -2, 1 << 40, -(1 << 63), (1 << 64) - 1, 0],
//    "real": 0.5, "text": "h\u00e9", "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)), 1: {"x": []},
//    "twice": [shared, shared]}
const std::vector<std::string>& protocols() {
  static const std::vector<std::string> all = {
      std::string(
          "\x80\x02}q\x00(X\x04\x00\x00\x00noneq\x01NX\x03\x00\x00\x00yesq\x02\x88X\x02\x00\x00\x00noq"
          "\x03\x89X\x04\x00\x00\x00intsq\x04]q\x05(K\x07M,\x01J\xFE\xFF\xFF\xFF\x8A\x06\x00\x00\x00"
          "\x00\x00\x01\x8A\x08\x00\x00\x00\x00\x00\x00\x00\x80\x8A\x09\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
          "\x00K\x00\x65X\x04\x00\x00\x00realq\x06G\x3F\xE0\x00\x00\x00\x00\x00\x00X\x04\x00\x00\x00tex"
          "tq\x07X\x03\x00\x00\x00h\xC3\xA9q\x08X\x06\x00\x00\x00tuplesq\x09()K\x01\x85q\x0AK\x01K\x02"
          "\x86q\x0BK\x01K\x02K\x03\x87q\x0C(K\x01K\x02K\x03K\x04tq\x0Dtq\x0EK\x01}q\x0FX\x01\x00\x00"
          "\x00xq\x10]q\x11sX\x05\x00\x00\x00twiceq\x12]q\x13(]q\x14K\x05\x61h\x14\x65u.",
          232),
      std::string(
          "\x80\x03}q\x00(X\x04\x00\x00\x00noneq\x01NX\x03\x00\x00\x00yesq\x02\x88X\x02\x00\x00\x00noq"
          "\x03\x89X\x04\x00\x00\x00intsq\x04]q\x05(K\x07M,\x01J\xFE\xFF\xFF\xFF\x8A\x06\x00\x00\x00"
          "\x00\x00\x01\x8A\x08\x00\x00\x00\x00\x00\x00\x00\x80\x8A\x09\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
          "\x00K\x00\x65X\x04\x00\x00\x00realq\x06G\x3F\xE0\x00\x00\x00\x00\x00\x00X\x04\x00\x00\x00tex"
          "tq\x07X\x03\x00\x00\x00h\xC3\xA9q\x08X\x06\x00\x00\x00tuplesq\x09()K\x01\x85q\x0AK\x01K\x02"
          "\x86q\x0BK\x01K\x02K\x03\x87q\x0C(K\x01K\x02K\x03K\x04tq\x0Dtq\x0EK\x01}q\x0FX\x01\x00\x00"
          "\x00xq\x10]q\x11sX\x05\x00\x00\x00twiceq\x12]q\x13(]q\x14K\x05\x61h\x14\x65u.",
          232),
      std::string(
          "\x80\x04\x95\xB3\x00\x00\x00\x00\x00\x00\x00}\x94(\x8C\x04none\x94N\x8C\x03yes\x94\x88\x8C"
          "\x02no\x94\x89\x8C\x04ints\x94]\x94(K\x07M,\x01J\xFE\xFF\xFF\xFF\x8A\x06\x00\x00\x00\x00\x00"
          "\x01\x8A\x08\x00\x00\x00\x00\x00\x00\x00\x80\x8A\x09\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x00K"
          "\x00\x65\x8C\x04real\x94G\x3F\xE0\x00\x00\x00\x00\x00\x00\x8C\x04text\x94\x8C\x03h\xC3\xA9\x94"
          "\x8C\x06tuples\x94()K\x01\x85\x94K\x01K\x02\x86\x94K\x01K\x02K\x03\x87\x94(K\x01K\x02K\x03K"
          "\x04t\x94t\x94K\x01}\x94\x8C\x01x\x94]\x94s\x8C\x05twice\x94]\x94(]\x94K\x05\x61h\x14\x65u.",
          190),
      std::string(
          "\x80\x05\x95\xB3\x00\x00\x00\x00\x00\x00\x00}\x94(\x8C\x04none\x94N\x8C\x03yes\x94\x88\x8C"
          "\x02no\x94\x89\x8C\x04ints\x94]\x94(K\x07M,\x01J\xFE\xFF\xFF\xFF\x8A\x06\x00\x00\x00\x00\x00"
          "\x01\x8A\x08\x00\x00\x00\x00\x00\x00\x00\x80\x8A\x09\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x00K"
          "\x00\x65\x8C\x04real\x94G\x3F\xE0\x00\x00\x00\x00\x00\x00\x8C\x04text\x94\x8C\x03h\xC3\xA9\x94"
          "\x8C\x06tuples\x94()K\x01\x85\x94K\x01K\x02\x86\x94K\x01K\x02K\x03\x87\x94(K\x01K\x02K\x03K"
          "\x04t\x94t\x94K\x01}\x94\x8C\x01x\x94]\x94s\x8C\x05twice\x94]\x94(]\x94K\x05\x61h\x14\x65u.",
          190),
  };
  return all;
}

constexpr std::string_view kShown =
    "{'none', None, 'yes', True, 'no', False, 'ints', [7, 300, -2, 1099511627776, -9223372036854775808, wide, 0], "
    "'real', 0.5, 'text', 'h\xC3\xA9', 'tuples', ((), (1), (1, 2), (1, 2, 3), (1, 2, 3, 4)), 1, {'x', []}, "
    "'twice', [[5], [5]]}";

TEST(ParsePickle, EveryProtocol) {
  for (const std::string& bytes : protocols()) EXPECT_EQ(shown(parse_pickle(bytes)), kShown);
}

TEST(ParsePickle, SharedPartsAreThereOnce) {
  for (const std::string& bytes : protocols()) {
    const Result<PlainData> data = parse_pickle(bytes);
    ASSERT_TRUE(data);
    const std::span<const Datum> twice = data->root().elements().back().elements();
    ASSERT_EQ(twice.size(), 2u);
    EXPECT_EQ(twice[0].elements().data(), twice[1].elements().data());
  }
}

// {"bytes": b"\0\xff", "empty": b""} with protocol 3, {"set": {1, 2}, "frozen": frozenset([3])} with 4.
TEST(ParsePickle, BytesAndSets) {
  const std::string bytes(
      "\x80\x03}q\x00(X\x05\x00\x00\x00\x62ytesq\x01\x43\x02\x00\xFFq\x02X\x05\x00\x00\x00\x65mptyq"
      "\x03\x43\x00q\x04u.",
      42);
  const std::string sets(
      "\x80\x04\x95!\x00\x00\x00\x00\x00\x00\x00}\x94(\x8C\x03set\x94\x8F\x94(K\x01K\x02\x90\x8C"
      "\x06\x66rozen\x94(K\x03\x91\x94u.",
      44);
  EXPECT_EQ(shown(parse_pickle(bytes)), "{'bytes', b2, 'empty', b0}");
  EXPECT_EQ(shown(parse_pickle(sets)), "{'set', set(1, 2), 'frozen', set(3)}");
}

TEST(ParsePickle, TheValuesOfKinds) {
  const Result<PlainData> data =
      parse_pickle(std::string("\x80\x02](X\x01\0\0\0aK\x05G\x3F\xE0\0\0\0\0\0\0\x88Ne."sv));
  ASSERT_TRUE(data) << data.error().message;
  const std::span<const Datum> all = data->root().elements();
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].text(), "a");
  EXPECT_EQ(all[0].integer(), std::nullopt);
  EXPECT_EQ(all[0].boolean(), std::nullopt);
  EXPECT_EQ(all[1].integer(), 5);
  EXPECT_EQ(all[1].real(), 5.0);
  EXPECT_EQ(all[1].text(), std::nullopt);
  EXPECT_EQ(all[2].real(), 0.5);
  EXPECT_EQ(all[2].integer(), std::nullopt);
  EXPECT_EQ(all[3].boolean(), true);
  EXPECT_EQ(all[3].integer(), std::nullopt);
  EXPECT_TRUE(all[4].is_none());
  EXPECT_TRUE(all[4].elements().empty());
}

TEST(ParsePickle, WhatFollowsItsEndIsNotPartOfIt) {
  const Result<PlainData> data = parse_pickle(std::string("\x80\x02N.more", 8));
  ASSERT_TRUE(data);
  EXPECT_EQ(data->bytes_used(), 4u);
  EXPECT_EQ(data->size(), 8u);
}

// Never a crash, and never the value of the whole.
TEST(ParsePickle, CutOffAnywhere) {
  for (const std::string& bytes : protocols()) {
    for (size_t n = 0; n < bytes.size(); ++n) {
      const Result<PlainData> data = parse_pickle(bytes.substr(0, n));
      ASSERT_FALSE(data) << n;
      EXPECT_NE(data.error().message.find("cut off"), std::string::npos) << data.error().message;
      EXPECT_EQ(data.error().code, Code::corrupt);
    }
  }
}

TEST(ParsePickle, AnyByteInThePlaceOfAnyOther) {
  size_t read = 0, refused = 0;
  for (const std::string& bytes : protocols()) {
    for (size_t at = 0; at < bytes.size(); ++at) {
      std::string changed = bytes;
      // Each fifth value, others at the next place: each protocol has every one of them many times.
      for (int byte = static_cast<int>(at % 5); byte < 256; byte += 5) {
        changed[at] = static_cast<char>(byte);
        const Result<PlainData> data = parse_pickle(changed);
        (data ? read : refused)++;
        ASSERT_TRUE(!data || data->bytes_used() <= bytes.size());
        ASSERT_TRUE(data || data.error().message.find("(at byte ") != std::string::npos);
      }
    }
  }
  EXPECT_GT(read, 1000u);  // a wrong byte within a text or a number is another value
  EXPECT_GT(refused, 1000u);
}

std::string error_of(std::string_view bytes, const DataLimits& limits = {}) {
  const Result<PlainData> data = parse_pickle(std::string(bytes), limits);
  return data ? "read" : fmt::format("{}: {}", code_name(data.error().code), data.error().message);
}

TEST(ParsePickle, NothingIsLookedUpCalledOrBuilt) {
  EXPECT_EQ(error_of("\x80\x02\x63posix\nsystem\nX\x04\0\0\0true\x85R."sv),
            "unsupported: it is not plain data: GLOBAL looks up a class or a function (at byte 2)");
  EXPECT_EQ(error_of("\x80\x04\x8C\x05posix\x8C\x06system\x93)R."sv),
            "unsupported: it is not plain data: STACK_GLOBAL looks up a class or a function (at byte 17)");
  EXPECT_EQ(error_of("\x80\x02)R."sv),
            "unsupported: it is not plain data: REDUCE calls a function (at byte 3)");
  EXPECT_EQ(error_of("\x80\x02N}b."sv),
            "unsupported: it is not plain data: BUILD makes an object (at byte 4)");
  EXPECT_EQ(error_of("\x80\x02NQ."sv),
            "unsupported: it is not plain data: BINPERSID needs data from elsewhere (at byte 3)");
  for (const std::string_view op :
       {"c", "\x93", "\x82", "\x83", "\x84", "R",    "i", "o", "\x81", "\x92", "b",
        "P", "Q",    "\x97", "\x98", "\x96", "\x8B", "0", "1", "2",    "I",    "L",
        "F", "S",    "T",    "U",    "V",    "d",    "l", "p", "g"})
    EXPECT_NE(error_of(fmt::format("\x80\x04N{}.", op)).find("not plain data"), std::string::npos) << op;
  EXPECT_EQ(error_of("\x80\x02\xFF."sv), "corrupt: byte 0xFF is no opcode (at byte 2)");
  // A pickle within a pickle begins anew nowhere.
  EXPECT_EQ(error_of("\x80\x02\x80\x02N."sv), "corrupt: byte 0x80 is no opcode (at byte 2)");
  for (const std::string_view head : {"(dp0\nS'a'\np1\ns.", "\x80\x01N.", "\x80\x06N.", "{}"})
    EXPECT_EQ(error_of(head), "unsupported: it is no pickle of protocol 2 to 5 (at byte 0)") << head;
}

TEST(ParsePickle, LengthsAreHeldAgainstWhatIsLeft) {
  for (const std::string_view bytes :
       {"\x80\x04X\xFF\xFF\xFF\xFFz."sv, "\x80\x04\x8D\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFz."sv,
        "\x80\x04\x8E\0\0\0\0\0\0\0\x7F\x61."sv, "\x80\x02\x8A\xFF\x01."sv,
        "\x80\x04\x95\0\0\0\0\0\x01\0\0}."sv, "\x80\x04\x8C\x09tooshort"sv})
    EXPECT_EQ(error_of(bytes), "corrupt: it is cut off (at byte 2)");
  EXPECT_EQ(error_of("\x80\x02\x8A\x11\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01."sv),
            "unsupported: it has an integer of more than 128 bits (at byte 2)");
  EXPECT_EQ(shown(parse_pickle(std::string("\x80\x02\x8A\0.", 5))), "0");
}

TEST(ParsePickle, TheStackIsNeverShort) {
  for (const std::string_view bytes : {"\x80\x02."sv,
                                       "\x80\x02s."sv,
                                       "\x80\x02\x61."sv,
                                       "\x80\x02Na."sv,
                                       "\x80\x02}Ns."sv,
                                       "\x80\x02\x85."sv,
                                       "\x80\x02N\x86."sv,
                                       "\x80\x02t."sv,
                                       "\x80\x02u."sv,
                                       "\x80\x02(u."sv,
                                       "\x80\x02}(Nu."sv,
                                       "\x80\x02N(."sv,
                                       "\x80\x02NN."sv,
                                       "\x80\x02]}Na."sv,
                                       "\x80\x02](N\x61."sv,
                                       "\x80\x02q\0."sv,
                                       "\x80\x02h\0."sv,
                                       "\x80\x02Nq\0h\x01."sv,
                                       "\x80\x02j\xFF\xFF\xFF\xFF."sv,
                                       "\x80\x02Nr\xFF\xFF\xFF\x7F."sv,
                                       "\x80\x04\x8F(Ne."sv,
                                       "\x80\x04](N\x90."sv,
                                       "\x80\x02(q\0."sv})
    EXPECT_EQ(error_of(bytes).substr(0, 8), "corrupt:") << testing::PrintToString(bytes);
}

TEST(ParsePickle, NothingContainsItself) {
  const std::string grown =
      "unsupported: something grows that is part of something else already, or of itself";
  EXPECT_EQ(error_of("\x80\x02}q\0X\x01\0\0\0ah\0s."sv), grown + " (at byte 13)");
  EXPECT_EQ(error_of("\x80\x02]q\0h\0a."sv), grown + " (at byte 7)");
  // a = [], b = [a], a.append(b)
  EXPECT_EQ(error_of("\x80\x02]q\0]q\1h\0ah\0h\1a."sv), grown + " (at byte 15)");
}

TEST(ParsePickle, DepthValuesAndContainersAreBounded) {
  const auto nested = [](size_t depth) {
    return "\x80\x02" + std::string(depth, ']') + std::string(depth - 1, 'a') + ".";
  };
  EXPECT_EQ(error_of(nested(64)), "read");
  EXPECT_EQ(error_of(nested(65)), "unsupported: it is nested deeper than 64 levels (at byte 130)");
  EXPECT_EQ(error_of(nested(200'000)).substr(0, 42), "unsupported: it is nested deeper than 64 l");
  EXPECT_EQ(error_of(nested(5), {.containers = 4}),
            "unsupported: it has more than 4 lists, tuples and dictionaries (at byte 6)");
  EXPECT_EQ(error_of("\x80\x02](NNNe."sv, {.values = 3}),
            "unsupported: it has more than 3 values (at byte 6)");
  EXPECT_EQ(error_of("\x80\x02](NNNe."sv, {.values = 4}), "read");
}

// 2^30 leaves in 31 lists.
TEST(ParsePickle, DoublingTakesNoMoreThanItsText) {
  std::string bytes = "\x80\x02";
  for (int level = 0; level < 30; ++level) bytes += "](";
  bytes += "]";
  for (int level = 0; level < 30; ++level) {
    const char place = static_cast<char>(level);
    bytes += std::string("q") + place + "h" + place + "e";
  }
  const Result<PlainData> data = parse_pickle(bytes + ".");
  ASSERT_TRUE(data) << data.error().message;
  const Datum* at = &data->root();
  for (int level = 0; level < 30; ++level) {
    ASSERT_EQ(at->elements().size(), 2u);
    EXPECT_EQ(at->elements()[0].elements().data(), at->elements()[1].elements().data());
    at = &at->elements()[0];
  }
}

TEST(ParseJsonData, TheValuesOfKinds) {
  EXPECT_EQ(
      shown(parse_json_data(R"( {"a": [1, -2.5, true, false, null, "x\n\u00e9"], "b": {}, "c": [ ]} )")),
      "{'a', [1, -2.5, True, False, None, 'x\n\xC3\xA9'], 'b', {}, 'c', []}");
  EXPECT_EQ(shown(parse_json_data("99999999999999999999")), "1e+20");
  EXPECT_EQ(shown(parse_json_data(R"("alone")")), "'alone'");
}

TEST(ParseJsonData, ErrorsSayWhere) {
  const auto error = [](std::string_view text) {
    const Result<PlainData> data = parse_json_data(std::string(text));
    return data ? "read" : data.error().message;
  };
  EXPECT_EQ(error(R"({"a": [1, 2)"), "it is cut off (at byte 11)");
  EXPECT_EQ(error(R"({"a": [1 2]})"), "this is no JSON (at byte 9)");
  EXPECT_EQ(error(R"({"a" 1})"), "this is no JSON (at byte 5)");
  EXPECT_EQ(error("[maybe]"), "this is no JSON (at byte 1)");
  EXPECT_EQ(error("[1}"), "this is no JSON (at byte 2)");
  EXPECT_EQ(error(std::string(100'000, '[')), "it is nested deeper than 64 levels (at byte 65)");
  const std::string whole = R"({"a": [1, {"b": "c\u00e9"}, null], "d": 2.5e3})";
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_NE(error(whole.substr(0, n)), "read") << n;
}

}  // namespace
}  // namespace spotter::read
