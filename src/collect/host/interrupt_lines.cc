#include "collect/host/interrupt_lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/fnv.h"
#include "base/saturated.h"
#include "base/system/descriptor.h"
#include "base/text/words.h"

namespace spotter::collect {
namespace {

// The kernel gives a page at once, or a line that is longer.
constexpr size_t kPiece = size_t{8} << 10, kMostLine = size_t{1} << 20;
constexpr std::string_view kDigits = "0123456789";

u64 hash(u64 seed, std::string_view text) { return fnv1a("\n", fnv1a(text, seed)); }

class Lines {
 public:
  explicit Lines(const std::function<void(const InterruptLine&)>& take) : take_(take) {}

  void add(std::string_view line) {
    if (processors_ == 0) {
      for (std::string_view rest = line; next_word(rest).starts_with("CPU");) ++processors_;
      hash_ = hash(hash_, line);
      return;
    }
    const size_t colon = line.find(':');
    if (colon == line.npos) return;
    InterruptLine read{trimmed(line.substr(0, colon)), {}, 0};
    std::string_view rest = line.substr(colon + 1);
    // Some lines have a single count.
    size_t counts = 0;
    while (counts < processors_ && take_number(rest, read.count)) ++counts;
    if (counts == 0) return;
    read.text = trimmed(rest);
    hash_ = hash(hash_, read.label);
    take_(read);
  }
  bool has_header() const { return processors_ > 0; }
  u64 shape() const { return hash_; }

 private:
  // By hand, since there are half a million of them on a large machine.
  static bool take_number(std::string_view& text, i64& sum) {
    size_t i = 0;
    while (i < text.size() && text[i] == ' ') ++i;
    const size_t begin = i;
    u64 value = 0;
    constexpr u64 kMost = u64{1} << 40;  // what is larger is no counter of 32 bits
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
      value = std::min(kMost, value * 10 + static_cast<u64>(text[i] - '0'));
    if (i == begin || (i < text.size() && text[i] != ' ')) return false;
    text.remove_prefix(i);
    sum = add_saturated(sum, static_cast<i64>(value));
    return true;
  }

  const std::function<void(const InterruptLine&)>& take_;
  size_t processors_ = 0;
  u64 hash_ = 0xcbf29ce484222325;
};

}  // namespace

Result<u64> InterruptFile::read(const std::function<void(const InterruptLine&)>& take) {
  Result<u64> shape = read_open(take);
  if (!shape) file_ = Descriptor();
  return shape;
}

Result<u64> InterruptFile::read_open(const std::function<void(const InterruptLine&)>& take) {
  const auto failed = [&](const char* what) {
    return fail(errno == ENOENT                     ? Code::not_found
                : errno == EACCES || errno == EPERM ? Code::denied
                                                    : Code::io,
                "{} cannot be {}: {}", path_, what, errno_text(errno));
  };
  if (file_.fd < 0) file_ = Descriptor(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file_.fd < 0) return failed("opened");
  if (buffer_.empty()) buffer_.resize(kPiece);
  Lines lines(take);
  size_t have = 0;  // the beginning of a line
  for (off_t offset = 0;;) {
    const ssize_t n = pread(file_.fd, buffer_.data() + have, buffer_.size() - have, offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("read");
    offset += n;
    std::string_view text(buffer_.data(), have + static_cast<size_t>(n));
    if (n == 0) {
      if (!text.empty()) lines.add(text);
      break;
    }
    for (size_t end = 0; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
      lines.add(text.substr(0, end));
    have = text.size();
    if (have >= kMostLine) return fail(Code::corrupt, "{} has a line of more than 1 MiB", path_);
    std::copy(text.begin(), text.end(), buffer_.begin());
    if (have == buffer_.size()) buffer_.resize(2 * have);
  }
  if (!lines.has_header()) return fail(Code::corrupt, "{} does not begin with the processors", path_);
  return lines.shape();
}

// The kernel writes the controller, its number of the interrupt, how it is triggered, padded, and then two
// blanks and the actions, where there are any (show_interrupts in kernel/irq/proc.c).
std::string_view action_of(std::string_view text) {
  text = trimmed(text);
  const size_t gap = text.rfind("  ");
  if (gap == text.npos) return {};
  const std::string_view action = text.substr(gap + 2);
  const std::string_view rest = action.substr(std::min(action.find_first_not_of(kDigits), action.size()));
  const bool is_number = rest.size() < action.size() && (rest.empty() || rest.front() == '-' ||
                                                         trimmed(rest) == "Level" || trimmed(rest) == "Edge");
  return is_number ? std::string_view() : action;
}

std::string_view device_class_of(std::string_view text) {
  constexpr size_t kMostName = 32;
  std::string_view name = action_of(text);
  // "3f200000.gpio": the address in a device tree.
  if (const size_t dot = name.find('.'); dot != name.npos && name.find_first_of(kDigits) == 0)
    name.remove_prefix(dot + 1);
  name = name.substr(0, std::min(name.find_first_of("-@:,;[. \t"), kMostName));
  const auto without_number = [](std::string_view word) {
    return word.substr(0, word.find_last_not_of(kDigits) + 1);
  };
  std::string_view left = without_number(name);
  if (left.size() > 1 && left.size() < name.size() && left.ends_with('q') &&
      kDigits.find(left[left.size() - 2]) != kDigits.npos)
    left = without_number(left.substr(0, left.size() - 1));
  if (left.ends_with('_')) left.remove_suffix(1);
  return !left.empty() ? left : !name.empty() ? name : "unnamed";
}

}  // namespace spotter::collect
