#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>

#include "base/stable_sort.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "read/flight_recorder/flight_recorder.h"
#include "trace/trace.h"

namespace spotter::read {
namespace {

using Call = FlightRecord::Call;

constexpr size_t kMostText = 4096;  // bytes of a name or path
constexpr i64 kMajor = 2, kNewestMinor = 10;
constexpr i64 kNsPerMs = 1'000'000;

// Of a text in which numbers stand between other characters: "[0, 1]", "2.10".
std::vector<i64> numbers_in(std::string_view text) {
  std::vector<i64> numbers;
  for (size_t at = 0; at < text.size();) {
    i64 number = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (error == std::errc()) numbers.push_back(number);
    at = std::max<size_t>(at + 1, static_cast<size_t>(stop - text.data()));
  }
  return numbers;
}

// JSON writes some numbers as texts.
std::optional<i64> number_of(const Datum& value) {
  if (const auto text = value.text()) return number_in<i64>(*text);
  return value.integer();
}

// What is not told is None, or 0 in JSON.
bool is_told(const Datum& value) { return !value.is_none() && number_of(value) != 0; }

std::optional<Ns> time_of(const Datum& value) {
  const std::optional<i64> time = number_of(value);
  return time && *time > 0 && *time <= kMaxTime ? time : std::nullopt;
}

std::optional<Ns> span_of_ms(const Datum& value) {
  const std::optional<double> ms = value.real();
  if (!ms || !(*ms >= 0) || *ms > static_cast<double>(kMaxTime / kNsPerMs)) return std::nullopt;
  return std::llround(*ms * kNsPerMs);
}

FlightRecord::State state_of(std::string_view text) {
  using State = FlightRecord::State;
  if (text == "scheduled") return State::scheduled;
  if (text == "started") return State::started;
  return text == "completed" ? State::completed : State::unknown;
}

// Converts by the format's schema. What parts share is converted for each of them but for stacks, of which
// each is there once; `spend` keeps that within a few times the size of the file.
class Parser {
 public:
  explicit Parser(const PlainData& data) : data_(data), budget_((size_t{16} << 20) + 16 * data.size()) {}

  Result<FlightRecord> parse() {
    bool is_one = false;
    TRY(each_member(data_.root(), [&](std::string_view key, const Datum& value) -> Result<void> {
      is_one |= key == "entries" || key == "pg_config" || key == "pg_status";
      return take(key, value);
    }));
    if (!is_one)
      return fail(Code::invalid,
                  "it is no flight recorder dump: no \"entries\", \"pg_config\" or \"pg_status\" in it");
    stable_sort(record_.calls, [](const Call& a, const Call& b) { return a.record_id < b.record_id; });
    tell();
    return std::move(record_);
  }

 private:
  using Member = std::function<Result<void>(std::string_view key, const Datum& value)>;

  Result<void> each_member(const Datum& dict, const Member& take_member) {
    if (dict.kind() != DataKind::dict) {
      ++left_out_;
      return {};
    }
    const std::span<const Datum> pairs = dict.elements();
    TRY(spend(pairs.size() * sizeof(Datum)));
    for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
      const std::optional<std::string_view> key = pairs[i].text();
      left_out_ += !key;
      if (key) TRY(take_member(*key, pairs[i + 1]));
    }
    return {};
  }

  Result<void> each_element(const Datum& list,
                            const std::function<Result<void>(const Datum&)>& take_element) {
    if (list.kind() != DataKind::list && list.kind() != DataKind::tuple) {
      ++left_out_;
      return {};
    }
    TRY(spend(list.elements().size() * sizeof(Datum)));
    for (const Datum& element : list.elements()) TRY(take_element(element));
    return {};
  }

  Result<void> spend(size_t bytes) {
    if (bytes > budget_)
      return fail(Code::unsupported, "what it shares and repeats would take many times its size");
    budget_ -= bytes;
    return {};
  }

  i64 number_or_0(const Datum& value) {
    const std::optional<i64> number = number_of(value);
    left_out_ += !number;
    return number.value_or(0);
  }

  std::optional<i64> status_number(const Datum& value) {
    const std::optional<i64> number = number_of(value);
    left_out_ += !number && !value.is_none();
    return number;
  }

