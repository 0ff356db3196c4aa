// Scripts that complete the words of the command line in a shell, made from the records: commands, options,
// and for their words files, folders or what the records offer. All is in the script; the program is not
// asked while somebody types.
#pragma once
#include <string>

#include "app/cli/command.h"

namespace spotter::app {

std::string bash_completion(const Program& program);  // completion_bash.cc
std::string zsh_completion(const Program& program);   // completion_zsh.cc
std::string fish_completion(const Program& program);  // completion_fish.cc

// For the scripts: the first clause of a help text, as short as a menu needs it.
std::string brief(const std::string& help);
// What is offered, by one blank apart.
std::string offered_words(const Offer& offer);
// The names of the listed commands, by one blank apart.
std::string command_words(const Program& program);

}  // namespace spotter::app
