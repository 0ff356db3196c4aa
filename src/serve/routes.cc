#include "serve/routes.h"

#include <algorithm>
#include <array>

#include "base/gzip_writer.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "mcp/endpoint.h"
#include "net/digest.h"
#include "net/http/accepted.h"
#include "net/http/browser_headers.h"
#include "page/page.h"
#include "report/html/job_tables.h"
#include "serve/answers.h"
#include "serve/table_order.h"
#include "wire/error.h"

namespace spotter::serve {
namespace {

constexpr i64 kMostWaitMs = 60'000;
constexpr std::string_view kHtmlType = "text/html; charset=utf-8", kTextType = "text/plain; charset=utf-8";

// What an answer needs of the request when that is gone.
struct Reply {
  net::HttpServer::Respond respond;
  bool takes_gzip;
  std::string if_none_match, policy;

  explicit Reply(const RouteCall& call, std::string_view of_answer = net::kDataPolicy)
      : respond(call.respond),
        takes_gzip(net::takes_gzip(call.http.accept_encoding)),
        if_none_match(call.http.if_none_match),
        policy(of_answer) {}

  std::string etag(std::string_view digest) const {
    return fmt::format("\"{}{}\"", digest.substr(0, 32), takes_gzip ? "-gzip" : "");
  }
  // Whether the client has it already, and was told so.
  bool is_known(std::string_view digest) const {
    if (!names_etag(if_none_match, etag(digest))) return false;
    net::HttpAnswer answer{304, {}};
    finish(digest, answer);
    return true;
  }
  void send(std::string_view digest, const Body& body) const {
    net::HttpAnswer answer{200, {}, body.content_type};
    if (takes_gzip) {
      answer.body = body.packed;
      answer.content_encoding = "gzip";
    } else {
      Result<std::string> text = gunzipped(body.packed);
      if (!text) return respond(error_answer(text.error()));
      answer.body = std::move(*text);
    }
    if (!body.file_name.empty())
      answer.headers.emplace_back("Content-Disposition",
                                  fmt::format("attachment; filename=\"{}\"", body.file_name));
    finish(digest, answer);
  }

