#include "client/credentials.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/system/file.h"

namespace spotter::client {
namespace {

constexpr size_t kMostToken = 4096;

bool is_there(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::string without_line_end(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

Result<Credentials> read_credentials(const std::string& directory) {
  const net::TlsFiles files{directory + "/client.pem", directory + "/client-key.pem", directory + "/ca.pem"};
  const std::string token = directory + "/token";
  if (!is_there(files.trusted))
    return fail(
        Code::not_found,
        "there is no {}: other hosts are asked with credentials, a folder of ca.pem and client.pem with "
        "client-key.pem, or token (--credentials DIR; `spotter agent --init-tls` makes one)",
        files.trusted);
  const bool has_certificate = is_there(files.certificate), has_token = is_there(token);
  if (!has_certificate && !has_token)
    return fail(Code::not_found, "{} has neither client.pem nor token", directory);
  Credentials credentials;
  TRY_ASSIGN(credentials.tls,
             net::Tls::client(has_certificate ? files : net::TlsFiles{{}, {}, files.trusted}));
  if (has_token) {
    TRY_ASSIGN(const std::string text, read_small_file(token, kMostToken));
    credentials.authorization = "Bearer " + without_line_end(text);
  }
  return credentials;
}

}  // namespace spotter::client
