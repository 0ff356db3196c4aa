// For tests: random events, each as JSON text and as the row that reading it must give (row_of in
// test_read.h). A seed chooses the writer's habits (white space, order of keys, how many forms and ids there
// are); the values are random within them. The row is made from the values, never from the text.
#pragma once
#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "read/test_read.h"

namespace spotter::read {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  u64 bits() { return static_cast<u64>(engine_()) << 32 ^ engine_(); }
  size_t below(size_t n) { return static_cast<size_t>(bits() % n); }
  bool one_in(size_t n) { return below(n) == 0; }
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[below(all.size())];
  }
  template <class T>
  void shuffle(std::vector<T>& all) {
    std::shuffle(all.begin(), all.end(), engine_);
  }

 private:
  std::mt19937 engine_;
};

// A text and one of the ways to write it in JSON, without the quotes.
struct TestText {
  std::string utf8, json;
};

inline TestText random_text(Random& random, size_t most) {
  // {as it is, all ways to write it}. The last but one is no JSON, but found in paths and C++ names.
  struct Letter {
    const char* utf8;
    std::vector<const char*> json;
  };
  static const std::vector<Letter> plain = {
      {"a", {"a"}}, {"Z", {"Z"}}, {"0", {"0"}}, {" ", {" "}}, {":", {":"}}};
  static const std::vector<Letter> odd = {{"\"", {"\\\"", "\\u0022"}},
                                          {"\\", {"\\\\", "\\u005c", "\\u005C"}},
                                          {"/", {"/", "\\/"}},
                                          {"\n", {"\\n", "\\u000a", "\n"}},
                                          {"\t", {"\\t", "\t"}},
                                          {"\b\f\r", {"\\b\\f\\r"}},
                                          {"é", {"é", "\\u00e9"}},
                                          {"漢", {"漢", "\\u6f22"}},
                                          {"😀", {"😀", "\\ud83d\\ude00"}},
                                          {"\x01", {"\\u0001", "\x01"}},
                                          {"{", {"{"}},
                                          {"}", {"}"}},
                                          {"[", {"["}},
                                          {"]", {"]"}},
                                          {",", {","}},
                                          {"\\d", {"\\d"}},
                                          {"}, {\"ph\": \"X\"", {"}, {\\\"ph\\\": \\\"X\\\""}}};
  TestText out;
  const bool only_plain = random.one_in(2);
  for (size_t n = random.below(most + 1); n > 0; n--) {
    const Letter& letter = random.of(only_plain || !random.one_in(4) ? plain : odd);
    out.utf8 += letter.utf8;
    out.json += random.of(letter.json);
  }
  return out;
}

struct TestValue {
  std::string json;  // as written
  ArgType type = ArgType::null;
  std::string text;  // as Trace::arg_text tells it
};

inline TestValue integer_value(i64 value) {
  const bool fits = value >= std::numeric_limits<i32>::min() && value <= std::numeric_limits<i32>::max();
  const std::string text = fmt::format("{}", value);
  return {text, fits ? ArgType::int32 : ArgType::int64, text};
}

inline TestValue real_value(const std::string& json) {
  return {json, ArgType::real, fmt::format("{}", std::strtod(json.c_str(), nullptr))};
}

inline TestValue text_value(const TestText& t) { return {'"' + t.json + '"', ArgType::text, t.utf8}; }

// A list or an object.
inline std::string random_nested(Random& random, int depth) {
  const bool object = random.one_in(2);
  std::string out(1, object ? '{' : '[');
  for (size_t n = random.below(5), i = 0; i < n; i++) {
    if (i) out += random.one_in(2) ? ", " : ",";
    if (object) out += random.one_in(3) ? "\"ph\": " : '"' + random_text(random, 4).json + "\":";
    switch (random.below(5)) {
      case 0:
        out += '"' + random_text(random, 40).json + '"';
        break;
      case 1:
        out += random.of(std::vector<const char*>{"null", "true", "-1.5e3", "\n 7 "});
        break;
      case 2:
        out += fmt::format("{}", static_cast<i32>(random.bits()));
        break;
      default:
        out += depth > 0 ? random_nested(random, depth - 1) : "0";
    }
  }
  return out + (object ? '}' : ']');
}

