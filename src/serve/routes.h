// The routes of the server (server.h): what is asked by a path, and how it is answered.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http/http.h"
#include "serve/desk.h"
#include "serve/guard.h"
#include "serve/job_list.h"
#include "wire/target.h"

namespace spotter::serve {

// Nothing of it lives longer than the call of the route but the list and the desk.
struct RouteCall {
  JobList& jobs;
  Desk& desk;
  std::function<void(std::function<void()>)> post;  // to the loop, from any thread
  std::string_view program;                         // what of this program is in an ETag
  const net::HttpRequest& http;
  const wire::Target& target;
  std::vector<std::string> words;  // what stands in the path in the places of {}
  net::HttpServer::Respond respond;
};

// Whether the path, without base path and parameters, is one that needs no token: the page.
bool is_open(std::string_view path);
// Whether who has that role may ask for it: a viewer for what changes nothing. Errors: denied.
Result<void> may_ask(AccessRole role, std::string_view method, std::string_view path);
// Answers, at once or later. The request may be answered.
void answer_route(std::string_view path, RouteCall call);
// Makes what the first look at a job shows, before somebody looks.
void read_ahead(JobList& jobs, Desk& desk, std::function<void(std::function<void()>)> post,
                const JobPtr& job);
net::HttpAnswer error_answer(const Error& error);

}  // namespace spotter::serve
