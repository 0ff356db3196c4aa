// Whole traces against an independent reader: every event and every argument of the fixtures as simdjson sees
// them. With SPOTTER_REFERENCE_TRACES=folder, of all the traces below that folder too.
#include <gtest/gtest.h>
#include <libdeflate.h>
#include <simdjson.h>

#include <filesystem>

#include "read/test_read.h"

namespace spotter::read {
namespace {

namespace fs = std::filesystem;
namespace sj = simdjson::ondemand;

constexpr size_t kMostBytes = 500'000;  // of a shared file: all of them take a minute with sanitizers

std::string read_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string inflated(const std::string& packed) {
  if (!packed.starts_with("\x1F\x8B")) return packed;
  u32 size = 0;  // of the text: the last four bytes of the one member
  std::memcpy(&size, packed.data() + packed.size() - 4, 4);
  std::string text(size, '\0');
  libdeflate_decompressor* d = libdeflate_alloc_decompressor();
  const auto result =
      libdeflate_gzip_decompress(d, packed.data(), packed.size(), text.data(), text.size(), nullptr);
  libdeflate_free_decompressor(d);
  return result == LIBDEFLATE_SUCCESS ? text : "";
}

std::string_view trimmed(std::string_view s) {
  const size_t last = s.find_last_not_of(" \t\r\n");
  return s.substr(0, last == s.npos ? 0 : last + 1);
}

// Decimal microseconds with three decimals or fewer, digit by digit.
Ns exact_ns(std::string_view token) {
  const bool quoted = token.starts_with('"');
  std::string digits(trimmed(quoted ? token.substr(1, token.rfind('"') - 1) : token));
  EXPECT_EQ(digits.find_first_of("eE"), digits.npos) << token;
  size_t point = digits.find('.');
  if (point == digits.npos) point = digits.size(), digits += '.';
  digits.erase(point, 1);
  while (digits.size() > point + 3 && digits.back() == '0') digits.pop_back();
  EXPECT_LE(digits.size(), point + 3) << token;
  digits.resize(point + 3, '0');
  return std::stoll(digits);
}

struct Value {
  ArgType type = ArgType::null;
  std::string text;
};

Value value_of(sj::value v) {
  switch (v.type()) {
    case sj::json_type::string:
      return {ArgType::text, std::string(std::string_view(v.get_string()))};
    case sj::json_type::array:
      return {ArgType::json, std::string(trimmed(v.get_array().value().raw_json()))};
    case sj::json_type::object:
      return {ArgType::json, std::string(trimmed(v.get_object().value().raw_json()))};
    case sj::json_type::null:
      return {ArgType::null, "null"};
    case sj::json_type::boolean:
      return v.get_bool() ? Value{ArgType::yes, "true"} : Value{ArgType::no, "false"};
    case sj::json_type::number:
      break;
  }
  const std::string token(trimmed(v.raw_json_token()));
  if (token.find_first_of(".eE") != token.npos)
    return {ArgType::real, fmt::format("{}", std::strtod(token.c_str(), nullptr))};
  i64 number = 0;
  if (v.get_int64().get(number) != simdjson::SUCCESS) return {ArgType::json, token};
  return {number == static_cast<i32>(number) ? ArgType::int32 : ArgType::int64, std::to_string(number)};
}

std::string name_of(const std::string& key) {
  for (const ArgSpelling& s : arg_spellings()) {
    if (s.key != key) continue;
    for (const ArgSpelling& first : arg_spellings()) {
      if (first.arg == s.arg) return std::string(first.key);
    }
  }
  return key;
}

// A pid or tid: a number, also one in quotes; else a text, and the number at its end.
void read_row_id(sj::value v, i64& number, std::string& text) {
  const std::string s = value_of(v).text;
  const size_t digits = s.find_last_not_of("0123456789") + 1;
  const bool is_number = (digits == 0 && !s.empty()) || (digits == 1 && s[0] == '-' && s.size() > 1);
  if (!is_number) text = s;
  number = is_number ? std::stoll(s) : digits < s.size() ? std::stoll(s.substr(digits)) : 0;
}

std::string row_of_event(sj::object event) {
  char phase = 'X';
  std::string category, name, pid_text, tid_text, items;
  Track track;
  Ns ts = 0, dur = 0;
  bool has_ts = false, has_dur = false, has_cat = false;
  for (auto field : event) {
    const std::string key(std::string_view(field.unescaped_key()));
    sj::value v = field.value();
    const sj::json_type type = v.type();
    const bool text = type == sj::json_type::string, time = text || type == sj::json_type::number;
    if (key == "ph" && text) {
      phase = value_of(v).text.at(0);
    } else if (key == "cat" && text) {
      has_cat = true, category = value_of(v).text;
    } else if (key == "name" && text) {
      name = value_of(v).text;
    } else if (key == "pid") {
      read_row_id(v, track.pid, pid_text);
    } else if (key == "tid") {
      read_row_id(v, track.tid, tid_text);
    } else if (key == "ts" && time) {
      has_ts = true, ts = exact_ns(v.raw_json_token());
    } else if (key == "dur" && time) {
      has_dur = true, dur = std::max<Ns>(0, exact_ns(v.raw_json_token()));
    } else if (key == "args" && type == sj::json_type::object) {
      for (auto arg : v.get_object()) {
        const std::string arg_key(std::string_view(arg.unescaped_key()));
        const Value a = value_of(arg.value());
        items += as_item(name_of(arg_key), a.type, a.text);
      }
    } else {
      const Value a = value_of(v);
      items += as_item(key == "id" ? "id" : "." + key, a.type, a.text);
    }
  }
  const bool is_span = phase == 'X' && has_ts && has_dur && has_cat;
  return as_row(phase, category, name, track, pid_text, tid_text, ts, dur, is_span) + items;
}

std::vector<std::string> reference_rows(const std::string& text) {
  std::vector<std::string> rows;
  sj::parser parser;
  const simdjson::padded_string padded(text);
  sj::document document = parser.iterate(padded);
  const auto add_all = [&](sj::array events) {
    for (sj::object event : events) rows.push_back(row_of_event(event));
  };
  if (text[text.find_first_not_of(" \n")] == '[') {
    add_all(document.get_array());
  } else {
    add_all(document.find_field("traceEvents").get_array());
  }
  return rows;
}

std::vector<fs::path> traces_below(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".json") || name.ends_with(".json.gz")) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

void expect_same(const fs::path& path) {
  const std::string text = inflated(read_bytes(path));
  const bool is_trace =
      text.find("\"traceEvents\"") != text.npos || text[text.find_first_not_of(" \n")] == '[';
  std::vector<std::string> rows;
  try {
    if (is_trace) rows = reference_rows(text);
  } catch (const simdjson::simdjson_error& error) {
    FAIL() << path << ": simdjson: " << error.what();
  }
  for (const int threads : {1, 4}) {
    LoadRequest request;
    request.threads = threads;
    const Result<TracePtr> trace = load({path.string(), 0, 0, {}, {}, {}, {}}, request);
    if (!is_trace) {
      EXPECT_EQ(trace.error().code, Code::unsupported) << path;
      continue;
    }
    ASSERT_TRUE(trace) << path << ": " << trace.error().message;
    EXPECT_EQ(difference(rows_of(**trace), rows), "") << path;
    EXPECT_EQ((*trace)->info().json_bytes, static_cast<i64>(text.size())) << path;
    EXPECT_EQ((*trace)->notes().count("damaged_event"), 0) << path;
  }
}

TEST(Reference, Fixtures) {
  const std::vector<fs::path> paths = traces_below("tests/fixtures/traces");
  ASSERT_FALSE(paths.empty()) << "run this from the root of the repository";
  for (const fs::path& path : paths) expect_same(path);
}

TEST(Reference, SharedTraces) {
  const char* named = std::getenv("SPOTTER_SHARED");
  const fs::path folder = fs::path(named ? named : "../shared") / "traces";
  if (!fs::is_directory(folder))
    GTEST_SKIP() << "no traces in " << folder << "; name their folder in SPOTTER_SHARED";
  size_t compared = 0;
  for (const fs::path& path : traces_below(folder)) {
    if (fs::file_size(path) >= kMostBytes) continue;
    expect_same(path);
    ++compared;
  }
  EXPECT_GT(compared, 0U) << folder;
}

}  // namespace
}  // namespace spotter::read
