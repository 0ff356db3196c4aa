#include "base/growing_array.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"

namespace spotter {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
// The beginning of an array is on small pages, so that many small arrays waste nothing; what comes behind it
// begins at the border of a huge page. A huge page costs a tenth of the small ones that it stands for.
constexpr size_t kSmallPart = size_t{256} << 10;
constexpr size_t kLeastStep = size_t{64} << 10;
constexpr size_t kHugePage = 2 * kMiB;
constexpr size_t kShare = 32;         // of a limited address space, one array
constexpr size_t kLeastLimit = kMiB;  // with less address space than this there is no use in going on

size_t round_up(size_t value, size_t step) { return (value + step - 1) / step * step; }

// A range of which the place behind the small part is aligned.
char* reserve(size_t bytes) {
  void* p = mmap(nullptr, bytes + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  const size_t address = reinterpret_cast<size_t>(p);
  const size_t skipped = round_up(address + kSmallPart, kHugePage) - kSmallPart - address;
  char* data = static_cast<char*>(p) + skipped;
  if (skipped > 0) munmap(p, skipped);
  if (skipped < kHugePage) munmap(data + bytes, kHugePage - skipped);
  return data;
}

// The ranges of arrays that ended, for the next ones: the traces of a job are read one after another, and a
// page that is there already costs neither a fault nor zeros, which are a seventh of a load.
class Spares {
 public:
  struct Range {
    char* data = nullptr;
    size_t limit = 0, usable = 0;
  };

  std::optional<Range> take(size_t limit) {
    const std::lock_guard lock(mutex_);
    const auto same = [&](const Range& r) { return r.limit == limit; };
    const auto it = std::find_if(ranges_.rbegin(), ranges_.rend(), same);  // the last one is the warmest
    if (it == ranges_.rend()) return std::nullopt;
    const Range range = *it;
    ranges_.erase(std::next(it).base());
    bytes_ -= range.usable;
    return range;
  }

  // False if there are enough.
  bool keep(const Range& range) {
    const std::lock_guard lock(mutex_);
    if (range.usable == 0 || bytes_ + range.usable > kMostBytes) return false;
    ranges_.push_back(range);
    bytes_ += range.usable;
    return true;
  }

  void free() {
    const std::lock_guard lock(mutex_);
    for (const Range& range : ranges_) munmap(range.data, range.limit);
    ranges_.clear();
    bytes_ = 0;
  }

 private:
  static constexpr size_t kMostBytes = 256 * kMiB;
  std::mutex mutex_;
  std::vector<Range> ranges_;
  size_t bytes_ = 0;
};

Spares& spares() {
  static Spares* const all = new Spares;  // never destroyed: an array may be one of another static object
  return *all;
}

}  // namespace

void free_spare_arrays() { spares().free(); }

Reservation::Reservation(size_t limit_bytes) {
  if (limit_bytes == 0) return;
  limit_ = round_up(limit_bytes, static_cast<size_t>(sysconf(_SC_PAGESIZE)));
  // Where the address space is limited (ulimit -v), others need some of it too.
  rlimit space;
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    limit_ = std::min(limit_, round_up(std::max<size_t>(space.rlim_cur / kShare, kLeastLimit), kMiB));
  if (const auto spare = spares().take(limit_)) {
    data_ = spare->data;
    usable_ = spare->usable;
    zeroed_ = false;
    return;
  }
  while (!(data_ = reserve(limit_)) && limit_ > kLeastLimit) limit_ = round_up(limit_ / 2, kMiB);
  if (!data_) end_process("out of memory: the system refuses address space; raise the limit (ulimit -v)");
  // Only advice: without it large arrays work too, with more page faults.
  if (limit_ > kSmallPart) madvise(data_ + kSmallPart, limit_ - kSmallPart, MADV_HUGEPAGE);
}

Reservation::~Reservation() {
  if (data_ && !spares().keep({data_, limit_, usable_})) munmap(data_, limit_);
}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(limit_, other.limit_);
  std::swap(usable_, other.usable_);
  std::swap(zeroed_, other.zeroed_);
  return *this;
}

void Reservation::make_usable(size_t bytes) {
  if (bytes <= usable_) return;
  if (bytes > limit_) {
    end_process(
        fmt::format("an array of {} bytes is beyond the {} bytes of address space reserved for it; the "
                    "input is too large, or an address-space limit (ulimit -v) too low",
                    bytes, limit_)
            .c_str());
  }
  // Steps of an eighth keep the number of system calls logarithmic.
  size_t end = std::max(bytes, usable_ + std::max(kLeastStep, usable_ / 8));
  end = round_up(end, kLeastStep);
  // A huge page is taken at its first touch only if all of it is usable then.
  if (end > kSmallPart) end = kSmallPart + round_up(end - kSmallPart, kHugePage);
  end = std::min(end, limit_);
  if (mprotect(data_ + usable_, end - usable_, PROT_READ | PROT_WRITE) != 0) {
    end_process(
        fmt::format("out of memory: the system refuses {} bytes ({})", end - usable_, errno_text(errno))
            .c_str());
  }
#ifdef MADV_POPULATE_WRITE
  // Small pages in one go cost a third of one fault each. Only advice, too.
  if (usable_ < kSmallPart)
    madvise(data_ + usable_, std::min(end, kSmallPart) - usable_, MADV_POPULATE_WRITE);
#endif
  usable_ = end;
}

}  // namespace spotter
