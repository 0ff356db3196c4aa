#include "render/columns_binary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <vector>

#include "render/json_text.h"

namespace spotter::render {
namespace {

constexpr std::string_view kMagic = "SPT1";
constexpr std::string_view kStart = "start_ns", kLength = "dur_ns";
constexpr size_t kMostReals = 65'536;  // distinct ones: two planes

// Bits of two's complement that a number needs; 0 of 0.
int signed_bits(i64 value) {
  const u64 magnitude = static_cast<u64>(value < 0 ? ~value : value);
  return value == 0 ? 0 : static_cast<int>(std::bit_width(magnitude)) + 1;
}

int bytes_of(int bits) { return (bits + 7) / 8; }
int unsigned_width(size_t most) { return bytes_of(static_cast<int>(std::bit_width(most))); }

void append_planes(std::string& out, std::span<const u64> numbers, int width) {
  for (int byte = 0; byte < width; ++byte)
    for (const u64 number : numbers) out += static_cast<char>(number >> (8 * byte));
}

// What is written of integers: how far each is from what the row before lets expect.
struct IntegerCoding {
  const char* name;
  std::vector<u64> numbers;
  int width;
  double cost;
};

// Bytes, if each plane is packed by how often its bytes occur.
double packed_size(std::span<const u64> numbers, int width) {
  double bits = 0;
  for (int byte = 0; byte < width; ++byte) {
    std::array<size_t, 256> counts = {};
    for (const u64 number : numbers) ++counts[number >> (8 * byte) & 255];
    for (const size_t count : counts)
      if (count > 0)
        bits -= static_cast<double>(count) *
                std::log2(static_cast<double>(count) / static_cast<double>(numbers.size()));
  }
  return bits / 8;
}

// `expected(row)`: what the row lets expect of the next one; of the first row `base` is. Differences wrap
// around, as they do when they are added again.
IntegerCoding coding(const char* name, std::span<const i64> numbers, i64 base, auto&& expected) {
  IntegerCoding made{name, std::vector<u64>(numbers.size()), 0, 0};
  int bits = 0;
  for (size_t row = 0; row < numbers.size(); ++row) {
    const u64 before = row == 0 ? static_cast<u64>(base) : expected(row - 1);
    made.numbers[row] = static_cast<u64>(numbers[row]) - before;
    bits = std::max(bits, signed_bits(static_cast<i64>(made.numbers[row])));
  }
  made.width = bytes_of(bits);
  made.cost = packed_size(made.numbers, made.width);
  return made;
}

class ColumnWriter {
 public:
  ColumnWriter(const Table& table, size_t column, std::string& header, std::string& body)
      : table_(table), column_(column), field_(table.schema()[column]), header_(header), body_(body) {}

  void write() {
    header_ += '{';
    member("name", field_.name);
    member("type", type_name(field_.type));
    member("unit", unit_name(field_.unit));
    member("role", role_name(field_.role));
    member("help", field_.help);
    if (field_.is_whole) member("whole", true);
    write_nulls();
    switch (field_.type) {
      case Type::text:
        write_words();
        break;
      case Type::real:
        write_reals();
        break;
      case Type::integer:
      case Type::flag:
        write_integers();
        break;
    }
    header_ += '}';
  }

 private:
  void key(std::string_view name) {
    if (header_.back() != '{') header_ += ',';
    append_json_text(header_, name);
    header_ += ':';
  }
  void member(std::string_view name, const Value& value) {
    key(name);
    append_json_value(header_, value);
  }

  void write_nulls() {
    std::string bits((table_.rows() + 7) / 8, '\0');
    bool any = false;
    for (size_t row = 0; row < table_.rows(); ++row) {
      if (!is_null(table_.at(row, column_))) continue;
      any = true;
      bits[row / 8] = static_cast<char>(bits[row / 8] | (1 << (row % 8)));
    }
    if (!any) return;
    member("nulls", true);
    body_ += bits;
  }

  // Of a null what the row before has, and of those at the beginning what comes first: that costs least.
  template <class T, class Read>
  std::vector<T> values(size_t column, Read&& read) const {
    std::vector<T> all(table_.rows());
    T before{};
    bool any = false;
    for (size_t row = 0; row < all.size(); ++row) {
      if (const Value cell = table_.at(row, column); !is_null(cell)) {
        before = read(row, cell);
        if (!any) std::fill_n(all.begin(), row, before);
        any = true;
      }
      all[row] = before;
    }
    return all;
  }

