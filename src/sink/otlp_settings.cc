#include "sink/otlp_settings.h"

#include <algorithm>
#include <cstdlib>

#include "base/text/quantity.h"
#include "base/text/utf8.h"
#include "base/text/words.h"
#include "base/time.h"
#include "base/version.h"
#include "sink/host_name.h"

namespace spotter::sink {
namespace {

constexpr const char* kPath = "/v1/metrics";

Result<void> is_url(const std::string& value) {
  TRY(net::parse_url(value));
  return {};
}

Result<void> is_compression(const std::string& value) {
  if (value == "gzip" || value == "none") return {};
  return fail(Code::invalid, "\"{}\" is neither gzip nor none", value);
}

bool is_token(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

Result<void> are_headers(const std::string& value) {
  TRY_ASSIGN(const Attributes pairs, parse_pairs(value));
  for (const auto& [name, text] : pairs) {
    if (!std::ranges::all_of(name, is_token))
      return fail(Code::invalid, "\"{}\" is no name of a header", name);
    const bool is_line =
        std::ranges::all_of(text, [](char c) { return static_cast<u8>(c) >= ' ' && c != 127; });
    if (!is_line) return fail(Code::invalid, "the header {} has a control character", name);
  }
  return {};
}

Result<void> are_attributes(const std::string& value) {
  TRY(parse_pairs(value));
  return {};
}

constexpr Setting kOptions[] = {
    {"endpoint", nullptr,
     "URL of a receiver of OTLP by HTTP (http/protobuf), to which /v1/metrics is added; else "
     "OTEL_EXPORTER_OTLP_ENDPOINT, else http://localhost:4318.",
     is_url},
    {"headers", nullptr,
     "More headers, such as authorization=Bearer%20TOKEN, by commas; else OTEL_EXPORTER_OTLP_HEADERS.",
     are_headers},
    {"timeout", nullptr, "Time for a request and its answer; else OTEL_EXPORTER_OTLP_TIMEOUT, else 10s.",
     is_duration},
    {"compression", nullptr, "gzip or none; else OTEL_EXPORTER_OTLP_COMPRESSION, else gzip.", is_compression},
    {"ca", nullptr,
     "File with the certificates of the authorities that the receiver's has to be from; else "
     "OTEL_EXPORTER_OTLP_CERTIFICATE, else those of the system.",
     is_path},
    {"certificate", nullptr, "File with the agent's certificate; else OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE.",
     is_path},
    {"key", nullptr, "File with its key; else OTEL_EXPORTER_OTLP_CLIENT_KEY.", is_path},
    {"service_name", nullptr, "service.name of what is sent; else OTEL_SERVICE_NAME, else spotter.", nullptr},
    {"resource_attributes", nullptr,
     "More attributes of all that is sent, such as cluster=a,rack=7; else OTEL_RESOURCE_ATTRIBUTES.",
     are_attributes},
};

// Where a value comes from, and what it is.
struct Found {
  std::string name, value;
};

class Finder {
 public:
  explicit Finder(const Settings& settings) : settings_(settings) {}

  // The option, else OTEL_EXPORTER_OTLP_METRICS_<word>, else OTEL_EXPORTER_OTLP_<word>.
  std::optional<Found> find(const std::string& option, const std::string& word) const {
    if (const auto said = settings_.find(option); said != settings_.end()) return Found{option, said->second};
    if (auto found = variable("OTEL_EXPORTER_OTLP_METRICS_" + word)) return found;
    return variable("OTEL_EXPORTER_OTLP_" + word);
  }
  std::string text(const std::string& option, const std::string& word) const {
    const auto found = find(option, word);
    return found ? found->value : std::string();
  }
  // The option, else a variable of another name.
  std::optional<Found> find_named(const std::string& option, const std::string& name) const {
    if (const auto said = settings_.find(option); said != settings_.end()) return Found{option, said->second};
    return variable(name);
  }

  // One that is empty is not set, says the specification.
  static std::optional<Found> variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    if (!value || !*value) return std::nullopt;
    return Found{name, value};
  }

 private:
  const Settings& settings_;
};

// The URL of metrics has a variable of its own, which is taken as it is.
Result<net::Url> endpoint(const Settings& settings) {
  if (!settings.contains("endpoint")) {
    if (const auto whole = Finder::variable("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")) {
      auto url = net::parse_url(whole->value);
      return url ? url : within(url.error(), whole->name);
    }
  }
  const auto base = Finder(settings).find_named("endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT");
  auto url = net::parse_url(base ? base->value : "http://localhost:4318");
  if (!url) return within(url.error(), base ? base->name : "endpoint");
  if (url->path.ends_with(kPath)) return url;
  while (url->path.ends_with('/')) url->path.pop_back();
  url->path += kPath;
  return url;
}

// Whoever names an endpoint knows that it is spoken to by HTTP; a receiver that the environment names need
// not understand that.
Result<void> check_protocol(const Settings& settings) {
  const auto found =
      settings.contains("endpoint") ? std::nullopt : Finder(settings).find("protocol", "PROTOCOL");
  if (!found || found->value == "http/protobuf") return {};
  return fail(Code::invalid, "{}: {} is not spoken here, only http/protobuf; name an \"endpoint\" of that",
              found->name, to_printable(found->value));
}

// Options are in units, the variable is in milliseconds.
Result<Ns> patience(const Settings& settings) {
  constexpr Ns kDefault = 10 * kSecond, kLongest = kHour;
  if (const auto said = settings.find("timeout"); said != settings.end()) {
    TRY_ASSIGN(const Ns time, parse_duration_ns(said->second));
    return std::clamp<Ns>(time, kMillisecond, kLongest);
  }
  const auto found = Finder(settings).find("timeout", "TIMEOUT");
  if (!found) return kDefault;
  const auto ms = parse_number(found->value, 1, kLongest / kMillisecond);
  if (!ms) return within(ms.error(), found->name);
  return *ms * kMillisecond;
}

void set(Attributes& attributes, const std::string& key, const std::string& value) {
  const auto it = std::ranges::find(attributes, key, &Attributes::value_type::first);
  if (it == attributes.end()) {
    attributes.emplace_back(key, value);
  } else {
    it->second = value;
  }
}

Result<Attributes> resource(const Settings& settings, const Surroundings& surroundings) {
  Attributes all = {{"service.name", "spotter"},
                    {"service.version", kVersion},
                    {"host.name", host_name(surroundings)},
                    {"os.type", "linux"}};
  const std::string id = machine_id(surroundings.host);
  if (!id.empty()) all.emplace_back("host.id", id);
  // What tells agents apart where a back end keeps no other attribute of the resource, as Prometheus does.
  all.emplace_back("service.instance.id", id.empty() ? host_name(surroundings) : id);
  if (const auto found = Finder(settings).find_named("resource_attributes", "OTEL_RESOURCE_ATTRIBUTES")) {
    const auto more = parse_pairs(found->value);
    if (!more) return within(more.error(), found->name);
    for (const auto& [key, value] : *more) set(all, key, value);
  }
  const auto name = Finder(settings).find_named("service_name", "OTEL_SERVICE_NAME");
  if (name && !name->value.empty()) set(all, "service.name", name->value);
  return all;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = static_cast<char>(c | 32);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_code =
        text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    out += is_code ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    if (is_code) i += 2;
  }
  return out;
}

}  // namespace

