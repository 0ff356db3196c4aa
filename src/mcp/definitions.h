// What has a definition in words: analyses, the findings, rules.
#pragma once
#include <optional>
#include <string>

#include "mcp/world.h"

namespace spotter::mcp {

// The rules with the thresholds in use where an agent says them, else as they are without a configuration.
Table rules_here(const World& world, const Patience& patience);

// In Markdown, whole. Nullopt: there is none of that name.
std::optional<std::string> analysis_text(const std::string& name);  // findings, too
std::optional<std::string> rule_text(const World& world, const std::string& name, const Patience& patience);

}  // namespace spotter::mcp
