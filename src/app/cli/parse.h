// The words behind a command's name -> its options, read. The only door to CLI11.
#pragma once
#include <string>
#include <vector>

#include "app/cli/command.h"

namespace spotter::app {

enum class Asked { action, help };

// Has the command's records read the words, then its check. Errors: invalid, with what is wrong with which
// word.
Result<Asked> parse(const Command& command, std::vector<std::string> words);

}  // namespace spotter::app
