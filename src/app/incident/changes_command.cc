// changes: what was made otherwise on hosts and with jobs, and a way to say so.
#include <memory>

#include "app/capture/agent_view.h"
#include "app/cli/command.h"
#include "app/cli/format_option.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "base/text/utf8.h"
#include "client/client.h"
#include "render/list.h"
#include "wire/change.h"

namespace spotter::app {
namespace {

constexpr Ns kPatience = 10 * kSecond;

struct Options {
  HostOptions hosts;
  const render::Format* format = &render::kText;
  std::vector<std::string> words;
  respond::Change change;
};

Result<int> list(const Options& options) {
  return show(options.hosts, *options.format,
              {.name = "changes",
               .target = "/v1/changes",
               .schema = wire::changes_columns(),
               .nothing = "Nothing was changed in the last 30 days, as far as is known.\n"});
}

// To each agent: any of them may have an incident that it came before.
Result<int> add(const Options& options) {
  TRY_ASSIGN(const Hosts hosts, find_hosts(options.hosts));
  const net::HttpQuestion question{"POST", "/v1/changes", wire::change_text(options.change), {}};
  const std::vector<net::HttpQuestion> questions(hosts.addresses.size(), question);
  const auto answers = client::ask_each(hosts.addresses, hosts.credentials, questions, kPatience);
  std::optional<Error> refusal;
  size_t taken = 0;
  for (size_t i = 0; i < answers.size(); ++i) {
    const auto body = answers[i] ? client::body_of(*answers[i]) : tl::unexpected(answers[i].error());
    taken += body.has_value();
    if (!body) refusal = body.error();
  }
  if (taken == 0 && refusal) return tl::unexpected(*refusal);
  TRY(write_output("", taken == 1 ? std::string("Noted.\n") : fmt::format("Noted by {} agents.\n", taken)));
  if (refusal) std::fprintf(stderr, "spotter: not everywhere: %s\n", to_printable(refusal->message).c_str());
  return refusal ? kSomeMissing : kAllAnswered;
}

Result<int> act(Options& options) {
  const auto& words = options.words;
  if (words.empty()) return list(options);
  if (words[0] != "add" || words.size() != 2)
    return fail(Code::invalid, "it is `spotter changes`, or `spotter changes add 'what was changed'`");
  options.change.change.what = words[1];
  return add(options);
}

}  // namespace

Command changes_command() {
  const auto options = std::make_shared<Options>();
  respond::ChangeBefore& change = options->change.change;
  std::vector<Option> all = {
      {.names = {"--kind"},
       .value = "KIND",
       .help = "with add: driver, kernel, network, storage, code ...; default: deployment",
       .read = keep(change.kind)},
      {.names = {"--job"},
       .value = "ID",
       .help = "with add: of this job alone",
       .read = keep(options->change.job)},
      {.names = {"--on"},
       .value = "HOST",
       .help = "with add: on this host; may be given more than once",
       .read = keep_each(options->change.hosts)},
      {.names = {"--link"},
       .value = "URL",
       .help = "with add: where more is to be read",
       .read = keep(change.link)},
      {.names = {"--by"},
       .value = "NAME",
       .help = "with add: who or what made it; default: who says so",
       .read = keep(change.by)},
  };
  append(all, host_options(options->hosts));
  all.push_back(format_option(options->format));
  return {
      .name = "changes",
      .summary = "List what changed on hosts and in jobs (code, environment, drivers), or record a change.",
      .arguments = {{.name = "[add SUMMARY]",
                     .help = "say what was changed just now; without it, the changes of 30 days are listed",
                     .read = keep_each(options->words),
                     .required = false,
                     .many = true}},
      .options = std::move(all),
      .footer =
          "Examples:\n"
          "  spotter changes\n"
          "  spotter changes add 'driver 570 rolled out' --kind driver --on gpu05",
      .action = [options] { return act(*options); },
  };
}

}  // namespace spotter::app