  bool flag_of(const Datum& value) {
    left_out_ += !value.boolean() && !value.is_none();
    return value.boolean().value_or(false);
  }

  Result<std::string> text_of(const Datum& value) {
    const std::string_view whole = value.text().value_or("");
    left_out_ += !value.text() && !value.is_none();
    std::string_view text = whole.substr(0, kMostText);
    text = text.substr(0, text.find('\0'));
    cut_ += text.size() < whole.size();
    TRY(spend(sizeof(std::string) + text.size()));
    return to_valid_utf8(text);
  }
  Result<void> take_text(const Datum& value, std::string& to) {
    TRY_ASSIGN(to, text_of(value));
    return {};
  }

  Result<void> take(std::string_view key, const Datum& value) {
    if (key == "version") return take_text(value, record_.version);
    if (key == "nccl_version" || key == "comm_lib_version") return take_text(value, record_.library_version);
    if (key == "pg_config")
      return each_member(value, [&](std::string_view, const Datum& group) { return take_group(group); });
    if (key == "pg_status")
      return each_member(value,
                         [&](std::string_view id, const Datum& status) { return take_status(id, status); });
    if (key == "entries") return each_element(value, [&](const Datum& call) { return take_call(call); });
    return {};
  }

  Result<void> take_group(const Datum& dict) {
    FlightRecord::Group group;
    const Member take_member = [&](std::string_view key, const Datum& value) -> Result<void> {
      if (key == "name") return take_text(value, group.name);
      if (key == "desc") return take_text(value, group.description);
      if (key != "ranks") return {};
      const std::string_view ranks = value.text().value_or("");
      left_out_ += !value.text();
      TRY(spend(ranks.size() * sizeof(i64)));
      group.ranks = numbers_in(ranks);
      return {};
    };
    TRY(each_member(dict, take_member));
    // Backends that keep no communicators leave one empty group here.
    if (!group.name.empty()) record_.groups.push_back(std::move(group));
    return {};
  }

  Result<void> take_status(std::string_view id, const Datum& dict) {
    const std::optional<i64> group_id = number_in<i64>(id);
    if (!group_id) {
      ++left_out_;
      return {};
    }
    FlightRecord::Status status{.group_id = *group_id};
    TRY(each_member(dict, [&](std::string_view key, const Datum& value) -> Result<void> {
      if (key == "last_enqueued_collective") status.last_enqueued = status_number(value);
      if (key == "last_started_collective") status.last_started = status_number(value);
      if (key == "last_completed_collective") status.last_completed = status_number(value);
      return {};
    }));
    record_.statuses.push_back(status);
    return {};
  }

  Result<void> take_call(const Datum& dict) {
    if (dict.kind() != DataKind::dict) {
      ++left_out_;
      return {};
    }
    TRY(spend(sizeof(Call)));
    Call call;
    TRY(each_member(dict,
                    [&](std::string_view key, const Datum& value) { return take_of(call, key, value); }));
    record_.calls.push_back(std::move(call));
    return {};
  }

  Result<void> take_of(Call& call, std::string_view key, const Datum& value) {
    if (i64* number = number_named(call, key)) {
      *number = number_or_0(value);
      return {};
    }
    if (std::optional<Ns>* time = time_named(call, key)) {
      *time = key.ends_with("_ms") ? span_of_ms(value) : time_of(value);
      left_out_ += !*time && is_told(value);
      return {};
    }
    if (key == "process_group") return take_group_of(call, value);
    if (key == "profiling_name") return take_text(value, call.name);
    if (key == "thread_name") return take_text(value, call.thread);
    if (key == "state") {
      call.state = state_of(value.text().value_or(""));
      left_out_ += call.state == FlightRecord::State::unknown;
    }
    if (key == "is_p2p") call.is_p2p = flag_of(value);
    if (key == "retired") call.is_retired = flag_of(value);
    if (key == "input_sizes") return take_sizes(value, call.input_sizes);
    if (key == "output_sizes") return take_sizes(value, call.output_sizes);
    if (key == "input_dtypes") return take_texts(value, call.input_types);
    if (key == "output_dtypes") return take_texts(value, call.output_types);
    if (key == "frames") return take_stack(call, value);
    return {};
  }

