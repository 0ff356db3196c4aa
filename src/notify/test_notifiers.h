// For tests: files of secrets, and notifiers that are told something.
#pragma once
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "net/test_receiver.h"
#include "notify/list.h"
#include "notify/test_incidents.h"
#include "wire/json.h"

namespace spotter::notify {

class NotifierTest : public testing::Test {
 protected:
  NotifierTest() {
    char name[] = "/tmp/sp_notify_XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~NotifierTest() override { std::filesystem::remove_all(folder_); }

  std::string secret(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text << "\n";
    chmod(path.c_str(), mode);
    return path;
  }
  static Surroundings surroundings() { return {"1.2", "gpu01", "https://gpu01:1779/v1/incidents/{id}"}; }
  static std::unique_ptr<Notifier> open(const std::string& kind, const Settings& settings) {
    auto opened = open_notifier(kind, settings, surroundings());
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }
  std::unique_ptr<Notifier> pager() {
    return open("pagerduty", {{"key_file", secret("routing", "R0UT1NG")}, {"url", receiver_.url()}});
  }
  Outcome tell(Notifier& notifier, Occasion occasion, std::string* kept = nullptr) {
    std::string none;
    return notifier.tell(test_telling("step_time_up", occasion), kept ? *kept : none);
  }
  static Error error_of(const std::string& kind, const Settings& settings) {
    const auto opened = open_notifier(kind, settings, surroundings());
    EXPECT_FALSE(opened);
    return opened ? Error{} : opened.error();
  }
  // Of the receiver's last question.
  boost::json::object last_body() {
    const std::vector<std::string> all = receiver_.requests();
    EXPECT_FALSE(all.empty());
    const auto body =
        all.empty() ? Result<boost::json::object>{} : wire::read_object(net::body_of(all.back()));
    EXPECT_TRUE(body);
    return body.value_or(boost::json::object{});
  }
  size_t asked() { return receiver_.requests().size(); }

  std::string folder_;
  net::Receiver receiver_;
};

inline std::string text_at(const boost::json::object& object, std::string_view pointer) {
  boost::json::error_code error;
  const boost::json::value whole(object);
  const boost::json::value* value =
      whole.find_pointer(boost::json::string_view(pointer.data(), pointer.size()), error);
  return value && value->is_string() ? std::string(value->get_string()) : "(none)";
}

}  // namespace spotter::notify
