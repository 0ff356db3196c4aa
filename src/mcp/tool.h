// Tool: the record that a tool is. Its schema, its check of arguments, its place in the list and its
// documentation come from it. To add one: a file in tools/ with a Tool, and its name in list.h.
#pragma once
#include <boost/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "mcp/answer.h"
#include "mcp/world.h"

namespace spotter::mcp {

// An argument. Lists are arrays, or texts with commas between.
struct ToolParam {
  enum class Type : u8 { text, integer, texts, integers };
  const char* name;
  const char* help;
  Type type = Type::text;
  bool required = false;
  i64 least = 0, most = 0;                  // of an integer; of a list its length
  std::span<const char* const> words = {};  // a text is one of these; none: any
};

// Arguments that a tool's records allow.
class Arguments {
 public:
  explicit Arguments(boost::json::object all) : all_(std::move(all)) {}
  std::string text(std::string_view name) const;  // empty where there is none
  std::optional<i64> integer(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  std::vector<i64> integers(std::string_view name) const;
  bool has(std::string_view name) const { return all_.contains(name); }
  // Equal for equal questions, whichever part of the answer they want, and as few bytes as they may have.
  std::string question() const;

 private:
  boost::json::object all_;
};

struct Call {
  World& world;
  const Arguments& arguments;
  const Patience& patience;
  std::string_view client;  // what the client says that it is
  size_t offset = 0;        // of the first row
};

struct Tool {
  const char* name;
  const char* title;
  const char* description;  // at most 300 characters: what it answers, what not, what to call next
  std::span<const ToolParam> params;
  // Errors are for who asked, to be mended: they name the argument, what is allowed and what to do.
  Result<Answer> (*call)(const Call& call);
  bool reads_only = true;
  bool has_record = false;  // Answer::record
  bool has_rows = true;     // that are asked for in parts: limit, cursor
};

boost::json::object to_json(const Tool& tool);  // as tools/list has it
// Errors: invalid (with the argument, the range and what to do).
Result<Arguments> read_arguments(const Tool& tool, const boost::json::object& arguments);

}  // namespace spotter::mcp
