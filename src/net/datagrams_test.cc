#include "net/datagrams.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <vector>

#include "net/testing.h"

namespace spotter::net {
namespace {

namespace fs = std::filesystem;

struct Seen {
  i64 pid, uid;
  std::string from, bytes;
  bool cut;
};

// As libkineto: abstract names end in a NUL that belongs to them.
std::pair<sockaddr_un, socklen_t> address_in(const std::string& directory, const std::string& name) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  const std::string path = directory.empty() ? '\0' + name : directory + "/" + name;
  std::memcpy(a.sun_path, path.data(), path.size());
  return {a, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1)};
}

class Sender {
 public:
  explicit Sender(std::string directory, const std::string& name = {})
      : directory_(std::move(directory)), fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const auto [address, length] = address_in(directory_, name);
    if (!name.empty()) bound_ = bind(fd_, reinterpret_cast<const sockaddr*>(&address), length) == 0;
  }
  ~Sender() { close(fd_); }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  bool send(const std::string& to, const std::string& bytes, const std::vector<int>& descriptors = {}) const {
    auto [address, length] = address_in(directory_, to);
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_name = &address;
    message.msg_namelen = length;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    std::vector<char> control(CMSG_SPACE(sizeof(int) * descriptors.size()));
    if (!descriptors.empty()) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* c = CMSG_FIRSTHDR(&message);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
      std::memcpy(CMSG_DATA(c), descriptors.data(), sizeof(int) * descriptors.size());
    }
    return sendmsg(fd_, &message, MSG_DONTWAIT) == static_cast<ssize_t>(bytes.size());
  }
  std::string receive() const {
    char buffer[4096];
    const ssize_t n = recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT);
    return n < 0 ? "nothing" : std::string(buffer, static_cast<size_t>(n));
  }
  bool bound() const { return bound_; }

 private:
  std::string directory_;
  int fd_;
  bool bound_ = false;
};

// Each test in the abstract namespace and in a directory.
class DatagramsTest : public testing::TestWithParam<bool> {
 protected:
  DatagramsTest() {
    if (!GetParam()) return;
    directory_ = "/tmp/" + private_name("ipc");
    fs::create_directory(directory_);
  }
  ~DatagramsTest() override {
    datagrams_.reset();
    if (!directory_.empty()) fs::remove_all(directory_);
  }

  Result<std::unique_ptr<Datagrams>> open(Loop& loop) {
    return Datagrams::open(loop, directory_, name_, [this](const Datagram& d) {
      seen_.push_back({d.pid, d.uid, std::string(d.from),
                       std::string(reinterpret_cast<const char*>(d.bytes.data()), d.bytes.size()), d.cut});
      if (then_) then_();
    });
  }
  void open() {
    auto opened = open(loop_);
    ASSERT_TRUE(opened) << opened.error().message;
    datagrams_ = std::move(*opened);
  }
  bool sees(size_t count) {
    return run_until(loop_, [&] { return seen_.size() >= count; });
  }

  std::string directory_;
  const std::string name_ = private_name("d"), client_ = private_name("c");
  Loop loop_;
  std::vector<Seen> seen_;
  std::function<void()> then_;
  std::unique_ptr<Datagrams> datagrams_;
};
INSTANTIATE_TEST_SUITE_P(Places, DatagramsTest, testing::Bool(),
                         [](const auto& place) { return place.param ? "Directory" : "Abstract"; });

TEST_P(DatagramsTest, ThereAndBack) {
  open();
  const Sender client(directory_, client_);
  ASSERT_TRUE(client.bound());
  EXPECT_TRUE(client.send(name_, std::string("a\0b", 3)));
  EXPECT_TRUE(client.send(name_, ""));
  ASSERT_TRUE(sees(2));
  EXPECT_EQ(seen_[0].pid, getpid());
  EXPECT_EQ(seen_[0].uid, geteuid());
  EXPECT_EQ(seen_[0].from, client_);
  EXPECT_EQ(seen_[0].bytes, std::string("a\0b", 3));
  EXPECT_FALSE(seen_[0].cut);
  EXPECT_EQ(seen_[1].bytes, "");
  EXPECT_TRUE(datagrams_->send(client_, "answer"));
  EXPECT_EQ(client.receive(), "answer");
}