enum class ValueSort { small, repeated, integer, huge, real, text, long_text, nested, word, strange, count_ };

inline TestValue random_value(Random& random, ValueSort sort) {
  switch (sort) {
    case ValueSort::small:
      return integer_value(static_cast<i64>(random.below(2000)) - 1000);
    case ValueSort::repeated:
      return integer_value(static_cast<i64>(random.below(3)));
    case ValueSort::integer:
      return integer_value(static_cast<i64>(random.bits() >> random.below(64)) * (random.one_in(2) ? 1 : -1));
    case ValueSort::huge: {
      if (random.one_in(3)) return integer_value(std::numeric_limits<i64>::min());
      if (random.one_in(2)) return integer_value(std::numeric_limits<i64>::max());
      const std::string beyond = fmt::format("{}{}{}", random.one_in(2) ? "-" : "", 1 + random.below(9),
                                             std::string(19 + random.below(20), '7'));
      return {beyond, ArgType::json, beyond};
    }
    case ValueSort::real:
      return real_value(random.of(std::vector<std::string>{
          fmt::format("{}", std::ldexp(static_cast<double>(random.bits()), -70) + 0.5),
          fmt::format("-{}.{}", random.below(100), random.below(1000)), "0.0", "-0.0", "1e5", "1E-7", "2.50",
          "17976931348623157e292", "4.9e-324", "123456789012345678.5", "12345678.0"}));
    case ValueSort::text:
      return text_value(random_text(random, 12));
    case ValueSort::long_text:
      return text_value(random_text(random, 400));
    case ValueSort::nested: {
      const std::string raw = random_nested(random, 3);
      return {raw, ArgType::json, raw};
    }
    case ValueSort::word: {
      if (random.one_in(3)) return {"null", ArgType::null, "null"};
      return random.one_in(2) ? TestValue{"true", ArgType::yes, "true"}
                              : TestValue{"false", ArgType::no, "false"};
    }
    default: {
      const std::string word =
          random.of(std::vector<std::string>{"NaN", "Infinity", "-Infinity", "nan", "-nan"});
      return {word, ArgType::json, word};
    }
  }
}

struct TestEvent {
  std::string text, row, lean_row;  // lean_row: without arguments
};

class RandomEvents {
 public:
  explicit RandomEvents(unsigned seed) : random(seed) {
    comma_ = random.of(std::vector<std::string>{",", ", ", ",\n    ", " ,\r\n\t"});
    colon_ = random.of(std::vector<std::string>{":", ": ", ":  ", " : "});
    grouped_ = random.one_in(3);
    between_ = random.of(std::vector<std::string>{",", ", ", ",\n  ", "\n,\n"});
    if (random.one_in(4)) comma_ += std::string(random.below(60), ' ');
    ids_ = random.of(std::vector<size_t>{1, 3, 40, 2000});
    names_ = random.of(std::vector<size_t>{2, 2000});
    many_values_ = random.one_in(3);
    const size_t forms = random.of(std::vector<size_t>{1, 3, 10, 300});
    for (size_t i = 0; i < forms; i++) forms_.push_back(random_form());
  }

  TestEvent next() { return write(random.of(forms_)); }

  // `events` of them; their text as it stands between the brackets.
  std::string text(size_t events, std::vector<std::string>* rows,
                   std::vector<std::string>* lean_rows = nullptr) {
    std::string out;
    for (size_t i = 0; i < events; i++) {
      const TestEvent e = next();
      out += (i ? between_ : "") + e.text;
      if (rows) rows->push_back(e.row);
      if (lean_rows) lean_rows->push_back(e.lean_row);
    }
    return out;
  }

