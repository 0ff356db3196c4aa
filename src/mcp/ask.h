// What tools share: how they ask the world, and how they say where what they tell is from.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/tool.h"
#include "wire/read_tables.h"

namespace spotter::mcp {

// What agents have answered, host by host; of those that did not, a sentence.
struct FromAgents {
  struct Host {
    std::string name;
    std::vector<Table> tables;
  };
  std::vector<Host> hosts;
  std::vector<std::string> notes;
};

// GET `target` of each agent. Errors: unsupported (there are no agents here), and the first agent's where
// none has answered.
Result<FromAgents> ask_agents(const World& world, const std::string& target, const Patience& patience);
// The rows of all hosts' first tables in these columns, by their names; what a host does not have is null.
Table merged(std::string_view name, std::span<const Field> columns, const FromAgents& answers);
// The jobs that agents see on their hosts now, by name.
struct RunningJob {
  std::optional<i64> ranks = {}, step_ns = {};  // step: of the slowest rank
};
struct RunningJobs {
  std::map<std::string, RunningJob> jobs;
  std::vector<std::string> notes;
};
RunningJobs running_jobs(const World& world, const Patience& patience);  // none where there are no agents

// A body of one agent's answer: of the first that has it. Errors: as above; not_found.
Result<std::string> ask_first(const World& world, const net::HttpQuestion& question,
                              const Patience& patience);

// "spotter COMMAND --socket ... --format json"
std::string agents_command(const World& world, const std::string& command);
// "spotter analyze PATHS --table NAME --format json"
std::string analyze_command(const Capture& capture, const std::string& arguments);
// "spotter mcp --socket ... --call TOOL --arguments {...}": of rows that no other command has.
std::string call_command(const Call& call, std::string_view tool);
// What a capture is, for Source::what.
std::string words_of(const Capture& capture);

// The one of that id, or the newest of that job. Errors: invalid (neither is given, or both), not_found.
Result<Capture> capture_of(const World& world, const std::string& id, const std::string& job,
                           const Patience& patience);

void add_notes(const Notes& notes, std::vector<std::string>& sentences);
size_t count_of_text(const Table& table, const char* column, std::string_view text);  // rows that have it
std::string percent(double ratio);                                                    // "2.3 %"
std::string count_of(size_t number, std::string_view one);                            // "1 row", "3 rows"

}  // namespace spotter::mcp
