// What stands out in captures of agents: each reads its files where they are, and what they say is put
// together here, as `spotter trace --analyze` does.
#include <iterator>
#include <utility>

#include "base/text/utf8.h"
#include "client/client.h"
#include "diagnose/run.h"
#include "net/http/accepted.h"
#include "serve/agents.h"
#include "serve/make_order.h"
#include "serve/routes.h"
#include "serve/table_order.h"
#include "wire/analyze_request.h"
#include "wire/file_results.h"
#include "wire/json.h"
#include "wire/target.h"

namespace spotter::serve {
namespace {

constexpr Ns kFilesPatience = 180 * kSecond;  // agents have 120 s

using HostResults = std::pair<std::string, std::string>;  // a host, and what its agent made of its files

void add_missing(std::string_view host, const Error& why, Notes& notes) {
  notes.add("host_missing", Severity::loss, fmt::format("{} is left out: {}", host, why.message));
}

Result<Body> findings_of(std::span<const HostResults> results, Notes notes, Form form,
                         const std::atomic<bool>& cancelled) {
  const analyze::RunRequest facts = diagnose::fact_request();
  diagnose::Request request{.findings = true};
  for (const auto& [host, text] : results) {
    if (auto files = wire::read_file_results(text, facts.analyses))
      std::ranges::move(*files, std::back_inserter(request.elsewhere));
    else
      add_missing(host, files.error(), notes);
  }
  if (request.elsewhere.empty()) return fail(Code::not_found, "no agent has read a trace of the capture");
  request.run.cancelled = &cancelled;
  share_machine(request.run);
  TRY_ASSIGN(diagnose::Diagnosis diagnosis, diagnose::run({}, std::move(request), {}));
  CHECK(diagnosis.findings);
  notes.merge(diagnosis.notes);
  return body_of({std::span(&*diagnosis.findings, 1), notes}, form);
}

}  // namespace

struct Agents::Gathered {
  net::HttpServer::Respond respond;
  Form form = Form::json;
  bool as_gzip = false;
  std::function<void(std::function<void()>)> when_gone;
  std::string key;  // of the order
  size_t open = 0;  // agents that have not answered
  std::vector<HostResults> results;
  Notes notes;
  std::vector<std::function<void()>> take_back;
};

void Agents::findings(const net::HttpRequest& request, net::HttpServer::Respond respond) {
  const auto gathered = std::make_shared<Gathered>();
  gathered->respond = std::move(respond);
  gathered->form = form_of(request.accept);
  gathered->as_gzip = net::takes_gzip(request.accept_encoding);
  gathered->when_gone = request.when_gone;
  gathered->key = fmt::format("findings {} {}", static_cast<int>(gathered->form), request.body);
  if (const auto begun = gather(request, gathered); !begun) gathered->respond(error_answer(begun.error()));
}

// Asks nobody where anything is wrong.
Result<void> Agents::gather(const net::HttpRequest& request, const std::shared_ptr<Gathered>& gathered) {
  static constexpr std::string_view kMembers[] = {"captures"};
  TRY_ASSIGN(const boost::json::object object, wire::read_object(request.body));
  TRY(wire::check_names(object, kMembers, "a question for findings"));
  const boost::json::value* captures = object.if_contains("captures");
  if (!captures || !captures->is_object() || captures->get_object().empty())
    return fail(Code::invalid, "\"captures\" must be an object of captures by their hosts");
  std::vector<std::pair<Host*, std::string>> wanted;
  for (const auto& [name, id] : captures->get_object()) {
    Host* const host = find(name);
    if (!host || !id.is_string())
      return fail(Code::not_found, "there is no host {} among those that are shown here", to_printable(name));
    wanted.emplace_back(host, std::string(id.get_string()));
  }
  const std::string body = wire::analyze_request_text(diagnose::fact_request());
  gathered->open = wanted.size();
  for (const auto& [host, id] : wanted) {
    net::HttpQuestion question{"POST", "/v1/captures/" + wire::escaped_parameter(id) + "/analyze", body, {}};
    question.headers.emplace_back("Content-Type", "application/json");
    const auto take = [this, host, gathered](Result<net::HttpAnswer> http) {
      Result<std::string> text =
          http ? client::body_of(std::move(*http)) : client::unreachable(host->address, http.error());
      if (text)
        gathered->results.emplace_back(host->name, std::move(*text));
      else
        add_missing(host->name, text.error(), gathered->notes);
      if (--gathered->open == 0) diagnose(gathered);
    };
    gathered->take_back.push_back(ask(*host, std::move(question), kFilesPatience, take));
  }
  gathered->when_gone([weak = std::weak_ptr(gathered)] {
    if (const auto strong = weak.lock())
      for (const auto& take_back : strong->take_back) take_back();
  });
  return {};
}

void Agents::diagnose(const std::shared_ptr<Gathered>& gathered) {
  const std::string key = fmt::format("{} {}", gathered->key, gathered->notes.all().size());
  auto order = std::make_shared<MakeOrder>(
      key, [results = std::move(gathered->results), notes = gathered->notes, form = gathered->form](
               const std::atomic<bool>& cancelled) { return findings_of(results, notes, form, cancelled); });
  gathered->take_back.push_back(desk_.order(std::move(order), [gathered](const Result<Desk::BodyPtr>& body) {
    if (!body) return gathered->respond(error_answer(body.error()));
    gathered->respond(answer_of(**body, gathered->as_gzip));
  }));
}

}  // namespace spotter::serve