  Random random;

 private:
  struct Form {
    char phase;  // 0: absent
    std::string category;
    std::vector<std::string> members;
    std::vector<std::pair<std::string, ValueSort>> args;
    bool escape_keys;
  };

  ValueSort random_sort() {
    return static_cast<ValueSort>(random.below(static_cast<size_t>(ValueSort::count_)));
  }

  Form random_form() {
    Form f;
    f.phase = random.of(std::vector<char>{'X', 'X', 'X', 'M', 'i', 's', 'f', 'C', 0});
    f.category =
        random.of(std::vector<std::string>{"", "cpu_op", "kernel", "user_annotation", "Trace", "c\\u0061t"});
    f.members = {"name", "pid", "tid", "ts", "args"};
    if (f.phase) f.members.push_back("ph");
    if (f.phase == 'X' || !f.phase || random.one_in(9)) f.members.push_back("dur");
    if (!f.category.empty()) f.members.push_back("cat");
    for (const char* extra : {"id", "s", "bp", "cname"}) {
      if (random.one_in(6)) f.members.push_back(extra);
    }
    if (random.one_in(3)) random.shuffle(f.members);
    if (random.one_in(5))
      f.members.erase(f.members.begin() + static_cast<i64>(random.below(f.members.size())));
    std::vector<std::string> keys;
    for (const ArgSpelling& s : arg_spellings()) keys.emplace_back(s.key);
    for (const char* other : {"Total Cost", "x", "é", "q\\\"uote", ""}) keys.emplace_back(other);
    random.shuffle(keys);
    keys.resize(random.of(std::vector<size_t>{0, 1, 4, 9, 30}));
    for (const std::string& key : keys) f.args.emplace_back(key, random_sort());
    f.escape_keys = random.one_in(8);
    return f;
  }

  static std::string unescaped(std::string key) {
    std::erase(key, '\\');
    return key == "cu0061t" ? "cat" : key;
  }

  std::string key(const Form& f, const std::string& name) {
    std::string written = name;
    if (f.escape_keys && !name.empty() && name[0] >= 'a' && name[0] <= 'z' && random.one_in(3)) {
      written = fmt::format("\\u{:04x}{}", static_cast<int>(name[0]), name.substr(1));
    }
    return fmt::format("\"{}\"{}", written, colon_);
  }

