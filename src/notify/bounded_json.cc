#include "notify/bounded_json.h"

#include "notify/words.h"

namespace spotter::notify {
namespace {

namespace json = boost::json;

// How many texts and elements it cuts.
i64 cut(json::value& value, size_t most_text, size_t most_elements) {
  i64 cuts = 0;
  if (json::string* text = value.if_string(); text && text->size() > most_text) {
    *text = cut_bytes({text->data(), text->size()}, most_text);
    ++cuts;
  } else if (json::array* array = value.if_array()) {
    if (array->size() > most_elements) {
      cuts += static_cast<i64>(array->size() - most_elements);
      array->resize(most_elements);
    }
    for (json::value& element : *array) cuts += cut(element, most_text, most_elements);
  } else if (json::object* object = value.if_object()) {
    for (auto& member : *object) cuts += cut(member.value(), most_text, most_elements);
  }
  return cuts;
}

}  // namespace

json::object bounded(json::object object, size_t most_bytes) {
  size_t most_text = 4096, most_elements = 64;
  constexpr size_t kLeastText = 32;
  i64 cuts = 0;
  while (wire::json_text(object).size() > most_bytes && most_text >= kLeastText) {
    for (auto& member : object) cuts += cut(member.value(), most_text, most_elements);
    object["left_out"] = cuts;
    most_text /= 2;
    most_elements = (most_elements + 1) / 2;
  }
  return object;
}

}  // namespace spotter::notify