TEST_P(DatagramsTest, WhoSentItIsWhatTheKernelSays) {
  open();
  if (!directory_.empty()) chmod(directory_.c_str(), 01777);
  const bool is_root = geteuid() == 0;
  const pid_t child = fork();
  if (child == 0) {
    if (is_root && setuid(12345) != 0) _exit(1);
    _exit(Sender(directory_, client_).send(name_, "x") ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(sees(1));
  EXPECT_EQ(seen_[0].pid, child);
  EXPECT_EQ(seen_[0].uid, is_root ? 12345 : geteuid());
}

TEST_P(DatagramsTest, SendersThatCannotBeAnswered) {
  open();
  const Sender unbound(directory_);
  EXPECT_TRUE(unbound.send(name_, "x"));
  // By a name of the other kind.
  const std::string elsewhere = "/tmp/" + private_name("other");
  fs::create_directory(elsewhere);
  const auto [to, to_length] = address_in(directory_, name_);
  const auto [own, own_length] = address_in(directory_.empty() ? elsewhere : "", client_);
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&own), own_length), 0);
  EXPECT_EQ(sendto(fd, "y", 1, 0, reinterpret_cast<const sockaddr*>(&to), to_length), 1);
  close(fd);
  ASSERT_TRUE(sees(2));
  EXPECT_EQ(seen_[0].from, "");
  EXPECT_EQ(seen_[0].pid, getpid());  // but who it was is known
  EXPECT_EQ(seen_[1].from, "");
  fs::remove_all(elsewhere);
}

TEST_P(DatagramsTest, LongOnesAreCut) {
  open();
  const Sender client(directory_, client_);
  EXPECT_TRUE(client.send(name_, std::string(kMaxDatagram, 'x')));
  EXPECT_TRUE(client.send(name_, std::string(kMaxDatagram + 1, 'x')));
  ASSERT_TRUE(sees(2));
  EXPECT_FALSE(seen_[0].cut);
  EXPECT_TRUE(seen_[1].cut);
  EXPECT_EQ(seen_[1].bytes.size(), kMaxDatagram);
}

TEST_P(DatagramsTest, DescriptorsThatSomebodySendsAreNotKept) {
  open();
  const Sender client(directory_, client_);
  const size_t before = open_descriptors();
  EXPECT_TRUE(client.send(name_, "x", {0, 1, 2}));
  ASSERT_TRUE(sees(1));
  EXPECT_EQ(seen_[0].pid, getpid());
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(DatagramsTest, SendingToNobody) {
  open();
  EXPECT_FALSE(datagrams_->send(client_, "x"));
  EXPECT_FALSE(datagrams_->send(std::string(200, 'x'), "x"));
  {
    const Sender client(directory_, client_);
  }
  EXPECT_FALSE(datagrams_->send(client_, "x"));
}

TEST_P(DatagramsTest, SendingToOneWhoDoesNotListenEndsSomewhere) {
  open();
  const Sender client(directory_, client_);
  int sent = 0;
  while (sent < 100'000 && datagrams_->send(client_, "x")) ++sent;
  EXPECT_GT(sent, 0);
  EXPECT_LT(sent, 100'000);
}

TEST_P(DatagramsTest, ANameThatIsTaken) {
  open();
  const auto second = open(loop_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::io);
  EXPECT_NE(second.error().message.find(fmt::format("is taken by process {} (", getpid())), std::string::npos)
      << second.error().message;
  EXPECT_TRUE(Sender(directory_, client_).send(name_, "x"));  // the first one goes on
  EXPECT_TRUE(sees(1));
  datagrams_.reset();
  EXPECT_TRUE(open(loop_));
}

TEST_P(DatagramsTest, ANameThatIsTooLong) {
  EXPECT_EQ(Datagrams::open(loop_, directory_, std::string(110, 'x'), {}).error().code, Code::invalid);
}

TEST_P(DatagramsTest, DestroyedWhileItReceives) {
  open();
  const Sender client(directory_, client_);
  for (int i = 0; i < 3; i++) EXPECT_TRUE(client.send(name_, "x"));
  then_ = [this] { datagrams_.reset(); };
  EXPECT_TRUE(sees(1));
  run_due(loop_);
  EXPECT_EQ(seen_.size(), 1u);
}

TEST_P(DatagramsTest, DestroyedWithSomeUnread) {
  open();
  EXPECT_TRUE(Sender(directory_, client_).send(name_, "x"));
  datagrams_.reset();
  run_due(loop_);
  EXPECT_TRUE(seen_.empty());
}

class DatagramsInDirectory : public DatagramsTest {};
INSTANTIATE_TEST_SUITE_P(Places, DatagramsInDirectory, testing::Values(true));

TEST_P(DatagramsInDirectory, FilesAtItsPlace) {
  const std::string path = directory_ + "/" + name_;
  {
    const Sender killed(directory_, name_);
  }  // leaves its file
  ASSERT_TRUE(fs::is_socket(path));
  open();
  EXPECT_TRUE(Sender(directory_, client_).send(name_, "x"));
  EXPECT_TRUE(sees(1));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0666));
  datagrams_.reset();
  EXPECT_FALSE(fs::exists(path));

  std::ofstream(path) << "mine";
  const auto refused = open(loop_);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("is no socket"), std::string::npos) << refused.error().message;
  EXPECT_EQ(fs::file_size(path), 4u);
}

}  // namespace
}  // namespace spotter::net
