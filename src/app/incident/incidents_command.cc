// incidents: what agents have found wrong with jobs, one of them as its message, and what a person does about
// it.
#include <memory>

#include "app/capture/agent_view.h"
#include "app/cli/command.h"
#include "app/cli/format_option.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "base/system/host.h"
#include "base/text/quantity.h"
#include "base/text/utf8.h"
#include "base/version.h"
#include "client/client.h"
#include "notify/message.h"
#include "render/list.h"
#include "table/ops.h"
#include "wire/incident.h"
#include "wire/incident_table.h"
#include "wire/silence.h"
#include "wire/target.h"

namespace spotter::app {
namespace {

constexpr Ns kPatience = 10 * kSecond;

struct Options {
  HostOptions hosts;
  const render::Format* format = &render::kText;
  std::vector<std::string> words;
  Ns duration = 0;
  std::string reason;
  std::string report;  // the file; empty: none is wanted
};

Result<std::string> ask_one(const net::HttpAddress& address, const client::Credentials& credentials,
                            const net::HttpQuestion& question) {
  auto answers = client::ask_each(std::span(&address, 1), credentials, std::span(&question, 1), kPatience);
  if (!answers[0]) return tl::unexpected(answers[0].error());
  return client::body_of(std::move(*answers[0]));
}

// The answer of the first agent that has it.
Result<std::string> answer_for(const Options& options, const std::string& method, const std::string& id,
                               const std::string& act) {
  TRY_ASSIGN(const Hosts hosts, find_hosts(options.hosts));
  Error last{Code::not_found, "no agent was asked"};
  const std::string target = "/v1/incidents/" + wire::escaped_parameter(id) + act;
  for (const net::HttpAddress& address : hosts.addresses) {
    auto body = ask_one(address, hosts.credentials, {method, target, {}, {}});
    if (body) return body;
    if (last.code == Code::not_found) last = body.error();
  }
  return tl::unexpected(last);
}

Result<respond::Incident> ask_for(const Options& options, const std::string& method, const std::string& id,
                                  const std::string& act) {
  TRY_ASSIGN(const std::string body, answer_for(options, method, id, act));
  return wire::read_incident(body);
}

Result<void> tell(const Options& options, const respond::Incident& incident) {
  if (options.format != &render::kText) return write_output("", wire::incident_text(incident) + "\n");
  const notify::Telling telling{
      .incident = incident,
      .occasion = incident.is_open() ? notify::Occasion::changed : notify::Occasion::resolved,
      .at = incident.updated};
  const notify::Surroundings surroundings{.version = kVersion, .host_name = host_name(), .report_url = {}};
  std::string text = notify::text_of(notify::message_of(telling, surroundings));
  for (const std::string& line : notify::details_of(telling)) text += "  " + to_printable(line) + "\n";
  return write_output("", text);
}

Result<int> list(const Options& options) {
  return show(options.hosts, *options.format,
              {.name = "incidents",
               .target = "/v1/incidents",
               .schema = wire::incidents_columns(),
               .nothing = "Nothing is wrong, as far as the rules see; `spotter rules` lists them.\n"});
}

// By the job and the rule that it is about, or else the host.
respond::Silence silence_of(const respond::Incident& incident) {
  respond::Silence silence;
  silence.rule = incident.symptom.rule;
  silence.job = incident.job.id;
  if (silence.job.empty()) silence.host = incident.host;
  return silence;
}

Result<int> silence(const Options& options, const std::string& id) {
  if (options.duration <= 0 || options.reason.empty())
    return fail(Code::invalid, "a silence has an end and a reason: --for 2h --reason TEXT");
  TRY_ASSIGN(const respond::Incident incident, ask_for(options, "GET", id, ""));
  respond::Silence wanted = silence_of(incident);
  wanted.reason = options.reason;
  wanted.until = Host::at("/").unix_now() + options.duration;
  TRY_ASSIGN(const Hosts hosts, find_hosts(options.hosts));
  std::optional<Error> refusal;
  size_t taken = 0;
  for (const net::HttpAddress& address : hosts.addresses) {
    const auto answer =
        ask_one(address, hosts.credentials, {"POST", "/v1/silences", wire::silence_text(wanted), {}});
    taken += answer.has_value();
    if (!answer) refusal = answer.error();
  }
  if (taken == 0 && refusal) return tl::unexpected(*refusal);
  TRY_ASSIGN(const respond::Incident now, ask_for(options, "GET", id, ""));
  TRY(tell(options, now));
  if (refusal) std::fprintf(stderr, "spotter: not everywhere: %s\n", to_printable(refusal->message).c_str());
  return refusal ? kSomeMissing : kAllAnswered;
}

Result<int> act(const Options& options) {
  const auto& words = options.words;
  if (!options.report.empty()) {
    if (words.size() != 1)
      return fail(Code::invalid, "--report FILE is of one incident: `spotter incidents` lists their ids");
    TRY_ASSIGN(const std::string page, answer_for(options, "GET", words[0], "/report"));
    TRY(write_output(options.report, page));
    return kAllAnswered;
  }
  if (words.empty()) return list(options);
  const auto id_behind = [&]() -> Result<std::string> {
    if (words.size() != 2)
      return fail(Code::invalid, "{}: whose? `spotter incidents` lists their ids", words[0]);
    return words[1];
  };
  if (words[0] == "silence") {
    TRY_ASSIGN(const std::string id, id_behind());
    return silence(options, id);
  }
  std::string method = "GET", target, id = words[0];
  if (words[0] == "ack" || words[0] == "resolve") {
    TRY_ASSIGN(id, id_behind());
    method = "POST";
    target = words[0] == "ack" ? "/acknowledge" : "/resolve";
  } else if (words.size() > 1) {
    return fail(Code::invalid, "\"{}\" is none of ack, resolve and silence", to_printable(words[0]));
  }
  TRY_ASSIGN(const respond::Incident incident, ask_for(options, method, id, target));
  TRY(tell(options, incident));
  return kAllAnswered;
}

}  // namespace

Command incidents_command() {
  const auto options = std::make_shared<Options>();
  std::vector<Option> all = {
      {.names = {"--report"},
       .value = "FILE",
       .help = "of one of them: write what was traced for it to FILE, a report in HTML",
       .read = keep(options->report),
       .offer = offer_files()},
      {.names = {"--for"},
       .value = "TIME",
       .help = "with silence: for how long: 2h, at most 30 days",
       .read = parsed(options->duration, parse_duration_ns)},
      {.names = {"--reason"}, .value = "TEXT", .help = "with silence: why", .read = keep(options->reason)},
  };
  append(all, host_options(options->hosts));
  all.push_back(format_option(options->format));
  return {
      .name = "incidents",
      .summary = "What agents have found wrong with jobs, and why.",
      .arguments =
          {{.name = "[ack|resolve|silence] ID",
            .help =
                "show this incident; with ack it is not repeated, with silence nothing is told of it for a while, with resolve it is over; without an ID all are listed",
            .read = keep_each(options->words),
            .required = false,
            .many = true}},
      .options = std::move(all),
      .footer =
          "Examples:\n"
          "  spotter incidents\n"
          "  spotter incidents 4711-speed-2\n"
          "  spotter incidents 4711-speed-2 --report r.html\n"
          "  spotter incidents ack 4711-speed-2\n"
          "  spotter incidents silence 4711-speed-2 --for 2h --reason 'the node is drained at noon'",
      .action = [options] { return act(*options); },
  };
}

}  // namespace spotter::app
