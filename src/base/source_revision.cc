#include "base/source_revision.h"

#include <algorithm>

namespace spotter {
namespace {

constexpr size_t kSha1 = 40, kSha256 = 64, kLongest = 300;
constexpr std::string_view kHttps = "https://";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_host(std::string_view text, bool has_port) {
  const size_t colon = has_port ? text.find(':') : text.npos;
  const std::string_view name = text.substr(0, colon);
  const auto is_of_name = [](char c) { return is_letter_or_digit(c) || c == '.' || c == '-'; };
  const bool is_name = !name.empty() && is_letter_or_digit(name[0]) &&
                       std::ranges::all_of(name, is_of_name) && name.find("..") == name.npos;
  if (colon == text.npos) return is_name;
  const std::string_view port = text.substr(colon + 1);
  return is_name && !port.empty() && port.size() <= 5 &&
         std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
}

// Of a repository: "owner/name".
bool is_path(std::string_view text) {
  if (text.empty()) return false;
  while (true) {
    const size_t end = text.find('/');
    const std::string_view part = text.substr(0, end);
    const auto is_of_part = [](char c) {
      return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_' || c == '~' || c == '+';
    };
    if (part.empty() || part == "." || part == ".." || !std::ranges::all_of(part, is_of_part)) return false;
    if (end == text.npos) return true;
    text.remove_prefix(end + 1);
  }
}

std::string page(std::string_view host, std::string_view path, bool has_port) {
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (path.ends_with(".git")) path.remove_suffix(4);
  if (!is_host(host, has_port) || !is_path(path)) return {};
  return std::string(kHttps) + std::string(host) + "/" + std::string(path);
}

std::string_view without_user(std::string_view authority) {
  return authority.substr(authority.rfind('@') + 1);  // npos + 1 is 0
}

}  // namespace

bool is_commit(std::string_view text) {
  return (text.size() == kSha1 || text.size() == kSha256) &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string web_page_of(std::string_view remote) {
  if (remote.size() > kLongest) return {};
  for (const std::string_view scheme : {kHttps, std::string_view("ssh://"), std::string_view("git://")}) {
    if (!remote.starts_with(scheme)) continue;
    const std::string_view rest = remote.substr(scheme.size());
    const size_t slash = rest.find('/');
    if (slash == rest.npos) return {};
    std::string_view host = without_user(rest.substr(0, slash));
    // That of SSH and of Git's own protocol is not the web's.
    if (scheme != kHttps && is_host(host, true)) host = host.substr(0, host.find(':'));
    return page(host, rest.substr(slash), scheme == kHttps);
  }
  const size_t at = remote.find('@'), colon = remote.find(':');
  if (at == remote.npos || colon == remote.npos || colon < at || remote.find("://") != remote.npos) return {};
  return page(remote.substr(at + 1, colon - at - 1), remote.substr(colon + 1), false);
}

std::string web_root_of(std::string_view revision) {
  const size_t at = revision.rfind('@');
  if (at == revision.npos || !is_commit(revision.substr(at + 1))) return {};
  const std::string_view page = revision.substr(0, at);
  if (!page.starts_with(kHttps) || web_page_of(page) != page) return {};
  const std::string_view rest = page.substr(kHttps.size());
  const bool is_gitlab = rest.substr(0, rest.find('/')).find("gitlab") != rest.npos;
  return std::string(page) + (is_gitlab ? "/-/blob/" : "/blob/") + std::string(revision.substr(at + 1));
}

}  // namespace spotter
