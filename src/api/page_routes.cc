#include "api/page_routes.h"

#include "api/status.h"
#include "base/gzip_writer.h"
#include "base/version.h"
#include "net/http/accepted.h"
#include "net/http/browser_headers.h"
#include "page/page.h"
#include "wire/columns.h"

namespace spotter::api {
namespace {

using Respond = net::HttpServer::Respond;

// A text that is always the same, packed once.
struct Text {
  std::string plain, packed;
  explicit Text(std::string text) : plain(std::move(text)), packed(gzipped(plain).value_or("")) {}
};

void send(const Text& text, const char* type, std::string_view policy, const RouteCall& call,
          const Respond& respond) {
  net::HttpAnswer answer{.body = text.plain, .content_type = type};
  if (!text.packed.empty() && net::takes_gzip(call.http.accept_encoding)) {
    answer.body = text.packed;
    answer.content_encoding = "gzip";
  }
  net::add_browser_headers(policy, answer);
  answer.headers.emplace_back("Vary", "Accept-Encoding");
  respond(std::move(answer));
}

std::string_view word_of(agent::AccessRole role) {
  switch (role) {
    case agent::AccessRole::nobody:
      return "nobody";
    case agent::AccessRole::view:
      return "view";
    case agent::AccessRole::trace:
      return "trace";
    case agent::AccessRole::admin:
      return "admin";
  }
  return "nobody";
}

// The parts that fail, by name.
std::string failing_parts(const Table& status) {
  std::string parts;
  for (size_t row = 0; row < status.rows(); ++row) {
    if (status.text(row, status.column("state")) != "fails") continue;
    parts += fmt::format("{}{}", parts.empty() ? "" : ", ", status.text(row, status.column("part")));
  }
  return parts;
}

}  // namespace

bool is_page_path(std::string_view path) {
  return path == "/" || path == "/licences" || path == "/favicon.ico";
}

void page_route(const RouteCall& call, const Respond& respond) {
  static const Text page(page::served());
  static const std::string policy = page::served_policy();
  send(page, "text/html; charset=utf-8", policy, call, respond);
}

void licences_route(const RouteCall& call, const Respond& respond) {
  static const Text licences{std::string(page::licences())};
  send(licences, "text/plain; charset=utf-8", net::kDataPolicy, call, respond);
}

// Browsers ask for it by themselves; the page has none.
void icon_route(const RouteCall&, const Respond& respond) {
  net::HttpAnswer answer{204, {}};
  net::add_browser_headers(net::kDataPolicy, answer);
  respond(std::move(answer));
}

void hosts_route(const RouteCall& call, const Respond& respond) {
  const agent::Agent& agent = call.agent;
  Table hosts("hosts", wire::hosts_columns());
  const Table status = status_table(agent, call.doors);
  const std::string failing = failing_parts(status), version(kVersion);
  const Ns uptime = agent.clock.now().steady - agent.started;
  const std::string_view host = agent.host_name;
  hosts.append({host,
                host,
                std::string_view("local"),
                std::string_view("up"),
                word_of(call.peer.role),
                std::string_view(version),
                i64{uptime},
                std::string_view(failing),
                agent.telemetry.why_no_history().empty(),
                {},
                std::string_view("")});
  answer(call, respond, hosts);
}

// An agent opens no traces for the page.
void jobs_route(const RouteCall& call, const Respond& respond) {
  static constexpr Field kColumns[] = {
      {"id", Type::text, Unit::none, Role::key, "The job."},
      {"folder", Type::text, Unit::none, Role::value, "Its folder."},
  };
  answer(call, respond, Table("jobs", kColumns));
}

// Nor does it run analyses for it.
void analyses_route(const RouteCall& call, const Respond& respond) {
  static constexpr Field kColumns[] = {
      {"name", Type::text, Unit::none, Role::key, "The analysis."},
  };
  answer(call, respond, Table("analyses", kColumns));
}

}  // namespace spotter::api
