// Compat: another tool whose numbers Spotter can give beside its own, so that users of that tool can hold one
// against the other. What differs from the exact numbers, and why, is in docs/NAME.md.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "analyze/analysis.h"

namespace spotter::analyze {

struct Compat {
  const char* name;                          // CLI word
  const char* summary;                       // what is as the tool has it, for the help: no sentence
  ArgSet reads;                              // event arguments that `rows` needs
  TracePtr (*rows)(const Trace& trace);      // the rows that the tool sees; nullptr: all as they are
  std::span<const Analysis* const> instead;  // each stands in the place of the analysis of its name
};

std::span<const Compat* const> all_compats();
const Compat* find_compat(std::string_view name);  // nullptr if there is none

// What is computed where these are asked for: of each what stands in its place; without a tool, or where it
// had no such table, that itself.
const Analysis* stand_in(const Compat* compat, const Analysis* analysis);
std::vector<const Analysis*> stand_ins(const Compat* compat, std::span<const Analysis* const> analyses);
// The tool's own tables but those on request, in the order of all_analyses().
std::vector<const Analysis*> usual_tables(const Compat& compat);

#define SPOTTER_COMPATS kHta, kTbPlugin
extern const Compat SPOTTER_COMPATS;

}  // namespace spotter::analyze
