// The settings that all receivers by HTTP have, joined with those of a kind.
#pragma once
#include <array>

#include "base/settings.h"
#include "base/text/quantity.h"
#include "net/http/url.h"

namespace spotter::notify {

// The error has not the word: it may be a secret.
inline Result<void> is_url(const std::string& word) {
  if (net::parse_url(word)) return {};
  return fail(Code::invalid, "this is no URL such as https://example.org/path");
}

inline constexpr Setting kEndpointSettings[] = {
    {"url", nullptr, "Its URL.", is_url},
    {"url_file", nullptr, "File of mode 0600 with the URL, where the URL is a secret.", is_path},
    {"proxy", nullptr, "Proxy, as http://proxy:3128; for https alone.", is_url},
    {"ca", nullptr, "CA bundle (PEM) that verifies the server; by default the system's.", is_path},
    {"timeout", "15s", "Time for a message and its answer.", is_duration},
};

template <size_t kOwn>
constexpr auto with_endpoint(const Setting (&own)[kOwn]) {
  std::array<Setting, kOwn + std::size(kEndpointSettings)> all{};
  size_t i = 0;
  for (const Setting& s : own) all[i++] = s;
  for (const Setting& s : kEndpointSettings) all[i++] = s;
  return all;
}

}  // namespace spotter::notify
