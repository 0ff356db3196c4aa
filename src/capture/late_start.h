// Processes that are late for the start that all ranks of a capture share.
//
// libkineto looks once a second (a tick) whether the warm-up of its request is to begin within the next
// second, and then begins with it. It drops a request that leaves less than the warm-up until the start: one
// that it got too late, and one for which a busy host woke it some milliseconds after the last moment.
// PyTorch 2.13 then says for ever that it is busy, but takes the next request; one that is at work ignores
// it, with a line in its log.
#pragma once
#include <string>

#include "base/time.h"
#include "kineto/config.h"

namespace spotter::capture {

// Leaves as much warm-up, in whole seconds, as there is time for. True: that is less than was asked for, but
// some time is left.
bool shorten_warmup(kineto::Config& config, i64 now_ms);

// Whether a process has dropped a request whose trace is to begin at `start_ms`. `begun`: when it made its
// temporary file, in Unix time; 0: it has not. `is_idle`: so it says.
bool has_dropped(const kineto::Config& config, i64 start_ms, Ns begun, bool is_idle, i64 now_ms);

// Changes a request that was dropped so that the process takes it: with the same start if there is time for
// it, else with one of its own. Gives what a reader of the receipt has to know.
std::string ask_again(kineto::Config& config, i64 now_ms);

}  // namespace spotter::capture
