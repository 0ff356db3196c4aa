#include "agent/helper.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <vector>

#include "agent/captures/analysis_process.h"
#include "base/text/quantity.h"
#include "base/text/utf8.h"
#include "base/text/words.h"
#include "collect/steps/step_probe.h"
#include "net/descriptor_packets.h"
#include "net/spawn.h"

namespace spotter::agent {
namespace {

constexpr size_t kStandardFiles = 3;
constexpr off_t kMostNamesBytes = 4 << 20;
constexpr std::string_view kProbe = "probe";

struct Order {
  u32 uid = 0;
  std::vector<std::string> names;
  std::vector<Descriptor> files;
};

Result<void> check_client(int connection, i64 client) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
    return fail(Code::io, "standard input is no connection: {}", errno_text(errno));
  if (static_cast<i64>(peer.uid) == client) return {};
  return fail(Code::denied, "user {} asks, and only user {} may", peer.uid, client);
}

Result<std::vector<std::string>> read_names(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > kMostNamesBytes)
    return fail(Code::invalid, "the names are in no file, or have more than {} bytes", kMostNamesBytes);
  std::string text(static_cast<size_t>(info.st_size), '\0');
  const ssize_t n = pread(fd, text.data(), text.size(), 0);
  if (n != info.st_size) return fail(Code::io, "the names cannot be read");
  std::vector<std::string> names;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\0', at);
    if (end == text.npos) return fail(Code::invalid, "the last name has no end");
    names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

// `packet` is the first of the order, `words` what stands behind its first word.
Result<Order> receive_order(int connection, net::DescriptorPacket packet, std::string_view words) {
  constexpr auto most_files = static_cast<i64>(1 + kStandardFiles + AnalysisProcesses::kMostFiles);
  const std::string uid(next_word(words));
  TRY_ASSIGN(const i64 count,
             parse_number(std::string(next_word(words)), 1 + kStandardFiles + 1, most_files));
  Order order;
  order.files = std::move(packet.descriptors);
  while (std::ssize(order.files) < count) {
    TRY_ASSIGN(net::DescriptorPacket more, net::receive_packet(connection));
    if (more.descriptors.empty())
      return fail(Code::invalid, "of {} files only {} were sent", count, order.files.size());
    for (Descriptor& file : more.descriptors) order.files.push_back(std::move(file));
  }
  // Only now: who is refused before all has been taken may not get to know why.
  TRY_ASSIGN(const i64 number, parse_number(uid, 1, kMostUid));
  order.uid = static_cast<u32>(number);
  TRY_ASSIGN(order.names, read_names(order.files[0].fd));
  order.files.erase(order.files.begin());
  if (order.files.size() != kStandardFiles + order.names.size())
    return fail(Code::invalid, "there are {} files and {} names", order.files.size() - kStandardFiles,
                order.names.size());
  return order;
}

// They must be that user's: else whoever takes the agent over could have any user read what he likes.
Result<void> check_owners(const Order& order) {
  for (size_t i = 0; i < order.names.size(); ++i) {
    struct stat info;
    const std::string shown = to_printable(order.names[i]);
    if (fstat(order.files[kStandardFiles + i].fd, &info) != 0 || !S_ISREG(info.st_mode))
      return fail(Code::denied, "{} is no plain file", shown);
    const bool is_roots = order.uid == kNobody && info.st_uid == 0;
    if (info.st_uid != order.uid && !is_roots)
      return fail(Code::denied, "{} is user {}'s, and not user {}'s", shown, info.st_uid, order.uid);
  }
  return {};
}

// False: nobody waits for it any more, or it took too long.
Result<bool> wait_for_end(int connection, pid_t reader, Ns time) {
  const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, reader, 0)));
  if (process.fd < 0) return fail(Code::io, "the reader cannot be waited for: {}", errno_text(errno));
  pollfd events[] = {{process.fd, POLLIN, 0}, {connection, POLLIN, 0}};
  int n;
  do n = poll(events, std::size(events), static_cast<int>(time / kMillisecond));
  while (n < 0 && errno == EINTR);
  return n > 0 && events[0].revents != 0;
}

Result<int> run_reader(int connection, const Order& order, const AnalysisLimits& limits) {
  net::Spawn reader{.command = {"/proc/self/exe", "analyze-part"},
                    .descriptors = {},
                    .uid = order.uid,
                    .output_bytes = limits.output_bytes,
                    .memory_bytes = limits.memory_bytes};
  reader.command.insert(reader.command.end(), order.names.begin(), order.names.end());
  for (const Descriptor& file : order.files) reader.descriptors.push_back(file.fd);
  TRY_ASSIGN(const pid_t pid, net::spawn(reader));
  const Result<bool> has_ended = wait_for_end(connection, pid, limits.time);
  if (!has_ended.value_or(false)) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (!has_ended) return tl::unexpected(has_ended.error());
  return status;
}

struct Answer {
  std::string text;
  Descriptor file;  // -1: none
};

Result<Answer> analyze(int connection, net::DescriptorPacket packet, std::string_view words) {
  TRY_ASSIGN(const Order order, receive_order(connection, std::move(packet), words));
  TRY(check_owners(order));
  TRY_ASSIGN(const int status, run_reader(connection, order, AnalysisLimits{}.kept()));
  return Answer{fmt::format("ended {}", status), Descriptor()};
}

// Where in the library is found here: at another place a probe would break the process.
Result<Answer> open_probe(net::DescriptorPacket packet, std::string_view words) {
  TRY_ASSIGN(const i64 thread, parse_number(std::string(next_word(words)), 1, INT32_MAX));
  if (packet.descriptors.size() != 1) return fail(Code::invalid, "a probe is of one library");
  TRY_ASSIGN(const collect::TorchStep step, collect::torch_step_of(std::move(packet.descriptors[0])));
  TRY_ASSIGN(Descriptor probe, collect::open_step_probe({}, thread, step));
  return Answer{std::string(kProbe), std::move(probe)};
}

Result<Answer> serve(int connection, i64 client) {
  TRY(check_client(connection, client));
  TRY_ASSIGN(net::DescriptorPacket packet, net::receive_packet(connection));
  const std::string text = packet.text;
  std::string_view words = text;
  const std::string_view what = next_word(words);
  if (what == "analyze") return analyze(connection, std::move(packet), words);
  if (what == kProbe) return open_probe(std::move(packet), words);
  return fail(Code::invalid, "the helper knows only how to analyze and to probe");
}

}  // namespace

Result<void> serve_helper(int connection, i64 client) {
  const Result<Answer> answer = serve(connection, client);
  const std::string text =
      answer ? answer->text
             : fmt::format("failed {}", answer.error().message).substr(0, net::kMostPacketBytes);
  const bool has_file = answer && answer->file.fd >= 0;
  // Who asked may have gone.
  std::ignore =
      net::send_packet(connection, text, has_file ? std::span(&answer->file.fd, 1) : std::span<const int>());
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

}  // namespace spotter::agent
