// Objects whose members are named once, for both ways: each kind has a template fields(way, object) in this
// namespace, which is called with a JsonWriter or a JsonReader.
#pragma once
#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/moment.h"
#include "base/text/words.h"
#include "base/time.h"
#include "wire/json.h"

namespace spotter::wire {

// A key of a row is a number where it can be one and nothing is lost.
inline std::optional<i64> row_number(const std::string& text) {
  const auto number = to_integer(text);
  return number && std::to_string(*number) == text ? number : std::nullopt;
}

class JsonWriter {
 public:
  boost::json::object out;

  void text(const char* name, const std::string& text) { out[name] = mended(text); }
  void integer(const char* name, const std::optional<i64>& value) { set(name, value); }
  void count(const char* name, i64 value) { out[name] = value; }
  void real(const char* name, const std::optional<double>& value) {
    set(name, value && std::isfinite(*value) ? value : std::nullopt);
  }
  void flag(const char* name, bool value) { out[name] = value; }
  void flag(const char* name, const std::optional<bool>& value) { set(name, value); }
  void milliseconds(const char* name, Ns value) { out[name] = value / kMillisecond; }
  void milliseconds(const char* name, const std::optional<Ns>& value) {
    set(name, value ? std::optional(*value / kMillisecond) : std::nullopt);
  }
  void time(const char* name, Ns at) {
    out[name] = at > 0 ? boost::json::value(utc_text(at)) : boost::json::value();
  }
  void time(const char* name, const std::optional<Ns>& at) { time(name, at.value_or(0)); }
  template <class Enum, class Name, size_t kNames>
  void word(const char* name, Enum value, const Name (&names)[kNames]) {
    out[name] = boost::json::string_view(names[static_cast<size_t>(value)]);
  }
  void texts(const char* name, const std::vector<std::string>& all) {
    boost::json::array list;
    for (const std::string& text : all) list.emplace_back(mended(text));
    out[name] = std::move(list);
  }
  void integers(const char* name, const std::vector<i64>& all) {
    boost::json::array list;
    for (const i64 number : all) list.emplace_back(number);
    out[name] = std::move(list);
  }
  void row(const char* name, const std::vector<std::pair<std::string, std::string>>& keys) {
    boost::json::object row;
    for (const auto& [key, value] : keys) {
      const auto number = row_number(value);
      row[mended(key)] = number ? boost::json::value(*number) : boost::json::value(mended(value));
    }
    out[name] = std::move(row);
  }
  template <class T>
  void object(const char* name, T& object) {
    out[name] = written(object);
  }
  template <class T>
  void object(const char* name, std::optional<T>& object) {
    out[name] = object ? boost::json::value(written(*object)) : boost::json::value();
  }
  template <class T>
  void list(const char* name, std::vector<T>& all) {
    boost::json::array list;
    for (T& one : all) list.emplace_back(written(one));
    out[name] = std::move(list);
  }

 private:
  template <class T>
  void set(const char* name, const std::optional<T>& value) {
    out[name] = value ? boost::json::value(*value) : boost::json::value();
  }
  template <class T>
  static boost::json::object written(T& object) {
    JsonWriter writer;
    fields(writer, object);
    return std::move(writer.out);
  }
};

// Throws std::invalid_argument, or what the library throws, where a value has another type or form.
class JsonReader {
 public:
  explicit JsonReader(const boost::json::object& in) : in_(in) {}

