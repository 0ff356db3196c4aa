#include "app/agent/agent_tls_setup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "app/capture/hosts.h"
#include "base/system/file.h"
#include "base/system/host.h"
#include "base/system/safe_folder.h"
#include "net/certificates.h"

namespace spotter::app {
namespace {

constexpr mode_t kReadable = 0644, kSecret = 0600, kOwnFolder = 0700;
constexpr size_t kMostPem = size_t{1} << 20;

bool is_there(const std::string& path) {
  struct stat file;
  return lstat(path.c_str(), &file) == 0;
}

// Keys are never readable by others, not even for a moment.
Result<void> make_file(const std::string& path, const std::string& text, mode_t mode) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd < 0) return fail(Code::io, "{}: {}", path, errno_text(errno));
  const ssize_t n = write(fd, text.data(), text.size());
  int error = n < 0 ? errno : n < static_cast<ssize_t>(text.size()) ? ENOSPC : 0;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0) return {};
  unlink(path.c_str());
  return fail(Code::io, "{}: {}", path, errno_text(error));
}

Result<void> make_folder(const std::string& path) {
  if (mkdir(path.c_str(), kOwnFolder) == 0) return {};
  return fail(Code::io, "the directory {} cannot be made: {}", path, errno_text(errno));
}

std::string configuration() {
  return fmt::format(
      "# For every host that runs an agent: spotter agent --config agent.yaml\n"
      "listen: 0.0.0.0:{}\n"
      "tls:\n"
      "  certificate: agent.pem\n"
      "  key: agent-key.pem\n"
      "  client_ca: ca.pem\n"
      "clients:\n"
      "  - name: admin\n"
      "    role: admin\n",
      kApiPort);
}

Result<net::Certificate> authority_of(const std::string& directory) {
  const std::string certificate = directory + "/ca.pem", key = directory + "/ca-key.pem";
  net::Certificate authority;
  if (is_there(certificate) && is_there(key)) {
    TRY_ASSIGN(authority.certificate, read_small_file(certificate, kMostPem));
    TRY_ASSIGN(authority.key, read_small_file(key, kMostPem));
    return authority;
  }
  if (is_there(certificate) || is_there(key))
    return fail(Code::invalid, "{} has only one of ca.pem and ca-key.pem", directory);
  TRY_ASSIGN(authority, net::make_authority("Spotter CA"));
  TRY(make_file(key, authority.key, kSecret));
  TRY(make_file(certificate, authority.certificate, kReadable));
  return authority;
}

}  // namespace

std::vector<std::string> names_of_this_host() {
  std::vector<std::string> names{"localhost", "127.0.0.1", "::1"};
  if (std::string own = host_name(); own != names.front()) names.insert(names.begin(), std::move(own));
  return names;
}

Result<std::string> set_up_tls(const std::string& directory, const std::vector<std::string>& names) {
  const std::string agent = directory + "/agent", client = directory + "/client";
  for (const std::string& path : {agent, client}) {
    if (is_there(path))
      return fail(Code::invalid, "{} is there already; remove it to have another one made", path);
  }
  TRY(make_safe_folder(directory, kOwnFolder));
  TRY_ASSIGN(const net::Certificate authority, authority_of(directory));
  TRY_ASSIGN(const net::Certificate server, net::issue(authority, {"spotter agent", names, true}));
  TRY_ASSIGN(const net::Certificate admin, net::issue(authority, {"admin", {}, false}));
  TRY(make_folder(agent));
  TRY(make_file(agent + "/agent-key.pem", server.key, kSecret));
  TRY(make_file(agent + "/agent.pem", server.certificate, kReadable));
  TRY(make_file(agent + "/ca.pem", authority.certificate, kReadable));
  TRY(make_file(agent + "/agent.yaml", configuration(), kReadable));
  TRY(make_folder(client));
  TRY(make_file(client + "/client-key.pem", admin.key, kSecret));
  TRY(make_file(client + "/client.pem", admin.certificate, kReadable));
  TRY(make_file(client + "/ca.pem", authority.certificate, kReadable));
  return fmt::format(
      "{0}/agent   for each host, e.g. as /etc/spotter: spotter agent --config /etc/spotter/agent.yaml\n"
      "           it is asked as: {1}\n"
      "{0}/client  for who may do everything: spotter status --host NAME --credentials {0}/client\n"
      "{0}/ca-key.pem makes more of them; keep it to yourself\n",
      directory, fmt::join(names, ", "));
}

}  // namespace spotter::app
