// TraceBuilder: makes small traces by hand, for tests. Not used by the product.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "trace/trace.h"

namespace spotter::trace {

struct ArgValue {
  Arg arg;
  std::variant<i64, double, std::string> value;  // an i64 is stored as int32 or int64, whichever fits
};

class TraceBuilder {
 public:
  // A complete event (ph X). Returns its row.
  EventId span(std::string_view category, std::string_view name, i64 pid, i64 tid, Ns ts, Ns dur,
               std::initializer_list<ArgValue> args = {});
  // An event of any other phase, without duration.
  EventId mark(char phase, std::string_view category, std::string_view name, i64 pid, i64 tid, Ns ts,
               std::initializer_list<ArgValue> args = {});
  TraceInfo& info() { return data_.info; }
  TracePtr build();  // the builder is empty afterwards

 private:
  EventId add(char phase, bool is_span, std::string_view category, std::string_view name, i64 pid, i64 tid,
              Ns ts, Ns dur, std::initializer_list<ArgValue> args);
  TraceData data_;
};

}  // namespace spotter::trace
