#include "app/agent/respond_config.h"

#include <algorithm>

#include "base/text/number.h"
#include "base/text/quantity.h"

namespace spotter::app {
namespace {

using agent::AutomaticCaptures;
using agent::RespondOptions;

Result<bool> flag(const YAML::Node& node) {
  TRY(is_flag(scalar(node)));
  return scalar(node) == "true";
}

Result<Ns> duration(const YAML::Node& node) { return parse_duration_ns(scalar(node)); }

constexpr Key<RespondOptions> kKeys[] = {
    {"watch",
     [](const YAML::Node& node, RespondOptions& r) -> Result<void> {
       TRY_ASSIGN(r.is_on, flag(node));
       return {};
     }},
    {"cluster",
     [](const YAML::Node& node, RespondOptions& r) -> Result<void> {
       r.cluster = scalar(node);
       const bool is_name = !r.cluster.empty() && r.cluster.size() <= 64 &&
                            r.cluster.find_first_not_of(
                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-_.") == std::string::npos;
       if (!is_name) return fail(Code::invalid, "a cluster's name has up to 64 letters, digits and -_.");
       return {};
     }},
    {"captures",
     [](const YAML::Node& node, RespondOptions& r) -> Result<void> {
       const std::string word = scalar(node);
       if (word == "off" || word == "false")  // YAML's own off
         r.captures = AutomaticCaptures::off;
       else if (word == "dry_run")
         r.captures = AutomaticCaptures::dry_run;
       else if (word == "automatic")
         r.captures = AutomaticCaptures::automatic;
       else
         return fail(Code::invalid, "\"{}\" is none of off, dry_run and automatic", to_printable(word));
       return {};
     }},
    {"min_age",
     [](const YAML::Node& node, RespondOptions& r) -> Result<void> {
       TRY_ASSIGN(r.budget.min_age, duration(node));
       return {};
     }},
    {"min_steps",
     [](const YAML::Node& node, RespondOptions& r) -> Result<void> {
       TRY_ASSIGN(r.budget.min_steps, parse_number(scalar(node), 0, 1'000'000'000));
       return {};
     }},
    {"canary",
     [](const YAML::Node& node, RespondOptions& r) -> Result<void> {
       TRY_ASSIGN(r.budget.canary, flag(node));
       return {};
     }},
    {"allowance",
     [](const YAML::Node& node, RespondOptions& r) -> Result<void> {
       const auto share = number_in<double>(scalar(node));
       if (!share) return fail(Code::invalid, "\"{}\" is not a number", to_printable(scalar(node)));
       r.budget.allowance = *share;
       return {};
     }},
    {"least_free",
     [](const YAML::Node& node, RespondOptions& r) -> Result<void> {
       r.least_free = 0;
       if (scalar(node) == "0") return {};
       TRY_ASSIGN(r.least_free, parse_size(scalar(node)));
       return {};
     }},
    {"report_url",
     [](const YAML::Node& node, RespondOptions& r) -> Result<void> {
       r.report_url = scalar(node);
       const bool is_url = r.report_url.starts_with("https://") || r.report_url.starts_with("http://");
       const bool has_bad = std::ranges::any_of(r.report_url, [](char c) { return c <= ' ' || c == 0x7f; });
       if (!is_url || has_bad || r.report_url.size() > 1000)
         return fail(Code::invalid,
                     "it must be a URL of http or https, with {{id}}, {{job}} or {{host}} where these go");
       return {};
     }},
    {"credentials",
     [](const YAML::Node& node, RespondOptions& r) -> Result<void> {
       r.credentials = scalar(node);
       if (!r.credentials.starts_with('/'))
         return fail(Code::invalid, "\"{}\" is no absolute path of a folder", to_printable(r.credentials));
       return {};
     }},
    {"port",
     [](const YAML::Node& node, RespondOptions& r) -> Result<void> {
       TRY_ASSIGN(const i64 port, parse_number(scalar(node), 1, 65535));
       r.port = static_cast<u16>(port);
       return {};
     }},
    {"not_traced",
     [](const YAML::Node& node, RespondOptions& r) -> Result<void> {
       r.not_traced = node.as<std::vector<std::string>>();
       return {};
     }},
};

}  // namespace

Result<void> read_respond(const YAML::Node& node, RespondOptions& respond) {
  TRY(read_map<RespondOptions>(node, kKeys, respond));
  return respond::check(respond.budget);
}

Result<void> read_rules(const YAML::Node& node, respond::RuleSettings& rules) {
  if (!node.IsMap()) return fail(Code::invalid, "it must be a list of RULE: SETTINGS");
  for (const auto& rule : node) {
    const std::string line = fmt::format("line {}", rule.first.Mark().line + 1);
    const std::string name = scalar(rule.first);
    Settings said;
    if (rule.second.IsScalar()) {  // false: it is not watched for
      said["enabled"] = scalar(rule.second);
    } else if (!rule.second.IsMap()) {
      return fail(Code::invalid, "{}: {}: it must be a list of KEY: VALUE, or false", line,
                  to_printable(name));
    } else {
      for (const auto& setting : rule.second) said[scalar(setting.first)] = scalar(setting.second);
    }
    if (auto checked = respond::check({{name, said}}); !checked) return within(checked.error(), line);
    rules[name] = std::move(said);
  }
  return {};
}

}  // namespace spotter::app
