// Ctrl-C (SIGINT) and SIGTERM: the process ends with the status 128 + signal and one sentence on standard
// error, which says what is whole and what is not. One thread calls these; the signal may reach any.
#pragma once
#include <atomic>
#include <optional>
#include <string>

namespace spotter::app {

// From now on a signal ends the process at once, wherever it is. main does this first.
void end_at_once_when_interrupted();

// From now on the first signal sets this flag, for work that then ends in order with Code::cancelled; a
// second one ends the process at once.
const std::atomic<bool>* interruption();

// For work that hears of its signals by net::Loop.
void note_interruption(int signal);

// What follows "interrupted; ", from now on. Before the first call it is "nothing was written".
void say_when_interrupted(std::string sentence);

// Work was interrupted and has ended: its exit status, after the sentence. None where no signal came.
std::optional<int> end_interrupted();

}  // namespace spotter::app