  void write_words() {
    std::unordered_map<size_t, size_t> places;
    std::vector<size_t> words;
    const auto numbers = values<u64>(column_, [&](size_t row, const Value&) {
      const size_t word = table_.word(row, column_);
      const auto [at, is_new] = places.try_emplace(word, words.size());
      if (is_new) words.push_back(word);
      return at->second;
    });
    const int width = unsigned_width(words.empty() ? 0 : words.size() - 1);
    member("coding", "dictionary");
    member("width", static_cast<i64>(width));
    key("words");
    header_ += '[';
    for (const size_t word : words) {
      if (header_.back() != '[') header_ += ',';
      append_json_text(header_, table_.words()[word]);
    }
    header_ += ']';
    append_planes(body_, numbers, width);
  }

  void write_reals() {
    std::unordered_map<u64, size_t> places;
    std::vector<u64> distinct;
    const auto bits = values<u64>(column_, [&](size_t, const Value& cell) {
      const u64 number = std::bit_cast<u64>(std::get<double>(cell));
      if (distinct.size() <= kMostReals && places.try_emplace(number, distinct.size()).second)
        distinct.push_back(number);
      return number;
    });
    if (distinct.empty() || distinct.size() > kMostReals || distinct.size() > bits.size() / 2) {
      member("coding", "real");
      append_planes(body_, bits, 8);
      return;
    }
    member("coding", "reals");
    member("count", static_cast<i64>(distinct.size()));
    const int width = unsigned_width(distinct.size() - 1);
    member("width", static_cast<i64>(width));
    for (const u64 number : distinct) append_planes(body_, {&number, 1}, 8);
    std::vector<u64> numbers;
    for (const u64 number : bits) numbers.push_back(places.at(number));
    append_planes(body_, numbers, width);
  }

  std::vector<i64> integers(size_t column) const {
    return values<i64>(column, [&](size_t, const Value& cell) {
      return field_.type == Type::flag ? i64{std::get<bool>(cell)} : std::get<i64>(cell);
    });
  }

  void write_integers() {
    const std::vector<i64> numbers = integers(column_);
    const i64 base = field_.role == Role::time && !numbers.empty() ? *std::ranges::min_element(numbers) : 0;
    std::vector<IntegerCoding> codings;
    codings.push_back(coding("plain", numbers, base, [&](size_t) { return static_cast<u64>(base); }));
    if (field_.type == Type::integer)
      codings.push_back(
          coding("delta", numbers, base, [&](size_t row) { return static_cast<u64>(numbers[row]); }));
    if (has_lengths()) {
      const std::vector<i64> lengths = integers(table_.column(kLength));
      codings.push_back(coding("after", numbers, base, [&](size_t row) {
        return static_cast<u64>(numbers[row]) + static_cast<u64>(lengths[row]);
      }));
    }
    const IntegerCoding& best = *std::ranges::min_element(codings, {}, &IntegerCoding::cost);
    member("coding", best.name);
    if (std::string_view(best.name) == "after") member("of", kLength);
    member("width", static_cast<i64>(best.width));
    if (base != 0) member("base", std::to_string(base));
    append_planes(body_, best.numbers, best.width);
  }

  // Spans of a line follow each other closely.
  bool has_lengths() const {
    return field_.name == kStart && std::ranges::any_of(table_.schema(), [](const Field& field) {
             return field.name == kLength && field.type == Type::integer;
           });
  }

  const Table& table_;
  const size_t column_;
  const Field& field_;
  std::string &header_, &body_;
};

void write_columns(const Table& table, std::string& header, std::string& body) {
  header += "{\"name\":";
  append_json_text(header, table.name());
  header += ",\"rows\":";
  append_json_value(header, static_cast<i64>(table.rows()));
  header += ",\"notes\":";
  append_json_notes(header, table.notes);
  header += ",\"columns\":[";
  for (size_t column = 0; column < table.columns(); ++column) {
    if (column > 0) header += ',';
    ColumnWriter(table, column, header, body).write();
  }
  header += "]}";
}

}  // namespace

std::string columns_binary(const Document& document) {
  std::string header = "{\"tables\":[", body;
  for (size_t i = 0; i < document.tables.size(); ++i) {
    if (i > 0) header += ',';
    write_columns(document.tables[i], header, body);
  }
  header += "],\"notes\":";
  append_json_notes(header, document.notes);
  for (const Member& member : document.members) {
    header += ',';
    append_json_text(header, member.name);
    header += ':';
    append_json_value(header, member.value);
  }
  header += '}';
  std::string out(kMagic);
  const u64 length = header.size();
  append_planes(out, {&length, 1}, 4);
  return out + header + body;
}

}  // namespace spotter::render
