// Envelope: what stands in a trace file before and behind its events.
#pragma once
#include "simulate/rank_place.h"

namespace spotter::simulate {

std::string trace_name(const RankPlace& place, bool gzip);  // of the file
std::string envelope_head(const Job& job, const RankPlace& place, const std::string& name);
// `end`: when the last thing happened.
std::string envelope_tail(const Job& job, const RankPlace& place, const std::string& name, Ns end);

}  // namespace spotter::simulate
