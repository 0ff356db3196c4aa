#include "wire/nccl_ras.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text/number.h"
#include "base/text/utf8.h"
#include "base/text/words.h"
#include "wire/json.h"

namespace spotter::wire {
namespace {

namespace json = boost::json;

constexpr size_t kMostName = 64;

std::string name_of(std::string_view text) { return to_printable(text.substr(0, kMostName)); }

// Groups of ranks that have launched equally many; where all have there is no mismatch.
std::vector<RasMismatch> mismatches_of(const std::vector<RasCountedRank>& ranks) {
  std::map<std::string_view, std::map<i64, RasGroup>> operations;
  for (const RasCountedRank& rank : ranks) {
    for (const auto& [operation, launched] : rank.launched) {
      RasGroup& group = operations[operation][launched];
      group.launched = launched;
      ++group.ranks;
    }
  }
  std::erase_if(operations, [](const auto& operation) { return operation.second.size() < 2; });
  for (const RasCountedRank& rank : ranks) {
    for (const auto& [operation, launched] : rank.launched)
      if (const auto it = operations.find(operation); it != operations.end())
        it->second[launched].named.push_back(rank.rank);
  }
  std::vector<RasMismatch> mismatches;
  for (auto& [operation, groups] : operations) {
    RasMismatch& mismatch = mismatches.emplace_back(RasMismatch{std::string(operation), {}});
    for (auto& [launched, group] : groups) mismatch.groups.push_back(std::move(group));
  }
  return mismatches;
}

i64 integer_in(const json::object& object, std::string_view name) { return object.at(name).to_number<i64>(); }

RasRank rank_in(const json::object& object) {
  const std::string host = name_of(text_in(object.at("host")));
  return {integer_in(object, "rank"), host == "unknown" ? "" : host, integer_in(object, "pid"),
          integer_in(object, "nvml_dev")};
}

u64 hash_in(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  const auto hash = number_in<u64>(text, 16);
  expect(hash.has_value(), "a hash");
  return *hash;
}

RasCommunicator communicator_in(const json::object& object) {
  RasCommunicator communicator{.hash = hash_in(text_in(object.at("hash"))),
                               .size = integer_in(object, "size"),
                               .ranks = {},
                               .mismatches = {},
                               .missing = {}};
  for (const json::value& value : object.at("ranks").as_array()) {
    RasCountedRank& rank = communicator.ranks.emplace_back(RasCountedRank{rank_in(value.as_object()), {}});
    for (const auto& [operation, launched] : value.at("collective_counts").as_object())
      rank.launched.emplace_back(name_of(operation), launched.to_number<i64>());
  }
  for (const json::value& value : object.at("missing_ranks").as_array())
    communicator.missing.push_back(rank_in(value.as_object()));
  communicator.mismatches = mismatches_of(communicator.ranks);
  return communicator;
}

Result<RasAnswer> read_json(std::string_view text) {
  TRY_ASSIGN(const json::object object, read_object(text));
  try {
    RasAnswer answer{.version = name_of(text_in(object.at("nccl_version"))), .communicators = {}};
    for (const json::value& value : object.at("communicators").as_array())
      answer.communicators.push_back(communicator_in(value.as_object()));
    answer.timeouts = integer_in(object.at("ras").as_object(), "timeouts_count");
    return answer;
  } catch (const std::exception& error) {
    return fail(Code::invalid, "NCCL's answer is not as expected: {}", error.what());
  }
}

// What stands between two texts, or behind the first; nothing where one is missing.
std::optional<std::string_view> between(std::string_view text, std::string_view before,
                                        std::string_view behind = {}) {
  const size_t begin = text.find(before);
  if (begin == text.npos) return {};
  text.remove_prefix(begin + before.size());
  if (behind.empty()) return text;
  const size_t end = text.find(behind);
  if (end == text.npos) return {};
  return text.substr(0, end);
}

// "Rank 3 -- GPU 0 (NVML 3) managed by process 17 on node 10.0.0.1", "Rank 3 -- [process information not
// found]"
std::optional<RasRank> rank_of(std::string_view line) {
  const auto number = between(line, "Rank ", " ");
  const auto rank = number ? number_in<i64>(*number) : std::nullopt;
  if (!rank || !line.starts_with("Rank ")) return {};
  RasRank found{.rank = *rank, .host = {}};
  if (const auto host = between(line, " on node ")) found.host = name_of(*host);
  if (const auto pid = between(line, " managed by process ", " "))
    found.pid = number_in<i64>(*pid).value_or(-1);
  if (const auto gpu = between(line, "GPU ", " managed by")) {
    const auto by_driver = between(*gpu, "(NVML ", ")");
    found.gpu = number_in<i64>(by_driver ? *by_driver : *gpu).value_or(-1);
  }
  return found;
}

std::optional<i64> launched_in(std::string_view line) {
  if (line.find("not launched any operations") != line.npos) return 0;
  const auto rest = between(line, " launched up to operation ");
  return rest ? number_in<i64>(rest->substr(0, rest->find(' '))) : std::nullopt;
}

class TextReader {
 public:
  Result<RasAnswer> read(std::string_view text) {
    bool is_whole = false;
    while (!text.empty()) {
      const std::string_view line = next_line(text);
      if (line == "Warnings") is_whole = true;
      if (const auto version = between(line, "NCCL version ", " ")) answer_.version = name_of(*version);
      if (line.starts_with('#'))
        begin(line);
      else if (line.starts_with("  "))
        take(line.substr(2));
      else
        section_ = Section::other;
    }
    if (answer_.version.empty() || !is_whole)
      return fail(Code::invalid, "this is no answer of NCCL's, or not all of it");
    for (RasCommunicator& communicator : answer_.communicators)
      for (RasMismatch& mismatch : communicator.mismatches)
        std::ranges::sort(mismatch.groups, {}, &RasGroup::launched);
    return std::move(answer_);
  }

