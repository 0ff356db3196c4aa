#include "mcp/record.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "mcp/cells.h"
#include "wire/json.h"

namespace spotter::mcp {
namespace {

namespace json = boost::json;

// How much of lists and texts there is room for; the first that does is taken.
struct Room {
  size_t elements, characters;
};
constexpr Room kRooms[] = {{kMostInList, 600}, {5, 300}, {3, 150}, {1, 80}};

json::value part_of(const json::value& value, const std::string& place, Room room, json::array& cut) {
  if (const json::string* text = value.if_string())
    return json::string(clean(std::string_view(text->data(), text->size()), room.characters));
  if (const json::array* array = value.if_array()) {
    json::array all;
    for (size_t i = 0; i < std::min(array->size(), room.elements); ++i)
      all.push_back(part_of((*array)[i], place, room, cut));
    if (array->size() > room.elements) cut.push_back(json::string(place));
    return all;
  }
  if (const json::object* object = value.if_object()) {
    json::object all;
    for (const auto& [key, member] : *object)
      all[clean(std::string_view(key.data(), key.size()))] =
          part_of(member, place.empty() ? std::string(key) : place, room, cut);
    return all;
  }
  // A number that JavaScript would round is a text.
  constexpr double kMostExact = 9007199254740991.0;
  if (value.is_number() && std::abs(value.to_number<double>()) > kMostExact)
    return json::string(wire::json_text(value));
  return value;
}

}  // namespace

json::object record_of(const json::object& object, size_t most) {
  json::object record;
  for (const Room room : kRooms) {
    json::array cut;
    record = part_of(object, "", room, cut).get_object();
    if (!cut.empty()) record["lists_cut"] = std::move(cut);
    if (wire::json_text(record).size() <= most) break;
  }
  return record;
}

json::array json_list(std::initializer_list<std::string_view> words) {
  json::array all;
  for (const std::string_view word : words) all.push_back(json::string(word));
  return all;
}

bool is_id(std::string_view text) {
  const auto is_allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= 128 && std::ranges::all_of(text, is_allowed);
}

}  // namespace spotter::mcp
