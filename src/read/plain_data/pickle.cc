#include "read/plain_data/pickle.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "read/plain_data/pickle_ops.h"

namespace spotter::read {
namespace {

constexpr size_t kMostText = std::numeric_limits<u32>::max();
constexpr size_t kWidestInteger = 16;  // bytes

class Reader {
 public:
  Reader(std::string bytes, const DataLimits& limits)
      : builder_(std::move(bytes), limits), input_(builder_.input()) {}

  Result<PlainData> read() {
    Result<void> done = read_header();
    while (done && !is_done_) done = step();
    if (!done) {
      done.error().message += fmt::format(" (at byte {})", op_at_);
      return tl::unexpected<Error>(std::move(done).error());
    }
    return builder_.finish(stack_.back(), at_);
  }

 private:
  Result<void> read_header() {
    TRY_ASSIGN(const std::string_view head, take(2));
    if (begins_like_pickle(head)) return {};
    return fail(Code::unsupported, "it is no pickle of protocol 2 to 5");
  }

  Result<void> step() {
    op_at_ = at_;
    TRY_ASSIGN(const u64 op, number(1));
    switch (op) {
      case kFrame: {
        TRY_ASSIGN(const u64 length, number(8));
        return length <= left() ? Result<void>() : cut_off();
      }
      case kStop:
        return stop();
      case kMark:
        marks_.push_back(stack_.size());
        return {};
      case kBinPut:
      case kLongBinPut:
      case kMemoize:
      case kBinGet:
      case kLongBinGet:
        return use_memo(op);
      case kAppend:
      case kSetItem:
        return extend_by(op == kAppend ? 1 : 2, op == kAppend ? DataKind::list : DataKind::dict);
      case kAppends:
        return extend_from_mark(DataKind::list);
      case kSetItems:
        return extend_from_mark(DataKind::dict);
      case kAddItems:
        return extend_from_mark(DataKind::set);
      case kTuple1:
      case kTuple2:
      case kTuple3:
        return gather(op - kTuple1 + 1, DataKind::tuple);
      case kTuple:
      case kFrozenSet: {
        TRY_ASSIGN(const size_t count, count_from_mark());
        return gather(count, op == kTuple ? DataKind::tuple : DataKind::set);
      }
      default:
        return push_value(op);
    }
  }

  Result<void> stop() {
    if (!marks_.empty() || stack_.size() != 1)
      return fail(Code::corrupt, "it ends with {} values, not with one", stack_.size());
    is_done_ = true;
    return {};
  }

  Result<void> push_value(u64 op) {
    switch (op) {
      case kNoneValue:
        return push(Datum());
      case kNewTrue:
      case kNewFalse:
        return push(Datum::of_boolean(op == kNewTrue));
      case kBinInt: {
        TRY_ASSIGN(const u64 value, number(4));
        return push(Datum::of_integer(static_cast<i32>(static_cast<u32>(value))));
      }
      case kBinInt1:
      case kBinInt2: {
        TRY_ASSIGN(const u64 value, number(op == kBinInt1 ? 1 : 2));
        return push(Datum::of_integer(static_cast<i64>(value)));
      }
      case kLong1:
        return push_integer();
      case kBinFloat: {
        TRY_ASSIGN(const u64 bits, number(8));
        return push(Datum::of_real(std::bit_cast<double>(__builtin_bswap64(bits))));
      }
      case kShortBinUnicode:
        return push_text(DataKind::text, 1);
      case kBinUnicode:
        return push_text(DataKind::text, 4);
      case kBinUnicode8:
        return push_text(DataKind::text, 8);
      case kShortBinBytes:
        return push_text(DataKind::bytes, 1);
      case kBinBytes:
        return push_text(DataKind::bytes, 4);
      case kBinBytes8:
        return push_text(DataKind::bytes, 8);
      case kEmptyList:
        return push_container(DataKind::list);
      case kEmptyTuple:
        return push_container(DataKind::tuple);
      case kEmptyDict:
        return push_container(DataKind::dict);
      case kEmptySet:
        return push_container(DataKind::set);
      default:
        return refuse(static_cast<u8>(op));
    }
  }

  Result<void> refuse(u8 op) const {
    const auto* known = std::ranges::find(kRefused, op, &RefusedOp::op);
    if (known == std::end(kRefused)) return fail(Code::corrupt, "byte 0x{:02X} is no opcode", op);
    return fail(Code::unsupported, "it is not plain data: {} {}", known->name, known->why);
  }

  Result<void> push(const Datum& value) {
    TRY(builder_.count());
    stack_.push_back(value);
    return {};
  }

  Result<void> push_container(DataKind kind) {
    TRY_ASSIGN(const Datum value, builder_.container(kind));
    return push(value);
  }

