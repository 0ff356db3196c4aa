// The words of --what-if that are about the job's replay.
#pragma once
#include <string>

#include "diagnose/what_if.h"

namespace spotter::diagnose {

// Whether a word has the form PART:WHOSE=..., and not the critical path's NAME=FACTOR.
bool is_about_replay(const std::string& word);

// "device:rank=0-3,7=peer", "transfer:group=mesh_dp=0", "pause:all=0.5". Errors: invalid.
Result<WhatIf> parse_what_if(const std::string& word);

}  // namespace spotter::diagnose
