#include "wire/capture_request.h"

#include "wire/json.h"

namespace spotter::wire {
namespace {

namespace json = boost::json;

// Each member by its name, once for both ways.
struct List {
  const char* name;
  std::vector<i64> CaptureRequest::* member;
};
struct Text {
  const char* name;
  std::string CaptureRequest::* member;
};
struct Flag {
  const char* name;
  bool CaptureRequest::* member;
};
struct Number {
  const char* name;
  std::optional<i64> CaptureRequest::* member;
};
constexpr List kLists[] = {{"pids", &CaptureRequest::pids}, {"ranks", &CaptureRequest::ranks}};
constexpr Text kTexts[] = {{"job", &CaptureRequest::job},
                           {"output", &CaptureRequest::output},
                           {"reason", &CaptureRequest::reason},
                           {"client", &CaptureRequest::client}};
constexpr Flag kFlags[] = {{"all", &CaptureRequest::all},       {"shapes", &CaptureRequest::shapes},
                           {"stacks", &CaptureRequest::stacks}, {"memory", &CaptureRequest::memory},
                           {"flops", &CaptureRequest::flops},   {"modules", &CaptureRequest::modules}};
constexpr Number kNumbers[] = {{"duration_ms", &CaptureRequest::duration_ms},
                               {"iterations", &CaptureRequest::iterations},
                               {"roundup", &CaptureRequest::roundup},
                               {"start_in_ms", &CaptureRequest::start_in_ms},
                               {"start_time_ms", &CaptureRequest::start_time_ms},
                               {"warmup_ms", &CaptureRequest::warmup_ms},
                               {"deadline_ms", &CaptureRequest::deadline_ms}};
constexpr const char* kActivities = "activities";

// As a refusal lists them.
constexpr std::string_view kMembers[] = {
    "pids",    "ranks",     "job",           "all",         "output",      "duration_ms", "iterations",
    "roundup", "warmup_ms", "start_time_ms", "start_in_ms", "deadline_ms", "shapes",      "stacks",
    "memory",  "flops",     "modules",       "activities",  "reason",      "client"};

}  // namespace

std::string capture_request_text(const CaptureRequest& request) {
  json::object body;
  for (const auto& [name, member] : kLists) {
    const auto& list = request.*member;
    if (!list.empty()) body[name] = json::array(list.begin(), list.end());
  }
  if (!request.activities.empty())
    body[kActivities] = json::array(request.activities.begin(), request.activities.end());
  for (const auto& [name, member] : kTexts) {
    if (!(request.*member).empty()) body[name] = request.*member;
  }
  for (const auto& [name, member] : kFlags) {
    if (request.*member) body[name] = true;
  }
  for (const auto& [name, member] : kNumbers) {
    if (request.*member) body[name] = *(request.*member);
  }
  return json::serialize(body);
}

Result<CaptureRequest> read_capture_request(std::string_view body) {
  json::object object;
  if (!body.empty()) {
    TRY_ASSIGN(object, read_object(body));
  }
  TRY(check_names(object, kMembers, "a capture"));
  CaptureRequest request;
  for (const auto& [name, member] : kLists) {
    TRY_ASSIGN(auto list, integers_of(object, name));
    request.*member = std::move(list).value_or(std::vector<i64>());
  }
  for (const auto& [name, member] : kTexts) {
    TRY_ASSIGN(auto text, text_of(object, name));
    request.*member = std::move(text).value_or("");
  }
  TRY_ASSIGN(auto activities, texts_of(object, kActivities));
  request.activities = std::move(activities).value_or(std::vector<std::string>());
  for (const auto& [name, member] : kFlags) {
    TRY_ASSIGN(const auto flag, flag_of(object, name));
    request.*member = flag.value_or(false);
  }
  for (const auto& [name, member] : kNumbers) {
    TRY_ASSIGN(request.*member, integer_of(object, name));
  }
  return request;
}

}  // namespace spotter::wire