  Result<void> push_text(DataKind kind, size_t length_bytes) {
    TRY_ASSIGN(const u64 length, number(length_bytes));
    TRY_ASSIGN(const std::string_view text, take(length));
    if (length > kMostText) return fail(Code::unsupported, "it has a text of more than 4 GiB");
    return push(Datum::of_text(kind, text));
  }

  Result<void> push_integer() {
    TRY_ASSIGN(const u64 length, number(1));
    TRY_ASSIGN(const std::string_view digits, take(length));
    if (length > kWidestInteger)
      return fail(Code::unsupported, "it has an integer of more than {} bits", 8 * kWidestInteger);
    if (length > sizeof(i64)) return push(Datum::of_wide_integer(digits));
    if (length == 0) return push(Datum::of_integer(0));
    // The sign is in the highest bit of the last byte.
    const u64 value = to_number(digits);
    const size_t unused = 64 - 8 * digits.size();
    return push(Datum::of_integer(static_cast<i64>(value << unused) >> unused));
  }

  // The values above the last mark, or all: what an opcode may take.
  size_t available() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }

  Result<void> underflow() const { return fail(Code::corrupt, "an opcode takes more values than there are"); }

  Result<size_t> count_from_mark() {
    if (marks_.empty()) return fail(Code::corrupt, "an opcode needs a mark, and there is none");
    const size_t count = stack_.size() - marks_.back();
    marks_.pop_back();
    return count;
  }

  // The topmost values become a tuple or a frozen set.
  Result<void> gather(size_t count, DataKind kind) {
    if (available() < count) return underflow();
    TRY_ASSIGN(const Datum whole, builder_.container(kind));
    TRY(builder_.append(whole, std::span(stack_).last(count)));
    stack_.resize(stack_.size() - count);
    return push(whole);
  }

  // The topmost values go into what lies below them.
  Result<void> extend_by(size_t count, DataKind kind) {
    if (available() < count + 1) return underflow();
    const Datum& whole = stack_[stack_.size() - count - 1];
    if (whole.kind() != kind) return fail(Code::corrupt, "an opcode adds to what is of another type");
    if (kind == DataKind::dict && count % 2 != 0) return fail(Code::corrupt, "a key has no value");
    TRY(builder_.append(whole, std::span(stack_).last(count)));
    stack_.resize(stack_.size() - count);
    return {};
  }

  Result<void> extend_from_mark(DataKind kind) {
    TRY_ASSIGN(const size_t count, count_from_mark());
    return extend_by(count, kind);
  }

  Result<void> use_memo(u64 op) {
    u64 place = memo_.size();
    if (op != kMemoize) {
      TRY_ASSIGN(place, number(op == kBinPut || op == kBinGet ? 1 : 4));
    }
    if (op == kBinGet || op == kLongBinGet) {
      if (place >= memo_.size() || !memo_[place].is_set)
        return fail(Code::corrupt, "it refers to value {}, which it has not kept", place);
      return push(memo_[place].value);
    }
    if (available() == 0) return underflow();
    // Writers number what they keep from 0 or 1, and each takes at least the opcodes that make and keep it.
    if (place > at_ / 2)
      return fail(Code::corrupt, "it keeps value {}, which is more than it can have", place);
    if (place >= memo_.size()) memo_.resize(place + 1);
    memo_[place] = {stack_.back(), true};
    return {};
  }

  size_t left() const { return input_.size() - at_; }
  Result<void> cut_off() const { return fail(Code::corrupt, "it is cut off"); }

  Result<std::string_view> take(u64 count) {
    if (count > left()) return fail(Code::corrupt, "it is cut off");
    const std::string_view taken = input_.substr(at_, count);
    at_ += count;
    return taken;
  }
  static u64 to_number(std::string_view digits) {
    u64 value = 0;
    for (size_t i = 0; i < digits.size(); ++i) value |= u64{static_cast<u8>(digits[i])} << (8 * i);
    return value;
  }
  Result<u64> number(size_t bytes) {
    TRY_ASSIGN(const std::string_view digits, take(bytes));
    return to_number(digits);
  }

  struct Kept {
    Datum value;
    bool is_set = false;
  };

  DataBuilder builder_;
  std::string_view input_;
  size_t at_ = 0, op_at_ = 0;  // of the opcode that is carried out
  bool is_done_ = false;
  std::vector<Datum> stack_;
  std::vector<size_t> marks_;  // sizes of the stack
  std::vector<Kept> memo_;
};

}  // namespace

bool begins_like_pickle(std::string_view text) {
  return text.size() >= 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5;
}

Result<PlainData> parse_pickle(std::string bytes, const DataLimits& limits) {
  return Reader(std::move(bytes), limits).read();
}

}  // namespace spotter::read
