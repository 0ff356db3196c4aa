// What the configurations of assistants need to have so that they start this program.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace spotter::app {

std::vector<std::string> clients();
std::string client_names();                                 // "claude-code, cursor ..."
Result<std::string> parse_client(const std::string& word);  // Errors: invalid

// `agents`: the words that say which agents are asked.
Result<std::string> client_config(const std::string& client, const std::vector<std::string>& folders,
                                  const std::vector<std::string>& agents, bool may_capture);

}  // namespace spotter::app
