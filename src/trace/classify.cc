#include "trace/classify.h"

#include <algorithm>
#include <string>

#include "base/text/utf8.h"

namespace spotter::trace {
namespace {

enum class Match : u8 {
  begins,
  contains,
  verb,  // contains where a word begins: all_, _all, AllReduce, but not small; with or without underscores
  local_verb,  // a verb behind one of kParts in the same identifier
};

struct NameRule {
  std::string_view text;  // lower case; names are compared without regard to case
  Match match;
  WorkKind kind;
};

// Parts of one device: what is reduced over them does not leave it.
constexpr std::string_view kParts[] = {"block", "warp", "wave", "cta", "thread"};

// The first rule that matches a kernel's name counts; without one it computes.
constexpr NameRule kNameRules[] = {
    // Inductor's own kernels carry the names of the operators that they fuse, collectives among them.
    {"triton_poi_", Match::begins, WorkKind::compute},
    {"triton_red_", Match::begins, WorkKind::compute},
    {"triton_per_", Match::begins, WorkKind::compute},
    {"triton_tem_", Match::begins, WorkKind::compute},
    {"triton_for_", Match::begins, WorkKind::compute},
    {"triton_mm_", Match::begins, WorkKind::compute},
    {"triton_bmm_", Match::begins, WorkKind::compute},
    {"triton_spl_", Match::begins, WorkKind::compute},
    // Libraries.
    {"nccl", Match::contains, WorkKind::communication},
    {"rccl", Match::contains, WorkKind::communication},
    {"hccl", Match::contains, WorkKind::communication},
    {"oneccl", Match::contains, WorkKind::communication},
    {"ccl_", Match::contains, WorkKind::communication},
    {"msccl", Match::contains, WorkKind::communication},
    {"nvshmem", Match::contains, WorkKind::communication},
    {"rocshmem", Match::contains, WorkKind::communication},
    {"ishmem", Match::contains, WorkKind::communication},
    {"deep_ep::", Match::contains, WorkKind::communication},
    // Collectives, sends and receives that frameworks write themselves.
    {"cross_device_reduce", Match::verb, WorkKind::communication},
    {"multimem_all", Match::verb, WorkKind::communication},
    {"quick_reduce", Match::verb, WorkKind::communication},
    {"all_reduce", Match::local_verb, WorkKind::compute},
    {"all_reduce", Match::verb, WorkKind::communication},
    {"all_gather", Match::verb, WorkKind::communication},
    {"reduce_scatter", Match::verb, WorkKind::communication},
    {"all_to_all", Match::verb, WorkKind::communication},
    {"send_recv", Match::verb, WorkKind::communication},
};

// Copies and sets among the rows of a category that does not tell them apart.
constexpr std::string_view kMtiaMemory[] = {"memcpy", "memset", "dma"};

// A kernel's name as it is written, and in lower case.
struct Name {
  std::string_view written, lower;
};

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

bool begins_word(const Name& name, size_t at) {
  if (at == 0) return true;
  const char before = name.written[at - 1], here = name.written[at];
  return !(is_lower(before) || is_upper(before)) || (is_lower(before) && is_upper(here));
}

bool verb_at(std::string_view name, size_t at, std::string_view verb) {
  for (const char c : verb) {
    if (at < name.size() && name[at] == c)
      ++at;
    else if (c != '_')
      return false;
  }
  return true;
}

size_t find_verb(const Name& name, std::string_view verb, size_t from) {
  for (size_t at = name.lower.find(verb[0], from); at != verb.npos; at = name.lower.find(verb[0], at + 1))
    if (begins_word(name, at) && verb_at(name.lower, at, verb)) return at;
  return verb.npos;
}

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

bool has_local_verb(const Name& name, std::string_view verb) {
  for (size_t at = find_verb(name, verb, 0); at != verb.npos; at = find_verb(name, verb, at + 1)) {
    size_t begin = at;
    while (begin > 0 && is_word(name.lower[begin - 1])) --begin;
    const std::string_view before = name.lower.substr(begin, at - begin);
    if (std::any_of(std::begin(kParts), std::end(kParts),
                    [&](std::string_view part) { return before.find(part) != before.npos; }))
      return true;
  }
  return false;
}

bool matches(const NameRule& rule, const Name& name) {
  switch (rule.match) {
    case Match::begins:
      return name.lower.starts_with(rule.text);
    case Match::contains:
      return name.lower.find(rule.text) != name.lower.npos;
    case Match::verb:
      return find_verb(name, rule.text, 0) != rule.text.npos;
    case Match::local_verb:
      return has_local_verb(name, rule.text);
  }
  return false;
}

}  // namespace

const char* work_kind_name(WorkKind kind) {
  switch (kind) {
    case WorkKind::compute:
      return "compute";
    case WorkKind::communication:
      return "communication";
    case WorkKind::memory:
      return "memory";
  }
  return "unknown";
}

WorkKind classify(Category category, std::string_view name, bool has_collective_args) {
  if (category == Category::gpu_memcpy || category == Category::gpu_memset) return WorkKind::memory;
  const std::string lower = ascii_lower(name);
  if (category == Category::mtia_device &&
      std::any_of(std::begin(kMtiaMemory), std::end(kMtiaMemory),
                  [&](std::string_view prefix) { return lower.starts_with(prefix); }))
    return WorkKind::memory;
  if (has_collective_args) return WorkKind::communication;
  const auto* rule = std::find_if(std::begin(kNameRules), std::end(kNameRules),
                                  [&](const NameRule& r) { return matches(r, {name, lower}); });
  return rule == std::end(kNameRules) ? WorkKind::compute : rule->kind;
}

}  // namespace spotter::trace
