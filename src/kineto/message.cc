#include "kineto/message.h"

#include <algorithm>
#include <cstring>

namespace spotter::kineto {
namespace {

constexpr size_t kTagAt = 8, kTagBytes = 32;
constexpr size_t kPollBytes = 16, kRegistrationBytes = 16;  // without the pids

template <class T>
T load(std::span<const u8> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The tag up to its NUL; empty where there is none.
std::string_view tag_of(std::span<const u8> datagram) {
  const std::string_view field(reinterpret_cast<const char*>(datagram.data()) + kTagAt, kTagBytes);
  const size_t end = field.find('\0');
  return end == field.npos ? std::string_view() : field.substr(0, end);
}

Result<Message> decode_poll(std::span<const u8> body) {
  if (body.size() < kPollBytes)
    return fail(Code::invalid, "a poll of {} bytes, less than {}", body.size(), kPollBytes);
  Poll poll;
  poll.type = load<i32>(body, 0);
  const i32 n = load<i32>(body, 4);
  poll.job_id = load<i64>(body, 8);
  const size_t room = (body.size() - kPollBytes) / sizeof(i32);
  if (n < 0 || static_cast<size_t>(n) > kMaxPids)
    return fail(Code::invalid, "a poll that speaks of {} pids", n);
  if (static_cast<size_t>(n) != room || body.size() % sizeof(i32) != 0)
    return fail(Code::invalid, "a poll that speaks of {} pids in {} bytes", n, body.size());
  for (size_t i = 0; i < room; ++i) poll.pids.push_back(load<i32>(body, kPollBytes + i * sizeof(i32)));
  return poll;
}

Result<Message> decode_registration(std::span<const u8> body) {
  if (body.size() != kRegistrationBytes)
    return fail(Code::invalid, "a registration of {} bytes, not {}", body.size(), kRegistrationBytes);
  return Registration{load<i32>(body, 0), load<i32>(body, 4), load<i64>(body, 8)};
}

std::string datagram(std::string_view tag, std::string_view body) {
  std::string out;
  out.reserve(kHeaderBytes + body.size());
  append(out, u64{body.size()});
  out += tag;
  out.resize(kHeaderBytes, '\0');
  out += body;
  return out;
}

}  // namespace

Result<Message> decode(std::span<const u8> datagram) {
  if (datagram.size() < kHeaderBytes)
    return fail(Code::invalid, "a datagram of {} bytes, less than a header's {}", datagram.size(),
                kHeaderBytes);
  const std::span<const u8> body = datagram.subspan(kHeaderBytes);
  if (const u64 size = load<u64>(datagram, 0); size != body.size())
    return fail(Code::invalid, "a datagram that speaks of a body of {} bytes and has {}", size, body.size());
  const std::string_view tag = tag_of(datagram);
  if (tag == "req") return decode_poll(body);
  if (tag == "ctxt") return decode_registration(body);
  return fail(Code::invalid, "a datagram of a kind that is not known");
}

std::string encode_config(std::string_view config) {
  CHECK(config.size() <= kMaxConfigBytes);
  return datagram("req", config);
}

std::string encode_count(i32 processes) {
  std::string body;
  append(body, processes);
  return datagram("ctxt", body);
}

std::string encode(const Message& message) {
  std::string body;
  if (const auto* registration = std::get_if<Registration>(&message)) {
    append(body, registration->gpu);
    append(body, registration->pid);
    append(body, registration->job_id);
    return datagram("ctxt", body);
  }
  const Poll& poll = std::get<Poll>(message);
  append(body, poll.type);
  append(body, static_cast<i32>(poll.pids.size()));
  append(body, poll.job_id);
  for (const i32 pid : poll.pids) append(body, pid);
  return datagram("req", body);
}

}  // namespace spotter::kineto
