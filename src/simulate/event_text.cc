#include "simulate/event_text.h"

#include <algorithm>

#include "simulate/costs.h"

namespace spotter::simulate {

namespace {

// "[0, 1, 2]", cut as the writers of the era do.
std::string ranks_text(const std::vector<i64>& ranks, const Era& era) {
  constexpr size_t kMost = 30;
  if (ranks.size() <= kMost) return fmt::format("[{}]", fmt::join(ranks, ", "));
  if (era.collective_args != CollectiveArgs::numbered)
    return fmt::format("[{}, ...]", fmt::join(ranks.begin(), ranks.begin() + kMost, ", "));
  return fmt::format("[{}, ..., {}]", fmt::join(ranks.begin(), ranks.begin() + kMost - 1, ", "),
                     ranks.back());
}

}  // namespace

std::string EventText::head(Cat cat, std::string_view name, i64 pid, const std::string& tid) const {
  const std::string_view text = job_.spec.era->cat[static_cast<size_t>(cat)];
  const std::string category = text.empty() ? "" : fmt::format("\"cat\": \"{}\", ", text);
  return fmt::format("  {{\n    \"ph\": \"X\", {}\"name\": \"{}\", \"pid\": {}, \"tid\": {},\n    \"ts\": ",
                     category, name, pid, tid);
}

std::string EventText::track(Stream stream) const {
  const i64 id = kStreamIds[stream];
  return job_.spec.era->stream_words ? fmt::format("\"stream {}\"", id) : std::to_string(id);
}

std::string EventText::device_head(const DeviceWork& work, Stream stream) const {
  return head(work.kind == DeviceKind::copy ? Cat::memcpy : Cat::kernel, work.name, place_.device,
              track(stream));
}

std::string EventText::host_head(Cat cat, std::string_view name, u32 thread) const {
  return head(cat, name, place_.pid, std::to_string(place_.thread_id(thread)));
}

std::string EventText::device_tail(const DeviceWork& work) const {
  const double blocks = static_cast<double>(work.blocks) / static_cast<double>(kProcessors);
  const double warps = blocks * static_cast<double>(work.threads) / 32;
  const auto occupancy = static_cast<i64>(std::min(100.0, warps / 64 * 100));
  return fmt::format(
      ",\n      \"registers per thread\": {}, \"shared memory\": {},\n      \"blocks per SM\": {:.6f}, \"warps per SM\": {:.6f},\n"
      "      \"grid\": [{}, 1, 1], \"block\": [{}, 1, 1],\n      \"est. achieved occupancy %\": {}",
      work.registers, work.shared_bytes, blocks, warps, work.blocks, work.threads, occupancy);
}

// Libraries wrote more from release to release: first sizes, then names and ranks, then sequence numbers.
std::string EventText::collective_args(const Collective& c, bool is_kernel) const {
  const CollectiveArgs written = job_.spec.era->collective_args;
  // The kernel of an exchange is launched when its group of calls ends, under no call of its own.
  if (written == CollectiveArgs::none || (is_kernel && c.exchanges())) return {};
  const Layout& layout = job_.layout;
  const i64 group = layout.group(c.group, place_.rank);
  std::string text;
  if (!is_kernel || written != CollectiveArgs::basic)
    text = fmt::format("\"Collective name\": \"{}\", ", c.name);
  text += fmt::format(
      "\"In msg nelems\": {}, \"Out msg nelems\": {}, \"Group size\": {}, \"dtype\": \"BFloat16\", "
      "\"In split size\": \"[]\", \"Out split size\": \"[]\"",
      c.in_elements, c.out_elements, layout.size(c.group));
  if (written == CollectiveArgs::basic) return text;
  const std::vector<i64> members = layout.members(c.group, group);
  text += fmt::format(
      ", \"Process Group Name\": \"{}\", \"Process Group Description\": \"{}\", \"Process Group Ranks\": \"{}\"",
      layout.group_name(c.group, group), layout.group_description(c.group),
      ranks_text(members, *job_.spec.era));
  using Way = Collective::Way;
  const i64 next = layout.next_stage(place_.rank), previous = layout.previous_stage(place_.rank);
  if (c.way == Way::send_next || c.way == Way::send_previous)
    text += fmt::format(", \"Dst Rank\": {}", c.way == Way::send_next ? next : previous);
  if (c.way == Way::receive_next || c.way == Way::receive_previous)
    text += fmt::format(", \"Src Rank\": {}", c.way == Way::receive_next ? next : previous);
  if (!is_kernel)
    text += fmt::format(", \"Rank\": {}, \"Global rank start\": {}, \"Global rank stride\": {}", place_.rank,
                        members[0], members.size() > 1 ? members[1] - members[0] : 0);
  return text;
}

std::string EventText::span_args(const Span& span) const {
  std::string text;
  if (job_.spec.era->has_record_function && span.cat != Cat::python_function)
    text = ", \"Record function id\": 0";
  if (!span.args.empty()) text += ", " + span.args;
  if (span.collective >= 0) {
    const std::string args =
        collective_args(program_.collectives[static_cast<size_t>(span.collective)], false);
    if (!args.empty()) text += ", " + args;
  }
  return text;
}

}  // namespace spotter::simulate
