#include "table/table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>

#include "base/result.h"

namespace spotter {

namespace {

// In the order of their enumerations.
constexpr const char* kTypes[] = {"integer", "real", "text", "flag"};
constexpr const char* kUnits[] = {"none",    "ns",    "bytes",  "ratio", "count", "bytes_per_s",
                                  "celsius", "watts", "joules", "hertz", "per_s"};
constexpr const char* kRoles[] = {"key", "value", "counter", "time", "detail"};

template <class Enum>
std::optional<Enum> named(std::span<const char* const> names, std::string_view name) {
  const auto it = std::ranges::find(names, name);
  if (it == names.end()) return std::nullopt;
  return static_cast<Enum>(it - names.begin());
}

}  // namespace

const char* type_name(Type type) { return kTypes[static_cast<size_t>(type)]; }
const char* unit_name(Unit unit) { return kUnits[static_cast<size_t>(unit)]; }
const char* role_name(Role role) { return kRoles[static_cast<size_t>(role)]; }
std::optional<Type> type_of(std::string_view name) { return named<Type>(kTypes, name); }
std::optional<Unit> unit_of(std::string_view name) { return named<Unit>(kUnits, name); }
std::optional<Role> role_of(std::string_view name) { return named<Role>(kRoles, name); }

const char* lasting_text(std::string_view text) {
  static std::mutex mutex;
  static auto& texts = *new std::set<std::string, std::less<>>();  // never freed: tables may outlive all else
  std::lock_guard lock(mutex);
  const auto it = texts.find(text);
  return it != texts.end() ? it->c_str() : texts.emplace(text).first->c_str();
}

Table::Table(std::string name, std::span<const Field> schema) : name_(std::move(name)), schema_(schema) {}

Table::Table(std::string name, std::vector<Field> schema)
    : name_(std::move(name)), own_schema_(std::make_shared<const std::vector<Field>>(std::move(schema))) {
  schema_ = *own_schema_;
}

Table Table::empty_like() const {
  Table table;
  table.name_ = name_;
  table.schema_ = schema_;
  table.own_schema_ = own_schema_;
  table.notes = notes;
  table.is_events = is_events;
  return table;
}

size_t Table::column(std::string_view name) const {
  size_t i = 0;
  while (i < schema_.size() && name != schema_[i].name) ++i;
  CHECK(i < schema_.size());
  return i;
}

size_t Table::text_bytes() const {
  const size_t copies = places_.empty() ? 1 : 2;  // each is a key of the dictionary, too
  size_t bytes = 0;
  for (const std::string& word : words_) bytes += copies * (sizeof word + word.size());
  return bytes;
}

u64 Table::cell_of(Type type, const Value& value) {
  switch (type) {
    case Type::integer:
      CHECK(std::holds_alternative<i64>(value));
      return std::bit_cast<u64>(std::get<i64>(value));
    case Type::real:
      if (const i64* whole = std::get_if<i64>(&value)) return std::bit_cast<u64>(static_cast<double>(*whole));
      CHECK(std::holds_alternative<double>(value));
      return std::bit_cast<u64>(std::get<double>(value));
    case Type::flag:
      CHECK(std::holds_alternative<bool>(value));
      return std::get<bool>(value);
    case Type::text:
      CHECK(std::holds_alternative<std::string_view>(value));
      return word_of(std::get<std::string_view>(value));
  }
  return 0;
}

u64 Table::word_of(std::string_view text) {
  constexpr size_t kFew = 24;  // of which each is looked at: most tables have no more
  const auto next = static_cast<u32>(words_.size());
  if (next < kFew) {
    for (u32 i = 0; i < next; ++i) {
      if (words_[i] == text) return i;
    }
    if (words_.empty()) words_.reserve(4);
    words_.emplace_back(text);
    return next;
  }
  if (places_.empty()) {
    for (u32 i = 0; i < next; ++i) places_.emplace(words_[i], i);
  }
  const auto [it, is_new] = places_.try_emplace(std::string(text), next);
  if (is_new) words_.push_back(it->first);
  return it->second;
}

void Table::append(std::span<const Value> row) {
  CHECK(row.size() == schema_.size() && packing_.empty());
  if (cells_.empty()) cells_.reserve(row.size());
  for (size_t i = 0; i < row.size(); ++i) {
    const bool null = is_null(row[i]);
    if (null && valid_.empty()) {
      valid_.reserve(cells_.capacity());
      valid_.assign(cells_.size(), 1);
    }
    cells_.push_back(null ? 0 : cell_of(schema_[i].type, row[i]));
    if (!valid_.empty() || null) valid_.push_back(!null);
  }
  ++rows_;
}

void Table::pack() {
  static_assert(std::endian::native == std::endian::little, "a number's low bytes come first");
  if (rows_ == 0 || !packing_.empty()) return;
  std::vector<size_t> bytes;  // per column
  for (size_t c = 0; c < columns(); ++c) {
    i64 least = std::bit_cast<i64>(cells_[c]), most = least;
    for (size_t place = c; place < cells_.size(); place += columns()) {
      least = std::min(least, std::bit_cast<i64>(cells_[place]));
      most = std::max(most, std::bit_cast<i64>(cells_[place]));
    }
    const u64 base = std::bit_cast<u64>(least);
    const auto bits = static_cast<size_t>(std::bit_width(std::bit_cast<u64>(most) - base));
    bytes.push_back((bits + 7) / 8);
    packing_.push_back({base, bytes.back() == sizeof(u64) ? ~u64{0} : (u64{1} << 8 * bytes.back()) - 1,
                        static_cast<u32>(row_bytes_)});
    row_bytes_ += bytes.back();
  }
  packed_.resize(rows_ * row_bytes_ + sizeof(u64));
  u8* to = packed_.data();
  for (size_t place = 0, c = 0; place < cells_.size(); ++place, c = c + 1 == columns() ? 0 : c + 1) {
    const u64 number = cells_[place] - packing_[c].base;
    std::memcpy(to, &number, bytes[c]);
    to += bytes[c];
  }
  cells_ = std::vector<u64>();  // = {} would keep its memory
  places_ = std::unordered_map<std::string, u32>();
  valid_.shrink_to_fit();
}

u64 Table::cell(size_t row, size_t column) const {
  if (packing_.empty()) return cells_[row * schema_.size() + column];
  const Packing& packing = packing_[column];
  u64 number;
  std::memcpy(&number, packed_.data() + row * row_bytes_ + packing.offset, sizeof number);
  return packing.base + (number & packing.mask);
}

size_t Table::word(size_t row, size_t column) const {
  CHECK(row < rows_ && column < schema_.size() && schema_[column].type == Type::text);
  CHECK(valid_.empty() || valid_[row * schema_.size() + column]);
  return cell(row, column);
}

Value Table::at(size_t row, size_t column) const {
  CHECK(row < rows_ && column < schema_.size());
  if (!valid_.empty() && !valid_[row * schema_.size() + column]) return {};
  const u64 value = cell(row, column);
  switch (schema_[column].type) {
    case Type::integer:
      return std::bit_cast<i64>(value);
    case Type::real:
      return std::bit_cast<double>(value);
    case Type::flag:
      return value != 0;
    case Type::text:
      return std::string_view(words_[value]);
  }
  return {};
}

}  // namespace spotter
