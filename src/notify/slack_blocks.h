// A message as Slack has it: blocks (docs.slack.dev/reference/block-kit). What others wrote can be no mention
// and no link: the headline is plain text, the rest is escaped and taken as it is, and a job's own words are
// in code.
#pragma once
#include <string>

#include "notify/message.h"
#include "wire/json.h"

namespace spotter::notify {

// Limits of Slack's, and of what it takes of all blocks together, which it does not tell.
inline constexpr size_t kMostSlackSection = 2900, kMostSlackBlocks = 8000;  // characters

boost::json::array slack_blocks(const Message& message, Ns began);
std::string slack_fallback(const Message& message);  // `text`, for notifications

// Lines in a block of code of at most 60 columns.
std::string slack_code(const std::vector<std::string>& lines);

// At most so many characters with their escapes; none is cut in two.
std::string slack_escaped(std::string_view text, size_t most);

}  // namespace spotter::notify
