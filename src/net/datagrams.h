// A bound UNIX datagram socket that tells who sent what, as the kernel knows it (SO_PASSCRED). Receiving
// drains the queue at each wake-up; sending never waits.
//
// An address is a name in the abstract namespace, where a NUL at its end belongs to it, or the name of a
// file in one directory.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/types.h"
#include "net/loop.h"

namespace spotter::net {

struct Datagram {
  i64 pid = 0, uid = -1;      // of the sender, in this process's namespaces
  std::string_view from;      // its name; empty if it has none that could be answered
  std::span<const u8> bytes;  // of a datagram longer than kMaxDatagram: its beginning
  bool cut = false;           // it was longer
};

inline constexpr size_t kMaxDatagram = size_t{64} << 10;

class Datagrams {
 public:
  // `directory`: of the files; empty: the abstract namespace. A socket of that name that nobody listens to is
  // replaced. Errors: denied (also a directory that is not safe: base/system/safe_folder.h), not_found or io;
  // where the name is taken the error says by whom.
  static Result<std::unique_ptr<Datagrams>> open(Loop& loop, const std::string& directory,
                                                 std::string_view name,
                                                 std::function<void(const Datagram&)> receive);
  ~Datagrams();  // removes the file

  // False if it did not go: the receiver is gone, or its queue or ours is full.
  bool send(std::string_view to, std::string_view bytes);

 private:
  struct Body;
  explicit Datagrams(std::shared_ptr<Body> body);
  std::shared_ptr<Body> body_;
};

}  // namespace spotter::net
