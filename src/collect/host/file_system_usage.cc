#include "collect/host/file_system_usage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "collect/values.h"

namespace spotter::collect {
namespace {

// That a path is not there or not for us says nothing about the file system that should be there.
UsageAnswer answer_of_errno() {
  const int number = errno;
  if (number == ENOENT || number == ENOTDIR || number == EACCES || number == EPERM || number == ELOOP)
    return {};
  return {.is_reachable = false, .usage = {}};
}

// Blocks in bytes; file systems may tell any number.
std::optional<i64> bytes(fsblkcnt_t blocks, unsigned long block_bytes) {
  return scaled(static_cast<i64>(blocks), static_cast<i64>(block_bytes));
}

}  // namespace

UsageAnswer ask_usage(const std::string& path, const Mount& mount) {
  struct statx found{};
  if (statx(AT_FDCWD, path.c_str(), AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_TYPE, &found) != 0)
    return answer_of_errno();
  // btrfs tells its files another device than its mounts, but there the kernel says that a mount begins.
  const bool is_device = found.stx_dev_major == mount.major && found.stx_dev_minor == mount.minor;
  if (!is_device && !(mount.type == "btrfs" && (found.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0))
    return {};
  struct statvfs state{};
  if (statvfs(path.c_str(), &state) != 0) return answer_of_errno();
  UsageAnswer answer{.is_reachable = true, .usage = {}};
  const auto size = bytes(state.f_blocks, state.f_frsize), free = bytes(state.f_bfree, state.f_frsize),
             available = bytes(state.f_bavail, state.f_frsize);
  if (!size || !free || !available) return answer;
  answer.usage = {*size, *free, *available, {}, {}};
  if (state.f_files != 0) {
    answer.usage->files = scaled(static_cast<i64>(state.f_files), 1);
    answer.usage->files_free = scaled(static_cast<i64>(state.f_ffree), 1);
  }
  return answer;
}

struct UsageAsker::Question {
  std::mutex mutex;
  std::condition_variable is_answered;
  std::optional<UsageAnswer> answer;
};

std::vector<UsageAnswer> UsageAsker::ask(const std::string& root, const std::vector<Mount>& mounts) {
  std::vector<std::string> paths;
  paths.reserve(mounts.size());
  for (const Mount& mount : mounts)
    paths.push_back(root == "/" ? mount.mount_point : root + mount.mount_point);
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience_);
  // All remote ones at once, so that a dead one delays the others by nothing.
  for (size_t i = 0; i < mounts.size(); ++i) {
    if (!mounts[i].is_remote || unanswered_.contains(paths[i])) continue;
    auto question = std::make_shared<Question>();
    try {
      std::thread([question, ask = ask_, path = paths[i], mount = mounts[i]] {
        UsageAnswer answer = ask(path, mount);
        const std::lock_guard lock(question->mutex);
        question->answer = std::move(answer);
        question->is_answered.notify_one();
      }).detach();
    } catch (const std::system_error&) {
      continue;  // no more threads: not told this time
    }
    unanswered_.emplace(paths[i], std::move(question));
  }
  std::vector<UsageAnswer> answers;
  answers.reserve(mounts.size());
  for (size_t i = 0; i < mounts.size(); ++i) {
    if (!mounts[i].is_remote) {
      answers.push_back(ask_(paths[i], mounts[i]));
      continue;
    }
    const auto it = unanswered_.find(paths[i]);
    if (it == unanswered_.end()) {
      answers.emplace_back();
      continue;
    }
    Question& question = *it->second;
    std::unique_lock lock(question.mutex);
    if (question.is_answered.wait_until(lock, until, [&] { return question.answer.has_value(); })) {
      answers.push_back(*question.answer);
      lock.unlock();
      unanswered_.erase(it);
    } else {
      answers.push_back({.is_reachable = false, .usage = {}});
    }
  }
  return answers;
}

}  // namespace spotter::collect