 private:
  void finish(std::string_view digest, net::HttpAnswer& answer) const {
    net::add_browser_headers(policy, answer);
    answer.headers.emplace_back("ETag", etag(digest));
    answer.headers.emplace_back("Vary", "Accept, Accept-Encoding");
    respond(std::move(answer));
  }
};

// What is there at once.
void send_now(const RouteCall& call, const Result<Body>& body, std::string_view policy = net::kDataPolicy) {
  if (!body) return call.respond(error_answer(body.error()));
  const Reply reply(call, policy);
  const std::string digest = net::sha256(fmt::format("{}|{}", body->content_type, body->packed));
  if (!reply.is_known(digest)) reply.send(digest, *body);
}

// What workers make, unless the client has it.
void send_ordered(const RouteCall& call, Result<OrderPtr> order) {
  if (!order) return call.respond(error_answer(order.error()));
  const Reply reply(call);
  const std::string digest = net::sha256(fmt::format("{}|{}", call.program, (*order)->key));
  if (reply.is_known(digest)) return;
  auto take_back = call.desk.order(*order, [reply, digest](const Result<Desk::BodyPtr>& body) {
    body ? reply.send(digest, **body) : reply.respond(error_answer(body.error()));
  });
  call.http.when_gone(std::move(take_back));
}

Result<JobPtr> job_of(const RouteCall& call, const std::string& id) {
  if (JobPtr job = call.jobs.find(id)) return job;
  return fail(Code::not_found, "there is no job {}", to_printable(id.substr(0, 100)));
}

TableOrder::Tell tell_of(JobList& jobs, std::function<void(std::function<void()>)> post) {
  return [&jobs, post = std::move(post)](const JobPtr& job, Learned learned) {
    post([&jobs, job, learned = std::make_shared<Learned>(std::move(learned))] {
      jobs.learn(*job, std::move(*learned));
    });
  };
}

TableOrder::Tell tell_of(const RouteCall& call) { return tell_of(call.jobs, call.post); }

Form form_of(const RouteCall& call) { return serve::form_of(call.http.accept); }

// Of a wait: the revision that was seen, if it is to be waited for another.
std::optional<i64> seen_in(const RouteCall& call) {
  const auto seen = number_in<i64>(call.target.text("seen"));
  return call.target.number("wait_ms", 0) > 0 ? seen : std::nullopt;
}

// Acts when there is news, or the time is over.
void wait(const RouteCall& call, const std::string& id, i64 seen, std::function<void()> act) {
  const Ns time = std::clamp<i64>(call.target.number("wait_ms", 0), 0, kMostWaitMs) * kMillisecond;
  call.http.when_gone(call.jobs.wait(id, seen, time, std::move(act)));
}

Result<Body> body_of_jobs(const JobList& jobs, Form form) {
  const Table table = jobs.jobs();
  return body_of({std::span(&table, 1), {}, {{"revision", jobs.revision()}}}, form);
}

Result<Body> body_of_job(const JobList& jobs, const FoundJob& job, Form form) {
  const std::array<Table, 3> tables = {jobs.jobs(&job), jobs.facts(job), jobs.ranks(job)};
  return body_of({tables, {}, {{"revision", jobs.revision(job.id)}}}, form);
}

void jobs_route(const RouteCall& call) {
  constexpr std::string_view kNames[] = {"wait_ms", "seen"};
  if (const auto known = call.target.has_only(kNames); !known)
    return call.respond(error_answer(known.error()));
  const auto seen = seen_in(call);
  if (!seen || *seen != call.jobs.revision()) return send_now(call, body_of_jobs(call.jobs, form_of(call)));
  wait(call, "", *seen, [reply = Reply(call), &jobs = call.jobs, form = form_of(call)] {
    const Result<Body> body = body_of_jobs(jobs, form);
    body ? reply.send(net::sha256(body->packed), *body) : reply.respond(error_answer(body.error()));
  });
}

// Without `seen` a job is read first, so that what is told of it is all there is to tell.
void job_route(const RouteCall& call) {
  constexpr std::string_view kNames[] = {"wait_ms", "seen"};
  const Result<JobPtr> job = job_of(call, call.words[0]);
  if (!job) return call.respond(error_answer(job.error()));
  if (const auto known = call.target.has_only(kNames); !known)
    return call.respond(error_answer(known.error()));
  const auto seen = seen_in(call);
  const Form form = form_of(call);
  const auto send = [reply = Reply(call), &jobs = call.jobs, id = call.words[0], form] {
    const JobPtr now = jobs.find(id);
    if (!now) return reply.respond(error_answer({Code::not_found, "the job is gone"}));
    const Result<Body> body = body_of_job(jobs, *now, form);
    if (!body) return reply.respond(error_answer(body.error()));
    const std::string digest = net::sha256(fmt::format("{}|{}", body->content_type, body->packed));
    if (!reply.is_known(digest)) reply.send(digest, *body);
  };
  if (seen)
    return *seen == call.jobs.revision(call.words[0]) ? wait(call, call.words[0], *seen, send) : send();
  if (call.jobs.learned(**job)) return send();
  call.jobs.is_read(**job, true);
  const auto done = [&jobs = call.jobs, job = *job] { jobs.is_read(*job, false); };
  auto take_back = call.desk.order(TableOrder::to_learn(*job, form, tell_of(call)),
                                   [send, done](const Result<Desk::BodyPtr>&) {
                                     done();
                                     send();
                                   });
  call.http.when_gone([done, take_back] {
    done();
    take_back();
  });
}

Result<OrderPtr> table_order(const RouteCall& call, const JobPtr& job, TableAsk ask) {
  return std::make_shared<TableOrder>(job, std::move(ask), form_of(call), !call.jobs.learned(*job),
                                      tell_of(call));
}

void table_route(const RouteCall& call) {
  const auto order = [&]() -> Result<OrderPtr> {
    TRY_ASSIGN(const JobPtr job, job_of(call, call.words[0]));
    TRY_ASSIGN(TableAsk ask, read_table_ask(call.words[1], call.target));
    return table_order(call, job, std::move(ask));
  };
  send_ordered(call, order());
}

void spans_route(const RouteCall& call) {
  const auto order = [&]() -> Result<OrderPtr> {
    TRY_ASSIGN(const JobPtr job, job_of(call, call.words[0]));
    wire::Target table("");
    for (const auto& [name, value] : call.target.parameters) {
      const bool is_time = name == "from" || name == "to";
      if (name == "rank" && value == "none") continue;  // then there is one file
      table.parameters.emplace_back(name == "rank" ? "ranks" : is_time ? name + "_ns" : name, value);
    }
    TRY_ASSIGN(TableAsk ask, read_table_ask("spans", table));
    return table_order(call, job, std::move(ask));
  };
  send_ordered(call, order());
}

void event_route(const RouteCall& call) {
  const auto order = [&]() -> Result<OrderPtr> {
    TRY_ASSIGN(const JobPtr job, job_of(call, call.words[0]));
    const auto event = number_in<u32>(call.words[2]);
    const std::optional<i64> rank = number_in<i64>(call.words[1]);
    if (!event || (!rank && call.words[1] != "none"))
      return fail(Code::not_found, "an event is asked for as events/RANK/NUMBER");
    const JobFile* const file = call.jobs.file_of(*job, rank);
    if (!file) return fail(Code::not_found, "the job has no rank {}", call.words[1]);
    return event_order(job, *file, *event, form_of(call));
  };
  send_ordered(call, order());
}

void search_route(const RouteCall& call) {
  const auto order = [&]() -> Result<OrderPtr> {
    TRY_ASSIGN(const JobPtr job, job_of(call, call.words[0]));
    return search_order(job, call.target, form_of(call));
  };
  send_ordered(call, order());
}

void export_route(const RouteCall& call) {
  const auto order = [&]() -> Result<OrderPtr> {
    TRY_ASSIGN(const JobPtr job, job_of(call, call.words[0]));
    return export_order(job, call.target);
  };
  send_ordered(call, order());
}

void report_route(const RouteCall& call) {
  const auto order = [&]() -> Result<OrderPtr> {
    TRY_ASSIGN(const JobPtr job, job_of(call, call.words[0]));
    return report_order(job, call.target);
  };
  send_ordered(call, order());
}

void diff_route(const RouteCall& call) {
  const auto order = [&]() -> Result<OrderPtr> {
    TRY_ASSIGN(const JobPtr before, job_of(call, call.target.text("before")));
    TRY_ASSIGN(const JobPtr after, job_of(call, call.target.text("after")));
    return diff_order(before, after, call.target, form_of(call));
  };
  send_ordered(call, order());
}

void analyses_route(const RouteCall& call) {
  const Table table = report::analyses_table();
  send_now(call, body_of({std::span(&table, 1), {}}, form_of(call)));
}

void page_route(const RouteCall& call) {
  static const Result<Body> page = body_of(page::served(), kHtmlType);
  send_now(call, page, page::served_policy());
}

void licences_route(const RouteCall& call) {
  static const Result<Body> licences = body_of(page::licences(), kTextType);
  send_now(call, licences);
}

// Browsers ask for it by themselves; the page has none.
void icon_route(const RouteCall& call) {
  net::HttpAnswer answer{204, {}};
  net::add_browser_headers(net::kDataPolicy, answer);
  call.respond(std::move(answer));
}

struct Route {
  std::string_view path;  // {}: anything without a slash
  void (*act)(const RouteCall&);
};
constexpr Route kRoutes[] = {
    {"/", page_route},
    {"/licences", licences_route},
    {"/favicon.ico", icon_route},
    {"/v1/jobs", jobs_route},
    {"/v1/jobs/{}", job_route},
    {"/v1/jobs/{}/tables/{}", table_route},
    {"/v1/jobs/{}/spans", spans_route},
    {"/v1/jobs/{}/events/{}/{}", event_route},
    {"/v1/jobs/{}/search", search_route},
    {"/v1/jobs/{}/export", export_route},
    {"/v1/jobs/{}/report", report_route},
    {"/v1/diff", diff_route},
    {"/v1/analyses", analyses_route},
};

// What changes nothing although it is asked by POST. All else that is not GET or HEAD is taken for a change:
// what agents of other releases have, too.
constexpr std::string_view kReadByPost[] = {
    mcp::Endpoint::kPath,  // captures are not begun by it (Server::world)
    "/v1/hosts/findings",
    "/v1/hosts/{}/captures/{}/analyze",
};

// What is in the places of {}.
std::optional<std::vector<std::string>> matched(std::string_view pattern, std::string_view path) {
  std::vector<std::string> words;
  while (true) {
    const size_t end = pattern.find('/', 1), path_end = path.find('/', 1);
    const std::string_view wanted = pattern.substr(0, end), part = path.substr(0, path_end);
    if (wanted == "/{}" && part.size() > 1)
      words.emplace_back(part.substr(1));
    else if (wanted != part)
      return std::nullopt;
    if (end == pattern.npos || path_end == path.npos)
      return end == path_end ? std::optional(std::move(words)) : std::nullopt;
    pattern.remove_prefix(end);
    path.remove_prefix(path_end);
  }
}

}  // namespace

void read_ahead(JobList& jobs, Desk& desk, std::function<void(std::function<void()>)> post,
                const JobPtr& job) {
  jobs.is_read(*job, true);
  desk.order(TableOrder::to_learn(job, Form::columns, tell_of(jobs, std::move(post))),
             [&jobs, job](const Result<Desk::BodyPtr>&) { jobs.is_read(*job, false); });
}

net::HttpAnswer error_answer(const Error& error) {
  net::HttpAnswer answer{wire::http_status(error.code), wire::error_text(error)};
  net::add_browser_headers(net::kDataPolicy, answer);
  return answer;
}

bool is_open(std::string_view path) {
  return path != "/v1" && !path.starts_with("/v1/") && path != mcp::Endpoint::kPath;
}

Result<void> may_ask(AccessRole role, std::string_view method, std::string_view path) {
  if (role == AccessRole::admin || method == "GET" || method == "HEAD") return {};
  const auto is_it = [path](std::string_view pattern) { return matched(pattern, path).has_value(); };
  if (method == "POST" && std::ranges::any_of(kReadByPost, is_it)) return {};
  return fail(Code::denied,
              "the token has the role view, with which nothing can be changed: that takes the token of the "
              "first address that `spotter serve` printed");
}

void answer_route(std::string_view path, RouteCall call) {
  constexpr int kNoSuchMethod = 405;
  for (const Route& route : kRoutes) {
    auto words = matched(route.path, path);
    if (!words) continue;
    if (call.http.method != "GET") {
      net::HttpAnswer refusal =
          error_answer({Code::unsupported, "what is of that name here is asked by GET"});
      refusal.status = kNoSuchMethod;
      refusal.headers.emplace_back("Allow", "GET");
      return call.respond(std::move(refusal));
    }
    call.words = std::move(*words);
    return route.act(call);
  }
  call.respond(error_answer({Code::not_found, "there is nothing of that name here"}));
}

}  // namespace spotter::serve