  static i64* number_named(Call& call, std::string_view key) {
    if (key == "record_id") return &call.record_id;
    if (key == "pg_id") return &call.group_id;
    if (key == "collective_seq_id") return &call.collective_seq;
    if (key == "p2p_seq_id") return &call.p2p_seq;
    return key == "op_id" ? &call.op_id : nullptr;
  }

  static std::optional<Ns>* time_named(Call& call, std::string_view key) {
    if (key == "time_created_ns") return &call.created;
    if (key == "time_discovered_started_ns") return &call.seen_started;
    if (key == "time_discovered_completed_ns") return &call.seen_completed;
    if (key == "duration_ms") return &call.duration;
    return key == "timeout_ms" ? &call.timeout : nullptr;
  }

  // (name, description)
  Result<void> take_group_of(Call& call, const Datum& pair) {
    const std::span<const Datum> two = pair.elements();
    left_out_ += two.size() != 2;
    if (!two.empty()) TRY(take_text(two[0], call.group));
    if (two.size() > 1) TRY(take_text(two[1], call.description));
    return {};
  }

  Result<void> take_sizes(const Datum& list, FlightRecord::Sizes& sizes) {
    return each_element(list, [&](const Datum& tensor) {
      std::vector<i64>& of_tensor = sizes.emplace_back();
      return each_element(tensor, [&](const Datum& size) -> Result<void> {
        of_tensor.push_back(number_or_0(size));
        return {};
      });
    });
  }

  Result<void> take_texts(const Datum& list, std::vector<std::string>& texts) {
    return each_element(list, [&](const Datum& text) { return take_text(text, texts.emplace_back()); });
  }

  // Calls from one place share their stack.
  Result<void> take_stack(Call& call, const Datum& list) {
    left_out_ += list.kind() != DataKind::list && list.kind() != DataKind::tuple && !list.is_none();
    const auto [place, is_new] =
        stack_of_.try_emplace(list.elements().data(), static_cast<u32>(record_.stacks.size()));
    if (!list.elements().empty()) call.stack = place->second;
    if (!is_new || list.elements().empty()) return {};
    std::vector<FlightRecord::Frame>& stack = record_.stacks.emplace_back();
    return each_element(list, [&](const Datum& dict) {
      FlightRecord::Frame& frame = stack.emplace_back();
      return each_member(dict, [&](std::string_view key, const Datum& value) -> Result<void> {
        if (key == "name") return take_text(value, frame.function);
        if (key == "filename") return take_text(value, frame.file);
        if (key == "line") frame.line = number_or_0(value);
        return {};
      });
    });
  }

  void tell() {
    const std::vector<i64> version = numbers_in(record_.version);
    if (version.size() < 2 || version[0] != kMajor || version[1] < 0 || version[1] > kNewestMinor)
      record_.notes.add(
          "flight_recorder_version", Severity::info,
          fmt::format("flight recorder dumps have version \"{}\" of their format; known are {}.0 "
                      "to {}.{}, and what is known was read",
                      record_.version, kMajor, kMajor, kNewestMinor));
    if (left_out_ > 0)
      record_.notes.add("flight_recorder_values", Severity::loss,
                        "values of flight recorder dumps are not what they should be and were left out", -1,
                        left_out_);
    if (cut_ > 0)
      record_.notes.add(
          "flight_recorder_texts", Severity::loss,
          fmt::format("texts of flight recorder dumps have a NUL in them or more than {} bytes and were "
                      "cut off there",
                      kMostText),
          -1, cut_);
    if (data_.bytes_used() < data_.size())
      record_.notes.add("flight_recorder_rest", Severity::loss,
                        "bytes behind the end of flight recorder dumps were left out",
                        static_cast<i64>(data_.bytes_used()),
                        static_cast<i64>(data_.size() - data_.bytes_used()));
  }

  const PlainData& data_;
  size_t budget_;
  FlightRecord record_;
  i64 left_out_ = 0, cut_ = 0;
  std::map<const Datum*, u32> stack_of_;  // by where its elements lie
};

}  // namespace

Result<FlightRecord> to_flight_record(const PlainData& data) { return Parser(data).parse(); }

}  // namespace spotter::read
