#include "app/cli/interruption.h"

#include <sys/uio.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <list>

namespace spotter::app {
namespace {

constexpr int kSignalled = 128;  // exit statuses from here on say by which signal, as a shell does

std::atomic<bool> interrupted = false;
std::atomic<int> by_signal = 0;
std::atomic<const char*> sentence = "nothing was written";
static_assert(std::atomic<const char*>::is_always_lock_free, "a signal's handler reads it");

// Calls only what a signal's handler may call.
void tell() {
  constexpr char kBegin[] = "spotter: interrupted; ", kEnd[] = "\n";
  const char* what = sentence;
  const auto part = [](const char* text) { return iovec{const_cast<char*>(text), std::strlen(text)}; };
  const iovec parts[] = {part(kBegin), part(what), part(kEnd)};
  (void)!writev(STDERR_FILENO, parts, std::size(parts));
}

void end_at_once(int signal) {
  tell();
  _exit(kSignalled + signal);
}

void end_in_order(int signal) {
  if (interrupted) end_at_once(signal);
  by_signal = signal;  // before the flag, so that who sees this knows the signal
  interrupted = true;
}

// A signal that whoever started the process wants to be ignored (nohup, `&` in a script) stays so.
void handle_by(void (*handler)(int)) {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction now{};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) std::signal(signal, handler);
  }
}

}  // namespace

void end_at_once_when_interrupted() { handle_by(end_at_once); }

const std::atomic<bool>* interruption() {
  handle_by(end_in_order);
  return &interrupted;
}

void note_interruption(int signal) { by_signal = signal; }

void say_when_interrupted(std::string text) {
  static std::list<std::string> said;  // a handler may still read an older one
  sentence = said.emplace_back(std::move(text)).c_str();
}

std::optional<int> end_interrupted() {
  if (by_signal == 0) return std::nullopt;
  tell();
  return kSignalled + by_signal;
}

}  // namespace spotter::app
