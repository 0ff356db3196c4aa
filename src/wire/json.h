// Small JSON that a peer sent: read strictly and with limits, its members taken by name and type. Members
// that nobody asks for are left alone.
#pragma once
#include <boost/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "table/table.h"

namespace spotter::wire {

inline constexpr size_t kMostJsonDepth = 32;

// Errors: invalid (no JSON, too deep, no object).
Result<boost::json::object> read_object(std::string_view text);

// Errors: invalid (a member that is none of `names`). `what` has them: "a capture".
Result<void> check_names(const boost::json::object& object, std::span<const std::string_view> names,
                         std::string_view what);

// Whole numbers may be written as 3 or 3.0, and as text nowhere. An error (invalid) names the member; nullopt
// where it is absent or null.
Result<std::optional<i64>> integer_of(const boost::json::object& object, std::string_view name);
Result<std::optional<bool>> flag_of(const boost::json::object& object, std::string_view name);
Result<std::optional<std::string>> text_of(const boost::json::object& object, std::string_view name);
Result<std::optional<std::vector<i64>>> integers_of(const boost::json::object& object, std::string_view name);
Result<std::optional<std::vector<std::string>>> texts_of(const boost::json::object& object,
                                                         std::string_view name);

// For what throws where a value has another type or form: std::invalid_argument, with what was expected.
void expect(bool condition, const char* what);
// Text that is no UTF-8 is mended.
boost::json::string mended(std::string_view text);

// JSON for people, too: a number is 4.42, where the library writes 4.42E0. Numbers have 15 digits, so that
// what the library's reader, which is not exact, makes of them is told from nothing else. Null for those
// that are not finite.
std::string json_text(const boost::json::value& value);

// Of what an agent sent as a table. A view is into the value; all throw where it is not of the type, and a
// cell may be null.
std::string_view text_in(const boost::json::value& value);
double real_in(const boost::json::value& value);  // just what json_text() has written
Severity severity_in(const boost::json::value& value);
Value cell_in(const boost::json::value& value, Type type);

}  // namespace spotter::wire
