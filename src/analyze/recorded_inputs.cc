#include "analyze/recorded_inputs.h"

#include <algorithm>

#include "base/saturated.h"
#include "base/text/number.h"
#include "trace/facts/element_types.h"

namespace spotter::analyze {
namespace {

using trace::Precision;

struct Arithmetic {
  std::string_view type;  // of torch.dtype
  std::optional<Precision> precision;
  bool is_complex = false;
  i64 numbers = 1;  // in an element
};

constexpr Arithmetic kArithmetic[] = {
    {"float32", Precision::fp32},         {"float64", Precision::fp64},
    {"float16", Precision::fp16},         {"bfloat16", Precision::bf16},
    {"float8_e4m3fn", Precision::fp8},    {"float8_e5m2", Precision::fp8},
    {"float8_e4m3fnuz", Precision::fp8},  {"float8_e5m2fnuz", Precision::fp8},
    {"float4_e2m1fn_x2", {}, false, 2},   {"complex32", Precision::fp16, true},
    {"complex64", Precision::fp32, true}, {"complex128", Precision::fp64, true},
};

// nullptr: of whole numbers, or not known.
const Arithmetic* arithmetic_of(std::string_view type) {
  const trace::ElementType* element = trace::element_type(type);
  if (!element) return nullptr;
  const auto* found = std::ranges::find(kArithmetic, std::string_view(element->name), &Arithmetic::type);
  return found == std::end(kArithmetic) ? nullptr : found;
}

// Reads lists of numbers, texts and lists, each as far as it is one.
class ListReader {
 public:
  explicit ListReader(std::string_view text) : text_(text) {}

  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // Calls member() for each member of a list, until it says that there is none.
  template <class F>
  bool list(F member) {
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      if (!member()) return false;
    } while (take(','));
    return take(']');
  }

  std::optional<i64> number() {
    skip_blanks();
    const size_t begin = at_;
    while (at_ < text_.size() && ((text_[at_] >= '0' && text_[at_] <= '9') || text_[at_] == '-')) ++at_;
    return number_in<i64>(text_.substr(begin, at_ - begin));
  }

  // Without its escapes: none of what is looked for has one.
  std::optional<std::string> text() {
    if (!take('"')) return std::nullopt;
    std::string found;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && ++at_ == text_.size()) return std::nullopt;
      found += text_[at_];
    }
    return take('"') ? std::optional(found) : std::nullopt;
  }

  std::optional<bool> flag() {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    const bool value = rest.starts_with("True");
    if (!value && !rest.starts_with("False")) return std::nullopt;
    at_ += value ? 4 : 5;
    return value;
  }

  bool numbers(std::vector<i64>& into) {
    return list([&] {
      const std::optional<i64> value = number();
      if (value) into.push_back(*value);
      return value.has_value();
    });
  }

  bool is_at_list_of_lists() {
    const size_t at = at_;
    const bool found = take('[') && take('[');
    at_ = at;
    return found;
  }

  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || (text_[at_] >= '\t' && text_[at_] <= '\r'))) ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::optional<std::vector<std::string>> texts_in(std::string_view text) {
  std::vector<std::string> texts;
  ListReader reader(text);
  const bool is_list = reader.list([&] {
    std::optional<std::string> member = reader.text();
    if (member) texts.push_back(std::move(*member));
    return member.has_value();
  });
  return is_list && reader.at_end() ? std::optional(std::move(texts)) : std::nullopt;
}

// A list of tensors has a list of shapes for its own.
bool read_shapes(std::string_view text, RecordedInputs& into) {
  ListReader reader(text);
  const bool is_list = reader.list([&] {
    RecordedInput& input = into.emplace_back();
    if (!reader.is_at_list_of_lists()) return reader.numbers(input.dims);
    input.is_list = true;
    std::vector<i64> of_one;
    return reader.list([&] { return reader.numbers(of_one); });
  });
  const auto is_negative = [](const RecordedInput& input) {
    return std::ranges::any_of(input.dims, [](i64 dim) { return dim < 0; });
  };
  return is_list && reader.at_end() && std::ranges::none_of(into, is_negative);
}

}  // namespace

i64 element_bytes(std::string_view type) {
  const trace::ElementType* element = trace::element_type(type);
  return element ? element->bytes : 0;
}

bool is_complex(std::string_view type) {
  const Arithmetic* found = arithmetic_of(type);
  return found && found->is_complex;
}

i64 numbers_in_element(std::string_view type) {
  const Arithmetic* found = arithmetic_of(type);
  return found ? found->numbers : 1;
}

std::optional<Precision> precision_of(std::string_view type) {
  const Arithmetic* found = arithmetic_of(type);
  return found ? found->precision : std::nullopt;
}

i64 RecordedInput::elements() const {
  i64 elements = 1;
  for (const i64 dim : dims) elements = multiply_saturated(elements, dim);
  return elements;
}

std::optional<i64> RecordedInput::bytes() const {
  const i64 size = element_bytes(type);
  return size > 0 ? std::optional(multiply_saturated(elements(), size)) : std::nullopt;
}

std::optional<bool> RecordedInput::flag() const {
  if (concrete == "True") return true;
  if (concrete == "False") return false;
  return std::nullopt;
}

std::optional<i64> RecordedInput::integer() const {
  return concrete ? number_in<i64>(*concrete) : std::nullopt;
}

std::optional<std::vector<i64>> RecordedInput::list() const {
  if (!concrete) return std::nullopt;
  std::vector<i64> values;
  ListReader reader(*concrete);
  return reader.numbers(values) && reader.at_end() ? std::optional(std::move(values)) : std::nullopt;
}

std::optional<std::vector<bool>> RecordedInput::flags() const {
  if (!concrete) return std::nullopt;
  std::vector<bool> values;
  ListReader reader(*concrete);
  const bool are_flags = reader.list([&] {
    const std::optional<bool> value = reader.flag();
    if (value) values.push_back(*value);
    return value.has_value();
  });
  return are_flags && reader.at_end() ? std::optional(std::move(values)) : std::nullopt;
}

std::optional<RecordedInputs> parse_recorded_inputs(std::string_view dims, std::string_view types,
                                                    std::optional<std::string_view> concrete) {
  RecordedInputs inputs;
  std::optional<std::vector<std::string>> names = texts_in(types);
  if (!names || !read_shapes(dims, inputs) || names->size() != inputs.size()) return std::nullopt;
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i].type = std::move((*names)[i]);
  if (!concrete) return inputs;
  std::optional<std::vector<std::string>> values = texts_in(*concrete);
  if (!values) return std::nullopt;
  for (size_t i = 0; i < std::min(inputs.size(), values->size()); ++i)
    inputs[i].concrete = std::move((*values)[i]);
  return inputs;
}

}  // namespace spotter::analyze