 private:
  enum class Section : u8 { other, mismatch, incomplete };

  // "#0-1 (27a079b828ff1a75) MISMATCH"
  void begin(std::string_view line) {
    section_ = line.ends_with(") MISMATCH")     ? Section::mismatch
               : line.ends_with(") INCOMPLETE") ? Section::incomplete
                                                : Section::other;
    const auto digits = between(line, "(", ")");
    const auto hash = digits ? number_in<u64>(*digits, 16) : std::nullopt;
    is_counted_ = false;
    if (!hash) section_ = Section::other;
    if (section_ == Section::other) return;
    auto& all = answer_.communicators;
    const auto known = index_.try_emplace(*hash, all.size());
    if (known.second) all.emplace_back().hash = *hash;
    communicator_ = known.first->second;
  }

  void take(std::string_view line) {
    if (const auto count = between(line, "Encountered ", " communication timeout"))
      answer_.timeouts = number_in<i64>(*count).value_or(0);
    if (section_ == Section::other) return;
    RasCommunicator& communicator = answer_.communicators[communicator_];
    if (section_ == Section::incomplete) {
      if (auto rank = rank_of(line)) communicator.missing.push_back(std::move(*rank));
      return;
    }
    if (const auto what = between(line, "Communicator ranks have different ")) {
      const auto operation = between(line, "different ", " operation counts");
      is_counted_ = operation.has_value();  // else their status differs
      if (operation) communicator.mismatches.push_back({name_of(*operation), {}});
      return;
    }
    if (!is_counted_) return;
    std::vector<RasGroup>& groups = communicator.mismatches.back().groups;
    auto rank = rank_of(line);
    const auto launched = launched_in(line);
    if (launched) {
      const auto ranks = rank ? 1 : number_in<i64>(line.substr(0, line.find(' '))).value_or(0);
      groups.push_back({*launched, ranks, {}});
    }
    if (rank && !groups.empty()) groups.back().named.push_back(std::move(*rank));
  }

  RasAnswer answer_;
  std::map<u64, size_t> index_;
  size_t communicator_ = 0;
  Section section_ = Section::other;
  bool is_counted_ = false;
};

}  // namespace

Result<RasAnswer> read_ras_answer(std::string_view text) {
  // Before the answer is what the server says to each line that comes before the last one.
  while (text.starts_with("OK") || text.starts_with("ERROR")) next_line(text);
  return text.starts_with('{') ? read_json(text) : TextReader().read(text);
}

std::vector<StuckRanks> stuck_ranks(const RasAnswer& first, const RasAnswer& second) {
  std::map<std::pair<u64, std::string_view>, const RasMismatch*> before;
  for (const RasCommunicator& communicator : first.communicators)
    for (const RasMismatch& mismatch : communicator.mismatches)
      before.try_emplace({communicator.hash, mismatch.operation}, &mismatch);
  const auto is_same = [](const RasGroup& a, const RasGroup& b) {
    return a.launched == b.launched && a.ranks == b.ranks;
  };
  std::vector<StuckRanks> stuck;
  for (const RasCommunicator& communicator : second.communicators) {
    for (const RasMismatch& mismatch : communicator.mismatches) {
      const auto it = before.find({communicator.hash, mismatch.operation});
      if (it == before.end() || mismatch.groups.size() < 2 ||
          !std::ranges::equal(mismatch.groups, it->second->groups, is_same))
        continue;
      const RasGroup& least = mismatch.groups.front();
      stuck.push_back({communicator.hash, mismatch.operation, least.launched, mismatch.groups.back().launched,
                       least.ranks, least.named});
    }
  }
  return stuck;
}

}  // namespace spotter::wire
