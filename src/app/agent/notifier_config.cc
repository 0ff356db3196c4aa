#include "app/agent/notifier_config.h"

#include <set>

#include "app/agent/yaml_map.h"
#include "notify/list.h"

namespace spotter::app {

Result<agent::NotifierOptions> checked_notifier(const Settings& said) {
  agent::NotifierOptions options{.type = {}, .settings = said};
  const auto type = options.settings.extract("type");
  if (!type) return fail(Code::invalid, "a notifier needs a \"type\"");
  options.type = type.mapped();
  TRY(notify::check(options.type, options.settings));
  if (agent::name_of(options).empty()) return fail(Code::invalid, "the name of a notifier is no empty text");
  return options;
}

Result<std::vector<agent::NotifierOptions>> read_notifiers(const YAML::Node& list) {
  if (!list.IsSequence()) return fail(Code::invalid, "it must be a list");
  std::vector<agent::NotifierOptions> notifiers;
  std::set<std::string> names;
  for (const YAML::Node& entry : list) {
    const std::string line = fmt::format("line {}", entry.Mark().line + 1);
    TRY_ASSIGN(const Settings said, read_settings(entry, "notifier"));
    auto checked = checked_notifier(said);
    if (!checked) return within(checked.error(), line);
    const std::string name = agent::name_of(*checked);
    if (!names.insert(name).second)
      return fail(Code::invalid,
                  "{}: another notifier is called {}, too: give this one a \"name\" of its own", line,
                  to_printable(name));
    notifiers.push_back(std::move(*checked));
  }
  return notifiers;
}

}  // namespace spotter::app