const std::span<const Setting> kOtlpOptions = kOptions;

Result<Attributes> parse_pairs(const std::string& text) {
  Attributes pairs;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view pair = trimmed(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (pair.empty()) continue;
    const size_t sign = pair.find('=');
    const std::string_view key = trimmed(pair.substr(0, std::min(sign, pair.size())));
    // The pair itself may be a secret.
    if (sign == pair.npos || key.empty())
      return fail(Code::invalid, "pair {} is not like key=value", pairs.size() + 1);
    pairs.emplace_back(key, decoded(trimmed(pair.substr(sign + 1))));
  }
  return pairs;
}

Result<OtlpSettings> otlp_settings(const Settings& settings, const Surroundings& surroundings) {
  const Finder finder(settings);
  OtlpSettings all;
  TRY(check_protocol(settings));
  TRY_ASSIGN(all.http.url, endpoint(settings));
  TRY_ASSIGN(all.http.patience, patience(settings));
  all.http.tls = {finder.text("certificate", "CLIENT_CERTIFICATE"), finder.text("key", "CLIENT_KEY"),
                  finder.text("ca", "CERTIFICATE")};
  if (all.http.tls.certificate.empty() != all.http.tls.key.empty())
    return fail(Code::invalid, "certificate and key are needed together");
  if (const auto found = finder.find("compression", "COMPRESSION")) {
    if (const auto checked = is_compression(found->value); !checked)
      return within(checked.error(), found->name);
    all.is_compressed = found->value == "gzip";
  }
  if (const auto found = finder.find("headers", "HEADERS")) {
    if (const auto checked = are_headers(found->value); !checked) return within(checked.error(), found->name);
    TRY_ASSIGN(all.headers, parse_pairs(found->value));
  }
  TRY_ASSIGN(all.resource, resource(settings, surroundings));
  return all;
}

}  // namespace spotter::sink
