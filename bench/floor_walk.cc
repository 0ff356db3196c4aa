// One function walks, and only one place calls it: On-Demand loses a third or more of its speed once the
// compiler stops inlining it, which a second instantiation in this file would cause.
#include "bench/floor_walk.h"

#include <libdeflate.h>
#include <simdjson.h>

#include <cstring>

namespace spotter::bench {
namespace {

namespace od = simdjson::ondemand;

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// The number a token begins with, in units of 10^-Decimals; further decimals are cut off. 0 where it is no
// number.
template <int Decimals>
u64 number(std::string_view token) {
  const char* p = token.data();
  const char* end = p + token.size();
  if (p != end && *p == '"') ++p;
  const bool negative = p != end && *p == '-';
  if (negative) ++p;
  u64 value = 0;
  for (; p != end && is_digit(*p); ++p) value = value * 10 + static_cast<u64>(*p - '0');
  if constexpr (Decimals > 0) {
    int missing = Decimals;
    if (p != end && *p == '.')
      for (++p; p != end && is_digit(*p) && missing > 0; ++p, --missing)
        value = value * 10 + static_cast<u64>(*p - '0');
    for (; missing > 0; --missing) value *= 10;
  }
  return negative ? u64{0} - value : value;
}

// Keys point into the JSON text, which goes on behind their closing quote: comparing it too makes the match
// exact.
template <size_t N>
bool is(const char* key, const char (&name)[N]) {
  return std::memcmp(key, name, N - 1) == 0 && key[N - 1] == '"';
}

// What a walk takes but no sum needs; it keeps the compiler from leaving the reads out.
struct Taken {
  u64 text = 0, pid = 0, tid = 0;
};

simdjson::error_code walk_args(od::value value, bench::Sums& sums) {
  od::object args;
  if (auto error = value.get_object().get(args))
    return error == simdjson::INCORRECT_TYPE ? simdjson::SUCCESS : error;
  for (auto field : args) {
    od::raw_json_string raw_key;
    if (auto error = field.key().get(raw_key)) return error;
    const char* key = raw_key.raw();
    std::string_view token;
    if (auto error = field.value().raw_json_token().get(token)) return error;
    switch (key[0]) {
      case 's':
        if (is(key, "stream"))
          sums.stream += number<0>(token);
        else if (is(key, "size"))
          sums.bytes += number<0>(token);
        break;
      case 'c':
        if (is(key, "correlation")) sums.correlation += number<0>(token);
        break;
      case 'E':
        if (is(key, "External id")) sums.external_id += number<0>(token);
        break;
      case 'e':
        if (is(key, "external id")) sums.external_id += number<0>(token);
        break;
      case 'd':
        if (is(key, "device")) sums.device += number<0>(token);
        break;
      case 'b':
        if (is(key, "bytes")) sums.bytes += number<0>(token);
        break;
      default:
        break;
    }
  }
  return simdjson::SUCCESS;
}

simdjson::error_code walk_event(od::object event, bench::Sums& sums, Taken& taken) {
  for (auto field : event) {
    od::raw_json_string raw_key;
    if (auto error = field.key().get(raw_key)) return error;
    const char* key = raw_key.raw();
    if (is(key, "args")) {
      od::value value;
      if (auto error = field.value().get(value)) return error;
      if (auto error = walk_args(value, sums)) return error;
      continue;
    }
    std::string_view token;
    if (auto error = field.value().raw_json_token().get(token)) return error;
    switch (key[0]) {
      case 'p':
        if (is(key, "pid"))
          taken.pid += number<0>(token);
        else if (is(key, "ph"))
          taken.text += static_cast<u8>(token[1]);
        break;
      case 't':
        if (is(key, "ts"))
          sums.ts += number<3>(token);
        else if (is(key, "tid"))
          taken.tid += number<0>(token);
        break;
      case 'd':
        if (is(key, "dur")) sums.dur += number<3>(token);
        break;
      case 'n':
        if (is(key, "name")) taken.text += token.size();
        break;
      case 'c':
        if (is(key, "cat")) taken.text += token.size();
        break;
      default:
        break;
    }
  }
  return simdjson::SUCCESS;
}

simdjson::error_code walk(od::parser& parser, simdjson::padded_string_view text, bench::Sums& sums,
                          Taken& taken) {
  od::document document;
  if (auto error = parser.iterate(text).get(document)) return error;
  od::array events;
  if (auto error = document["traceEvents"].get_array().get(events)) return error;
  for (auto element : events) {
    od::object event;
    if (auto error = element.get_object().get(event)) return error;
    sums.events++;
    if (auto error = walk_event(event, sums, taken)) return error;
  }
  return simdjson::SUCCESS;
}

volatile u64 g_taken;

}  // namespace

struct bench::Floor::Parser {
  od::parser parser;
};
bench::Floor::Floor() : parser_(std::make_unique<Parser>()) {}
bench::Floor::~Floor() = default;

std::string to_json(const bench::Sums& s) {
  return fmt::format(
      R"({{"events": {}, "ts": {}, "dur": {}, "correlation": {}, "external_id": {}, "stream": {}, "device": {}, )"
      R"("bytes": {}}})",
      s.events, s.ts, s.dur, s.correlation, s.external_id, s.stream, s.device, s.bytes);
}

Result<void> bench::Floor::inflate(std::span<const char> gzip_file) {
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> inflater(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  json_bytes_ = 0;
  while (!gzip_file.empty()) {
    const size_t room =
        text_.size() > simdjson::SIMDJSON_PADDING ? text_.size() - simdjson::SIMDJSON_PADDING : 0;
    size_t used = 0, made = 0;
    const libdeflate_result result =
        libdeflate_gzip_decompress_ex(inflater.get(), gzip_file.data(), gzip_file.size(),
                                      text_.data() + json_bytes_, room - json_bytes_, &used, &made);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE) {
      text_.resize(text_.size() + 24 * gzip_file.size() + simdjson::SIMDJSON_PADDING);
      continue;
    }
    if (result != LIBDEFLATE_SUCCESS) return fail(Code::corrupt, "libdeflate cannot inflate the file");
    json_bytes_ += made;
    gzip_file = gzip_file.subspan(used);
  }
  return {};
}

Result<bench::Sums> bench::Floor::run(std::span<const char> gzip_file) {
  TRY(inflate(gzip_file));
  bench::Sums sums;
  Taken taken;
  const simdjson::padded_string_view text(text_.data(), json_bytes_, text_.size());
  if (auto error = walk(parser_->parser, text, sums, taken))
    return fail(Code::corrupt, "simdjson: {}", simdjson::error_message(error));
  g_taken = taken.text + taken.pid + taken.tid;
  return sums;
}

}  // namespace spotter::bench