  void text(const char* name, std::string& to) const {
    if (const boost::json::value* value = find(name)) to = std::string(text_in(*value));
  }
  void integer(const char* name, std::optional<i64>& to) const {
    if (const boost::json::value* value = find(name)) to = value->to_number<i64>();
  }
  void count(const char* name, i64& to) const {
    const boost::json::value* value = find(name);
    if (!value) return;
    to = value->to_number<i64>();
    expect(0 <= to && to <= kMost, "a count");
  }
  void real(const char* name, std::optional<double>& to) const {
    const boost::json::value* value = find(name);
    if (!value) return;
    to = real_in(*value);
    expect(std::isfinite(*to), "a number that is not beyond all");
  }
  void flag(const char* name, bool& to) const {
    if (const boost::json::value* value = find(name)) to = value->as_bool();
  }
  void flag(const char* name, std::optional<bool>& to) const {
    if (const boost::json::value* value = find(name)) to = value->as_bool();
  }
  void milliseconds(const char* name, Ns& to) const {
    i64 ms = 0;
    count(name, ms);
    to = std::min(ms, kMostMs) * kMillisecond;
  }
  void milliseconds(const char* name, std::optional<Ns>& to) const {
    if (find(name)) milliseconds(name, to.emplace());
  }
  void time(const char* name, Ns& to) const {
    if (const boost::json::value* value = find(name)) to = moment_in(*value);
  }
  void time(const char* name, std::optional<Ns>& to) const {
    if (const boost::json::value* value = find(name)) to = moment_in(*value);
  }
  template <class Enum, class Name, size_t kNames>
  void word(const char* name, Enum& to, const Name (&names)[kNames]) const {
    const boost::json::value* value = find(name);
    if (!value) return;
    size_t i = 0;
    while (i < kNames && text_in(*value) != names[i]) ++i;
    expect(i < kNames, "a word that is known");
    to = static_cast<Enum>(i);
  }
  void texts(const char* name, std::vector<std::string>& to) const {
    const boost::json::value* value = find(name);
    if (!value) return;
    for (const boost::json::value& text : value->as_array()) to.emplace_back(text_in(text));
  }
  void integers(const char* name, std::vector<i64>& to) const {
    const boost::json::value* value = find(name);
    if (!value) return;
    for (const boost::json::value& number : value->as_array()) to.push_back(number.to_number<i64>());
  }
  void row(const char* name, std::vector<std::pair<std::string, std::string>>& to) const {
    const boost::json::value* value = find(name);
    if (!value) return;
    for (const auto& [key, cell] : value->as_object())
      to.emplace_back(std::string(key),
                      cell.is_string() ? std::string(text_in(cell)) : std::to_string(cell.to_number<i64>()));
  }
  template <class T>
  void object(const char* name, T& to) const {
    const boost::json::value* value = find(name);
    if (!value) return;
    JsonReader reader(value->as_object());
    fields(reader, to);
  }
  template <class T>
  void object(const char* name, std::optional<T>& to) const {
    if (find(name)) object(name, to.emplace());
  }
  template <class T>
  void list(const char* name, std::vector<T>& to) const {
    const boost::json::value* value = find(name);
    if (!value) return;
    for (const boost::json::value& element : value->as_array()) {
      JsonReader reader(element.as_object());
      fields(reader, to.emplace_back());
    }
  }

 private:
  static constexpr i64 kMost = i64{1} << 53, kMostMs = i64{1} << 42;

  // nullptr: it is absent or null.
  const boost::json::value* find(const char* name) const {
    const boost::json::value* value = in_.if_contains(name);
    return value && !value->is_null() ? value : nullptr;
  }
  static Ns moment_in(const boost::json::value& value) {
    const std::string_view text = text_in(value);
    expect(text.size() > 10 && text.ends_with('Z'), "a time in UTC");
    const auto moment = parse_moment(std::string(text));
    expect(moment.has_value(), "a time in UTC");
    return *moment;
  }

  const boost::json::object& in_;
};

template <class T>
Result<T> read_fields(const boost::json::object& object, const char* what) {
  try {
    T read;
    JsonReader reader(object);
    fields(reader, read);
    return read;
  } catch (const std::invalid_argument& error) {
    return fail(Code::invalid, "this is no {}: {} was expected", what, error.what());
  } catch (const std::exception&) {
    return fail(Code::invalid, "this is no {}: a member is of another type", what);
  }
}

}  // namespace spotter::wire
