#include "read/plain_data/json_data.h"

#include <limits>

#include "base/text/number.h"
#include "read/json.h"

namespace spotter::read {
namespace {

class Reader {
 public:
  Reader(std::string text, const DataLimits& limits)
      : builder_(std::move(text), limits),
        most_depth_(limits.height),
        begin_(builder_.input().data()),
        at_(begin_),
        end_(begin_ + builder_.input().size()) {}

  Result<PlainData> read() {
    if (builder_.input().size() > std::numeric_limits<u32>::max())
      return fail(Code::unsupported, "it is longer than 4 GiB");
    Result<Datum> root = value();
    if (!root) {
      root.error().message += fmt::format(" (at byte {})", at_ - begin_);
      return tl::unexpected<Error>(std::move(root).error());
    }
    at_ = json::skip_space(at_, end_);
    return builder_.finish(*root, static_cast<size_t>(at_ - begin_));
  }

 private:
  tl::unexpected<Error> wrong() const {
    return at_ == end_ ? fail(Code::corrupt, "it is cut off") : fail(Code::corrupt, "this is no JSON");
  }
  // Whether the next character but blanks is this one; goes behind it.
  bool skip(char c) {
    at_ = json::skip_space(at_, end_);
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  Result<Datum> value() {
    TRY(builder_.count());
    if (skip('{')) return container(DataKind::dict, '}');
    if (skip('[')) return container(DataKind::list, ']');
    if (at_ < end_ && *at_ == '"') return text();
    return word();
  }

  Result<Datum> container(DataKind kind, char close) {
    TRY_ASSIGN(const Datum whole, builder_.container(kind));
    if (++depth_ > most_depth_)
      return fail(Code::unsupported, "it is nested deeper than {} levels", most_depth_);
    for (bool is_first = true; !skip(close); is_first = false) {
      if (!is_first && !skip(',')) return wrong();
      Datum pair[2];
      if (kind == DataKind::dict) {
        at_ = json::skip_space(at_, end_);
        TRY_ASSIGN(pair[0], text());
        if (!skip(':')) return wrong();
      }
      TRY_ASSIGN(pair[1], value());
      TRY(builder_.append(whole, kind == DataKind::dict ? std::span<const Datum>(pair)
                                                        : std::span<const Datum>(pair).last(1)));
    }
    --depth_;
    return whole;
  }

  Result<Datum> text() {
    const json::StringScan scan = json::scan_string(at_, end_);
    if (scan.state == json::State::incomplete) at_ = end_;
    if (scan.state != json::State::ok) return wrong();
    const std::string_view inner(at_ + 1, static_cast<size_t>(scan.stop - at_ - 2));
    at_ = scan.stop;
    return Datum::of_text(DataKind::text, scan.escaped ? builder_.keep(json::unescape(inner)) : inner);
  }

  Result<Datum> word() {
    const std::string_view word = json::scan_word(at_, end_);
    Datum value;
    if (const std::optional<i64> integer = json::to_integer(word)) {
      value = Datum::of_integer(*integer);
    } else if (const std::optional<double> real = number_in<double>(word)) {
      value = Datum::of_real(*real);
    } else if (word == "true" || word == "false") {
      value = Datum::of_boolean(word == "true");
    } else if (word != "null") {
      return wrong();
    }
    at_ += word.size();
    return value;
  }

  DataBuilder builder_;
  u32 most_depth_, depth_ = 0;
  const char *begin_, *at_, *end_;
};

}  // namespace

Result<PlainData> parse_json_data(std::string text, const DataLimits& limits) {
  return Reader(std::move(text), limits).read();
}

}  // namespace spotter::read