  // Nanoseconds as decimal microseconds. `kept` is what they are to be read as.
  std::string microseconds(Ns ns, Ns& kept) {
    kept = ns;
    const char* sign = ns < 0 ? "-" : "";
    const u64 size = ns < 0 ? 0 - static_cast<u64>(ns) : static_cast<u64>(ns);
    std::string text = fmt::format("{}{}.{:03}", sign, size / 1000, size % 1000);
    switch (random.below(9)) {
      case 0:  // as short as possible
        while (text.back() == '0') text.pop_back();
        if (text.back() == '.') text.pop_back();
        return text;
      case 1:
        return fmt::format("{}{}e-3", sign, size);
      case 2:
        return fmt::format("{}{}.{:03}E+0", sign, size / 1000, size % 1000);
      case 3:
        return text + "000";
      case 4: {  // digits below 1 ns
        const size_t below = random.below(10'000);
        if (below >= 5000) kept += ns < 0 ? -1 : 1;
        return fmt::format("{}{:04}", text, below);
      }
      case 5:
        return '"' + text + '"';
      default:
        return text;
    }
  }

  Ns random_time() {
    switch (random.below(5)) {
      case 0:
        return static_cast<Ns>(random.below(2'000'000));
      case 1:
        return static_cast<Ns>(1'700'000'000'000'000'000 + random.below(100'000'000'000'000'000));
      case 2:
        return static_cast<Ns>(random.below(2'999'999'999'999'999'000));
      case 3:
        return -static_cast<Ns>(random.below(1'000'000'000'000));
      default:
        return static_cast<Ns>(4'000'000'000'000'000 + random.below(1'000'000'000'000'000));
    }
  }

  // Writes a pid or tid and says what number and text it is.
  std::string row_id(i64& number, std::string& text) {
    number = static_cast<i64>(random.below(ids_));
    switch (random.below(12)) {
      case 0:
        return fmt::format("\"{}\"", number);
      case 1:
        text = fmt::format("stream {}", number);
        return '"' + text + '"';
      case 2:
        number = 0;
        text = "Spans";
        return '"' + text + '"';
      case 3:
        number = -number - 1;
        return fmt::format("{}", number);
      case 4:
        number = static_cast<i64>(random.below(ids_)) << 40;
        return fmt::format("{}", number);
      default:
        return fmt::format("{}", number);
    }
  }

  std::string args(const Form& f, std::string& items) {
    std::string out = "{";
    for (const auto& [name, sort] : f.args) {
      if (random.one_in(many_values_ ? 4 : 40)) continue;
      if (out.size() > 1) out += comma_;
      const TestValue v = random_value(random, random.one_in(20) ? random_sort() : sort);
      out += key(f, name) + v.json;
      items += as_item(name_of_arg(unescaped(name)), v.type, v.text);
    }
    return out + '}';
  }

  static std::string name_of_arg(const std::string& key) {
    for (const ArgSpelling& s : arg_spellings()) {
      if (s.key != key) continue;
      for (const ArgSpelling& first : arg_spellings()) {
        if (first.arg == s.arg) return std::string(first.key);
      }
    }
    return key;
  }

  TestEvent write(const Form& f) {
    TestEvent e;
    TestText name;
    Track track;
    std::string pid_text, tid_text, items, category;
    Ns ts = 0, dur = 0;
    bool has_ts = false, has_dur = false, has_cat = false;
    char phase = 'X';
    size_t written = 0;
    std::string& out = e.text;
    out = "{";
    for (const std::string& member : f.members) {
      if (written++) out += grouped_ && written % 3 == 0 ? ", " : comma_;
      out += key(f, member);
      if (member == "ph") {
        phase = f.phase;
        out += fmt::format("\"{}\"", phase);
      } else if (member == "cat") {
        has_cat = true;
        category = unescaped(f.category);
        out += '"' + f.category + '"';
      } else if (member == "name") {
        name = random_text(random, 30);
        if (names_ == 2) name = {random.one_in(2) ? "aten::mm" : "aten::add", ""}, name.json = name.utf8;
        out += '"' + name.json + '"';
      } else if (member == "pid") {
        out += row_id(track.pid, pid_text);
      } else if (member == "tid") {
        out += row_id(track.tid, tid_text);
      } else if (member == "ts") {
        has_ts = true;
        out += microseconds(random_time(), ts);
      } else if (member == "dur") {
        has_dur = true;
        out += microseconds(random_time() % 1'000'000'000'000'000, dur);  // they add up to less than 2^62
        dur = std::max<Ns>(dur, 0);
      } else if (member == "args") {
        out += args(f, items);
      } else if (member == "id") {
        const TestValue v = random_value(random, random.one_in(2) ? ValueSort::integer : ValueSort::text);
        out += v.json;
        items += as_item("id", v.type, v.text);
      } else {
        const TestValue v = random_value(random, random_sort());
        out += v.json;
        items += as_item("." + member, v.type, v.text);
      }
    }
    out += '}';
    const bool is_span = phase == 'X' && has_ts && has_dur && has_cat;
    e.lean_row = as_row(phase, category, name.utf8, track, pid_text, tid_text, ts, dur, is_span);
    e.row = e.lean_row + items;
    return e;
  }

  std::string comma_, colon_, between_;
  bool grouped_ = false, many_values_ = false;
  size_t ids_ = 1, names_ = 2;
  std::vector<Form> forms_;
};

}  // namespace spotter::read
