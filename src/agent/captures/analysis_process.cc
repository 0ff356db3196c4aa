#include "agent/captures/analysis_process.h"

#include <unistd.h>

#include "agent/helper.h"
#include "wire/file_results.h"

namespace spotter::agent {
namespace {

// Sanitizers take terabytes of address space for themselves.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kBoundsMemory = false;
#elif defined(__has_feature)
constexpr bool kBoundsMemory = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
constexpr bool kBoundsMemory = true;
#endif

// A container's root is the host's, too, and its files must not be read with his rights.
u32 reader_of(i64 owner) { return owner == 0 ? kNobody : static_cast<u32>(owner); }

// How the reader is begun.
Result<net::ChildOrder> order_for(i64 owner, const AnalysisLimits& limits) {
  net::ChildOrder order;
  order.command = {limits.program, "analyze-part"};
  if (geteuid() == 0) {
    order.uid = reader_of(owner);
  } else if (owner != static_cast<i64>(geteuid())) {
    if (limits.helper.empty())
      return fail(
          Code::denied,
          "the files are user {}'s, and this agent, which is not root and has no helper, may not become "
          "that user",
          owner);
    order.command = {limits.program,
                     "ask-helper",
                     "--socket",
                     limits.helper,
                     "--user",
                     fmt::format("{}", reader_of(owner)),
                     "--"};
  }
  return order;
}

}  // namespace

AnalysisLimits AnalysisLimits::kept() const {
  AnalysisLimits limits = *this;
  if (limits.output_bytes == 0) limits.output_bytes = wire::kMostResultsBytes;
  if (!kBoundsMemory) limits.memory_bytes = 0;
  return limits;
}

AnalysisProcesses::AnalysisProcesses(net::Loop& loop, Host host, std::string host_name,
                                     const AnalysisLimits& limits)
    : loop_(loop), host_(std::move(host)), host_name_(std::move(host_name)), limits_(limits.kept()) {}

AnalysisProcesses::~AnalysisProcesses() = default;

Result<void> AnalysisProcesses::start(const std::string& who, const std::vector<capture::Receipt>& written,
                                      const std::string& request,
                                      std::function<void(Result<std::string>)> done) {
  if (written.empty()) return fail(Code::not_found, "there are no files to analyse");
  if (written.size() > kMostFiles)
    return fail(Code::invalid, "these are {} files; {} at most", written.size(), kMostFiles);
  const i64 owner = written[0].uid;
  TRY_ASSIGN(net::ChildOrder order, order_for(owner, limits_));
  for (const capture::Receipt& receipt : written) {
    if (receipt.uid != owner)
      return fail(Code::denied, "the files are not all one user's, but user {}'s and user {}'s", owner,
                  receipt.uid);
    // Of a process that has ended this is the host's own root; what is found must be the file of the receipt.
    const auto root = capture::ProcessRoot::open(host_, receipt.pid);
    TRY_ASSIGN(Descriptor file, root.open_file(receipt.file, receipt.uid, receipt.size_bytes));
    order.files.push_back(std::move(file));
    order.command.push_back(fmt::format("{}:{}", host_name_, receipt.file));
  }
  order.input = request;
  order.time = limits_.time;
  order.output_bytes = limits_.output_bytes;
  order.memory_bytes = limits_.memory_bytes;

  TRY(shares_.take(who));
  const auto place = running_.emplace(running_.end());
  auto child =
      net::Child::start(loop_, order, [this, who, place, done = std::move(done)](Result<std::string> out) {
        running_.erase(place);
        shares_.give_back(who);
        if (out)
          done(std::move(out));
        else
          done(within(out.error(), "the analysis on " + host_name_));
      });
  if (!child) {
    running_.erase(place);
    shares_.give_back(who);
    return tl::unexpected(child.error());
  }
  *place = std::move(*child);
  return {};
}

}  // namespace spotter::agent
