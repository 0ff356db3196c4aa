// TLS 1.3, or where that is said 1.2, for both sides of a connection: what a side shows and whom it trusts.
#pragma once
#include <memory>
#include <string>

#include "base/result.h"

namespace boost::asio::ssl {
class context;
}

namespace spotter::net {

// Files in PEM. Empty: none.
struct TlsFiles {
  std::string certificate, key;  // of this side
  std::string trusted;           // certificates of the authorities that the other side's has to be from
};

class Tls {
 public:
  // A client that shows a certificate has to show one that is trusted; one that shows none is nobody yet.
  static Result<std::shared_ptr<Tls>> server(const TlsFiles& files);
  // The server has to show a trusted one for the name by which it is asked. `takes_1_2`: for servers that are
  // not ours and may not speak 1.3; with forward secrecy and authenticated encryption alone.
  static Result<std::shared_ptr<Tls>> client(const TlsFiles& files, bool takes_1_2 = false);
  ~Tls();

  boost::asio::ssl::context& context() { return *context_; }  // for the files of net/

 private:
  Tls();
  std::unique_ptr<boost::asio::ssl::context> context_;
};

}  // namespace spotter::net
