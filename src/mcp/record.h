// Records of JSON that stand in an answer beside rows.
#pragma once
#include <boost/json.hpp>
#include <initializer_list>
#include <string_view>

namespace spotter::mcp {

inline constexpr size_t kMostInList = 10;

// The same with its texts cleaned (cells.h) and its lists cut so that it has room in so many bytes,
// `lists_cut` saying which were.
boost::json::object record_of(const boost::json::object& object, size_t most);
boost::json::array json_list(std::initializer_list<std::string_view> words);
// What may name an incident or a capture: [A-Za-z0-9._-]{1,128}.
bool is_id(std::string_view text);

}  // namespace spotter::mcp
