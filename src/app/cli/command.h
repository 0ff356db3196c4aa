// What a command is, as data: the command line is read, helped with, completed and described in the manual by
// these records alone. app/list.cc lists them. What a record's functions refer to is owned by its action.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace spotter::app {

using Action = std::function<Result<int>()>;                        // the exit status; an error is 1
using Check = std::function<Result<void>()>;                        // an error is one of the command line: 2
using Read = std::function<Result<void>(const std::string& word)>;  // understands a word and keeps it

// What a shell offers where a word is typed.
struct Offer {
  enum class Kind { nothing, files, folders, words };
  Kind kind = Kind::nothing;
  std::vector<std::string> (*words)() = nullptr;  // asked only when a script is written
};
inline Offer offer_files() { return {.kind = Offer::Kind::files}; }
inline Offer offer_folders() { return {.kind = Offer::Kind::folders}; }
inline Offer offer_words(std::vector<std::string> (*words)()) {
  return {.kind = Offer::Kind::words, .words = words};
}

// A word by its place. Only the last one of a command may stand for many, or be left out.
struct Argument {
  std::string name;
  std::string help;
  Read read;
  Offer offer = {};
  bool required = true, many = false;
};

struct Option {
  std::vector<std::string> names;  // "-o", "--output": short ones first; the first long one is its name
  std::string value = {};          // what its word is called: "FILE"; empty: a flag, which has none
  std::string help = {};
  Read read = {};  // of a flag it is called with an empty word, once
  Offer offer = {};
  bool required = false, repeatable = false;
  std::vector<std::string> needs = {}, excludes = {};  // names of other options of the command
};
const std::string& name_of(const Option& option);
void append(std::vector<Option>& options, std::vector<Option> more);

struct Command {
  std::string name;
  std::string summary = {};  // one line; empty: it is not listed
  std::vector<Argument> arguments = {};
  std::vector<Option> options = {};  // in the order of the help; --help is every command's and not among them
  std::string footer = {};           // exit statuses, examples
  Check check = {};                  // of all words together, once they are read
  Action action = {};
};

// What the program has beside its commands.
struct Program {
  std::string about;
  std::vector<Option> options;
  std::vector<Command> commands;
};

Option help_option();     // of every command and of the program
Option version_option();  // of the program
// All options of a command as a person sees them.
std::vector<Option> shown_options(const Command& command);
std::vector<const Command*> listed(const std::vector<Command>& commands);
const Command* find_command(const std::vector<Command>& commands, std::string_view name);  // nullptr: none

}  // namespace spotter::app
