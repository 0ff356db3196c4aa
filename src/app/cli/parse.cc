#include "app/cli/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text/suggestion.h"

namespace spotter::app {
namespace {

// The library collects words and says what is wrong with them; `read` keeps them.
auto word_reader(const Read& read) {
  return [&read](const std::string& word) {
    const Result<void> done = read(word);
    return done ? std::string() : done.error().message;
  };
}
CLI::callback_t keep_nothing() {
  return [](const CLI::results_t&) { return true; };
}

CLI::Option* declare(CLI::App& app, const Argument& argument) {
  CLI::Option* option = app.add_option(argument.name, keep_nothing())
                            ->required(argument.required)
                            ->check(word_reader(argument.read));
  return argument.many ? option->expected(CLI::detail::expected_max_vector_size) : option;
}

CLI::Option* declare(CLI::App& app, const Option& option) {
  const std::string names = fmt::format("{}", fmt::join(option.names, ","));
  if (!option.value.empty())
    return app.add_option(names, keep_nothing())
        ->type_name(option.value)
        ->required(option.required)
        ->check(word_reader(option.read))
        ->multi_option_policy(option.repeatable ? CLI::MultiOptionPolicy::TakeAll
                                                : CLI::MultiOptionPolicy::Throw);
  return app.add_flag_callback(names, [&option] {
    if (const Result<void> done = option.read(""); !done)
      throw CLI::ValidationError(name_of(option), done.error().message);
  });
}

void declare(CLI::App& app, const Command& command) {
  for (const Argument& argument : command.arguments) declare(app, argument);
  for (const Option& option : command.options) declare(app, option);
  for (const Option& option : command.options) {
    CLI::Option* declared = app.get_option(name_of(option));
    for (const std::string& other : option.needs) declared->needs(app.get_option(other));
    for (const std::string& other : option.excludes) declared->excludes(app.get_option(other));
  }
}

// What the options that nobody knows may stand for.
std::string meant(const std::vector<std::string>& unknown, const Command& command) {
  std::vector<std::string> names;
  for (const Option& option : shown_options(command))
    std::ranges::copy_if(option.names, std::back_inserter(names),
                         [](const std::string& name) { return name.starts_with("--"); });
  for (const std::string& word : unknown)
    if (word.starts_with("-")) return did_you_mean(word.substr(0, word.find('=')), names);
  return {};
}

}  // namespace

Result<Asked> parse(const Command& command, std::vector<std::string> words) {
  // The library reads a word in brackets as a list; here it is a pattern of file names.
  for (std::string& word : words)
    if (word.starts_with('[') && word.ends_with(']')) word = "./" + word;
  std::ranges::reverse(words);  // as the library wants them
  CLI::App app;
  app.set_help_flag("-h,--help");
  declare(app, command);
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return Asked::help;
  } catch (const CLI::ExtrasError& error) {
    return fail(Code::invalid, "{}{}", error.what(), meant(app.remaining(), command));
  } catch (const CLI::ParseError& error) {
    return fail(Code::invalid, "{}", error.what());
  }
  if (command.check) TRY(command.check());
  return Asked::action;
}

}  // namespace spotter::app
