// notify: who is told of incidents, and whether they would hear it.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "agent/incidents/notifier_options.h"
#include "app/agent/agent_config.h"
#include "app/cli/command.h"
#include "app/cli/format_option.h"
#include "app/cli/interruption.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "app/cli/terminal.h"
#include "base/log.h"
#include "base/system/host.h"
#include "base/text/suggestion.h"
#include "base/text/utf8.h"
#include "base/version.h"
#include "notify/list.h"
#include "render/list.h"

namespace spotter::app {
namespace {

constexpr int kTaken = 0, kNotTaken = 1;
constexpr const char* kActions[] = {"list", "test", "types"};
constexpr const char* kConfig = "/etc/spotter/agent.yaml";  // packaging/spotter.service

constexpr Field kNotifierColumns[] = {
    {"notifier", Type::text, Unit::none, Role::key, "Its name."},
    {"type", Type::text, Unit::none, Role::value, "Its type; `spotter notify types` has all."},
    {"redact", Type::text, Unit::none, Role::value, "What it is not told."},
};

struct Options {
  std::string action, name;
  std::string config = kConfig;
  const render::Format* format = &render::kText;
};

Result<std::vector<agent::NotifierOptions>> configured(const Options& options) {
  AgentConfig config;
  if (const Result<void> r = read_agent_config(options.config, config); !r)
    return fail(r.error().code, "{}{}", r.error().message,
                options.config == kConfig && r.error().code == Code::not_found
                    ? "; name the agent's configuration with --config"
                    : "");
  return std::move(config.options.notifiers);
}

Result<int> list(const Options& options) {
  TRY_ASSIGN(const auto notifiers, configured(options));
  if (notifiers.empty() && options.format == &render::kText) {
    TRY(write_output("", fmt::format("{} names no notifiers: nobody is told of incidents.\n",
                                     to_printable(options.config))));
    return kTaken;
  }
  std::vector<Table> tables;
  Table& table = tables.emplace_back("notifiers", kNotifierColumns);
  for (const agent::NotifierOptions& notifier : notifiers) {
    const auto redact = notifier.settings.find("redact");
    const std::string name = agent::name_of(notifier),
                      left_out = redact == notifier.settings.end() ? "" : redact->second;
    table.append({std::string_view(name), std::string_view(notifier.type),
                  left_out.empty() ? Value() : Value(std::string_view(left_out))});
  }
  TRY(print(*options.format, {tables, {}}));
  return kTaken;
}

Result<int> types() {
  const render::TextStyle style = page_style_of(STDOUT_FILENO);
  const auto settings_of = [&](std::span<const Setting> settings) {
    std::vector<std::pair<std::string, std::string>> meanings;
    for (const Setting& setting : settings) {
      const bool has_default = setting.fallback && *setting.fallback;
      meanings.emplace_back(
          setting.key, setting.help + (has_default ? fmt::format(" Default: {}.", setting.fallback) : ""));
    }
    return render::render_meanings(meanings, style.width);
  };
  std::string text;
  for (const notify::NotifierKind* kind : notify::all_notifiers())
    text += render::bold(render::wrapped(fmt::format("{}: {}", kind->name, kind->help), style.width), style) +
            "\n" + settings_of(kind->settings) + "\n";
  text += render::bold("Of all types", style) + "\n" + settings_of(notify::settings_of_all_notifiers());
  TRY(write_output("", text));
  return kTaken;
}

// Nobody is to take it for anything else.
respond::Incident made_up(const std::string& host, Ns now) {
  respond::Incident incident;
  incident.cluster = "test";
  incident.family = "test";
  incident.n = incident.sequence = 1;
  incident.host = incident.led_by = host;
  incident.state = respond::IncidentState::verdict;
  incident.urgency = respond::Urgency::info;
  incident.opened = incident.updated = now;
  incident.symptom = {.rule = "test", .source = "spotter notify test", .since = now, .hosts = 1};
  incident.verdict = respond::Verdict{.cause = "test",
                                      .confidence = respond::Confidence::high,
                                      .sentence = "This is a test. Nothing is wrong.",
                                      .remedy = "Nothing has to be done."};
  incident.against = {"everything: nothing was looked at"};
  incident.not_known = {"anything of this host: this is a test"};
  return incident;
}

Result<agent::NotifierOptions> find(const Options& options) {
  TRY_ASSIGN(const auto notifiers, configured(options));
  std::vector<std::string> names;
  for (const agent::NotifierOptions& notifier : notifiers) {
    names.push_back(agent::name_of(notifier));
    if (names.back() == options.name) return notifier;
  }
  return fail(Code::not_found, "{} has no notifier {}{}", to_printable(options.config),
              to_printable(options.name),
              did_you_mean(options.name, names,
                           names.empty() ? "; it names none" : "; `spotter notify list` names them"));
}

const char* words_of(notify::Outcome::Kind kind) {
  switch (kind) {
    case notify::Outcome::Kind::done:
      return "taken";
    case notify::Outcome::Kind::again:
      return "not taken now; the agent would try again";
    case notify::Outcome::Kind::for_good:
      return "not taken, and never would be";
    case notify::Outcome::Kind::gone:
      return "not taken; it asks to be told nothing more, and the agent would leave it off";
  }
  return "";
}

Result<int> test(const Options& options) {
  TRY_ASSIGN(const agent::NotifierOptions notifier, find(options));
  const std::string host = to_printable(host_name());
  TRY_ASSIGN(const notify::Receiver receiver,
             agent::open_receiver(notifier, {std::string(kVersion), host, {}}));
  say_when_interrupted("whether the message was taken is not known");
  const Ns now = unix_clock_now();
  notify::Telling telling{made_up(host, now), notify::Occasion::test, now};
  notify::redact(telling.incident, receiver.redaction);
  std::string kept;
  const notify::Outcome outcome = receiver.notifier->tell(telling, kept);
  const bool is_taken = outcome.kind == notify::Outcome::Kind::done;
  std::string line =
      fmt::format("{} ({}): {}", to_printable(receiver.name), receiver.kind, words_of(outcome.kind));
  if (!outcome.says.empty()) line += ": " + to_printable(outcome.says);
  TRY(write_output("", line + "\n"));
  return is_taken ? kTaken : kNotTaken;
}

Result<std::string> parse_action(const std::string& word) {
  if (std::ranges::find(kActions, word) != std::end(kActions)) return word;
  return fail(Code::invalid, "there is no action \"{}\"; there are list, test and types", to_printable(word));
}

}  // namespace

Command notify_command() {
  const auto options = std::make_shared<Options>();
  Options& o = *options;
  return {
      .name = "notify",
      .summary = "List the notifiers that are told of incidents, or send one a test message.",
      .arguments =
          {{.name = "ACTION",
            .help =
                "list: the notifiers of the configuration; test: send one of them a message that says that it "
                "is a test; types: what notifiers there are, and their settings",
            .read = parsed(o.action, parse_action),
            .offer = offer_words(
                [] { return std::vector<std::string>(std::begin(kActions), std::end(kActions)); })},
           {.name = "NAME", .help = "of test: the notifier", .read = keep(o.name), .required = false}},
      .options = {{.names = {"--config"},
                   .value = "FILE",
                   .help = fmt::format("the agent's configuration; default: {}", kConfig),
                   .read = keep(o.config),
                   .offer = offer_files()},
                  format_option(o.format)},
      .footer =
          "The test goes from here, by this user, with the files that the configuration names.\n"
          "Exit status: 0 if the test was taken, 1 if not, 2 for a command line that cannot be.",
      .check = [options]() -> Result<void> {
        const bool is_test = options->action == "test";
        if (is_test && options->name.empty()) return fail(Code::invalid, "test needs the NAME of a notifier");
        if (!is_test && !options->name.empty()) return fail(Code::invalid, "{} has no NAME", options->action);
        if (options->action != "list" && options->format != &render::kText)
          return fail(Code::invalid, "--format is of list");
        return {};
      },
      .action = [options]() -> Result<int> {
        if (options->action == "list") return list(*options);
        return options->action == "types" ? types() : test(*options);
      },
  };
}

}  // namespace spotter::app
