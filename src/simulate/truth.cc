#include "simulate/truth.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "base/text/utf8.h"
#include "simulate/costs.h"
#include "simulate/inference.h"
#include "simulate/rank_place.h"

namespace spotter::simulate {
namespace {

std::string quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : to_valid_utf8(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      quoted += fmt::format("\\u{:04x}", c);
    else
      quoted += c;
  }
  return quoted + '"';
}

// As many as `count`, each by its index.
std::string list(i64 count, const std::function<std::string(i64)>& item, const char* between = ",") {
  std::string text = "[";
  for (i64 i = 0; i < count; ++i) text += (i > 0 ? between : "") + item(i);
  return text + "]";
}

std::string number_or_null(std::optional<i64> number) { return number ? std::to_string(*number) : "null"; }

std::string ranges_text(const std::vector<NumberRange>& ranges) {
  std::string text;
  for (const NumberRange& range : ranges)
    text += (text.empty() ? "" : ",") + std::to_string(range.first) +
            (range.last == range.first ? ""
             : range.is_open()         ? "-"
                                       : fmt::format("-{}", range.last));
  return text;
}

std::string spec_text(const Spec& spec) {
  std::string text = "{";
  for (const NumberOption& option : number_options())
    if (spec.*option.value != Spec{}.*option.value || !option.tells_only_if_set)
      text += fmt::format("{}: {}, ", quoted(option.flag + 2), spec.*option.value);
  for (const SwitchOption& option : switch_options())
    if (spec.*option.value || !option.tells_only_if_set)
      text += fmt::format("{}: {}, ", quoted(option.flag + 2), spec.*option.value);
  text += fmt::format("\"sharding\": {}, \"era\": {}, \"scale\": ",
                      quoted(kShardingNames[static_cast<size_t>(spec.sharding)]), quoted(spec.era->name));
  text += list(static_cast<i64>(spec.scales.size()), [&](i64 i) {
    const NameFactor& scale = spec.scales[static_cast<size_t>(i)];
    return quoted(fmt::format("{}={}", scale.name, scale.factor));
  });
  text += ", \"fault\": ";
  text += list(static_cast<i64>(spec.faults.size()),
               [&](i64 i) { return quoted(spec.faults[static_cast<size_t>(i)].text); });
  if (!spec.omitted.empty()) text += fmt::format(", \"omit-ranks\": {}", quoted(ranges_text(spec.omitted)));
  if (spec.clock_offset > 0) text += fmt::format(", \"clock-offset\": \"{}ns\"", spec.clock_offset);
  if (spec.noise != Noise::quiet)
    text += fmt::format(", \"noise\": {}", quoted(kNoiseNames[static_cast<size_t>(spec.noise)]));
  return text + "}";
}

std::string clocks_text(const Job& job) {
  const auto by_rank = [&](const std::function<i64(const Clock&)>& value) {
    return list(job.spec.ranks,
                [&](i64 r) { return std::to_string(value(clock_of(job.spec, job.layout.node(r)))); });
  };
  return ",\n  \"clock_offset_ns\": " + by_rank([](const Clock& c) { return c.offset; }) +
         ",\n  \"clock_drift_ns_per_s\": " + by_rank([](const Clock& c) { return c.drift; });
}

std::string groups_text(const Layout& layout) {
  std::string text;
  for (size_t k = 0; k < layout.kinds(); ++k) {
    const auto kind = static_cast<GroupKind>(k);
    text += fmt::format("{}\"{}\": ", k > 0 ? ", " : "", kGroupNames[k]);
    text += list(layout.groups(kind),
                 [&](i64 group) { return fmt::format("[{}]", fmt::join(layout.members(kind, group), ",")); });
  }
  return text;
}

std::string iterations_text(const Spec& spec) {
  std::string text;
  for (i64 i = 0; i < spec.steps; ++i) {
    const IterationBatch b = batch_of(spec, i);
    text += fmt::format(
        "{}    {{\"phase\": \"{}\", \"context_requests\": {}, \"context_tokens\": {}, \"generation_requests\": {}, "
        "\"generation_tokens\": {}}}",
        i > 0 ? ",\n" : "", b.is_prefill() ? "prefill" : "decode", b.context_requests, b.context_tokens,
        b.generation_requests, b.generation_tokens);
  }
  return text;
}

struct Column {
  const char* name;
  i64 (*value)(const StepNumbers&);
};

constexpr Column kDeviceColumns[] = {
    {"device_window_ns", [](const StepNumbers& n) { return n.window(); }},
    {"compute_ns", [](const StepNumbers& n) { return n.compute; }},
    {"communication_ns", [](const StepNumbers& n) { return n.communication; }},
    {"memory_ns", [](const StepNumbers& n) { return n.memory; }},
    {"hidden_communication_ns", [](const StepNumbers& n) { return n.hidden; }},
    {"exposed_communication_ns", [](const StepNumbers& n) { return n.communication - n.hidden; }},
    {"idle_ns", [](const StepNumbers& n) { return n.idle; }},
    {"transfer_ns", [](const StepNumbers& n) { return n.transfer; }},
    {"wait_ns", [](const StepNumbers& n) { return n.wait; }},
};

std::string schedule_text(const std::vector<RankNumbers>& ranks) {
  const auto by_step = [&](const char* name, const std::function<std::string(const StepNumbers&)>& value) {
    return fmt::format("    \"{}\": ", name) + list(static_cast<i64>(ranks.size()), [&](i64 r) {
             const auto& steps = ranks[static_cast<size_t>(r)].steps;
             return list(static_cast<i64>(steps.size()),
                         [&](i64 s) { return value(steps[static_cast<size_t>(s)]); });
           });
  };
  std::string text = by_step(
      "start_ns", [](const StepNumbers& n) { return std::to_string(kClockBase + kJobStart + n.start); });
  text += ",\n" + by_step("step_ns",
                          [](const StepNumbers& n) { return n.step < 0 ? "null" : std::to_string(n.step); });
  for (const Column& column : kDeviceColumns)
    text +=
        ",\n" + by_step(column.name, [&](const StepNumbers& n) { return std::to_string(column.value(n)); });
  return text;
}

std::string whole_text(const std::vector<RankNumbers>& ranks) {
  std::string text;
  for (const Column& column : kDeviceColumns)
    text += fmt::format("{}    \"{}\": ", text.empty() ? "" : ",\n", column.name) +
            list(static_cast<i64>(ranks.size()),
                 [&](i64 r) { return std::to_string(column.value(ranks[static_cast<size_t>(r)].whole)); });
  return text;
}

// What tells the rows of the collectives apart: kind and number of the group, name, elements in and out,
// bytes that a rank sends.
using CollectiveKey = std::tuple<GroupKind, i64, std::string_view, i64, i64, i64>;

std::string collective_text(const Layout& layout, const CollectiveKey& key, const CollectiveNumbers& n) {
  const auto& [kind, group, name, in_elements, out_elements, bytes] = key;
  return fmt::format(
      "    {{\"group\": \"{}\", \"ranks\": [{}], \"name\": \"{}\", \"in_bytes\": {}, \"out_bytes\": {}, "
      "\"sent_bytes\": {}, \"calls\": {}, \"time_ns\": {}, \"transfer_ns\": {}, \"wait_ns\": {}}}",
      kGroupNames[static_cast<size_t>(kind)], fmt::join(layout.members(kind, group), ","), name,
      in_elements * kElementBytes, out_elements * kElementBytes, bytes, n.calls, n.time, n.transfer, n.wait);
}

std::string collectives_text(const Job& job, const std::vector<RankNumbers>& ranks) {
  std::map<CollectiveKey, CollectiveNumbers> rows;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const Program& program = job.program(static_cast<i64>(rank));
    for (size_t i = 0; i < ranks[rank].collectives.size(); ++i) {
      const Collective& c = program.collectives[i];
      const CollectiveNumbers& own = ranks[rank].collectives[i];
      CollectiveNumbers& all = rows[{c.group, job.layout.group(c.group, static_cast<i64>(rank)), c.name,
                                     c.in_elements, c.out_elements, c.bytes}];
      all.calls += own.calls;
      all.time += own.time;
      all.transfer += own.transfer;
      all.wait += own.wait;
    }
  }
  std::string text;
  for (const auto& [key, numbers] : rows) {
    if (numbers.calls > 0) text += (text.empty() ? "\n" : ",\n") + collective_text(job.layout, key, numbers);
  }
  return text + (text.empty() ? "" : "\n  ");
}

std::string memory_text(const std::vector<RankNumbers>& ranks) {
  const auto by_rank = [&](const std::function<i64(const MemoryNumbers&)>& value) {
    return list(static_cast<i64>(ranks.size()),
                [&](i64 r) { return std::to_string(value(ranks[static_cast<size_t>(r)].memory)); });
  };
  std::string text =
      "    \"peak_time_ns\": " +
      by_rank([](const MemoryNumbers& n) { return kClockBase + kJobStart + n.at; }) +
      ",\n    \"peak_bytes\": " + by_rank([](const MemoryNumbers& n) { return kStaticBytes + n.bytes; }) +
      ",\n    \"before\": " + by_rank([](const MemoryNumbers&) { return kStaticBytes; });
  for (size_t use = 0; use < kMemoryUses; ++use)
    text += fmt::format(",\n    \"{}\": {}", kMemoryUseNames[use],
                        by_rank([&](const MemoryNumbers& n) { return n.by_use[use]; }));
  return text;
}

// How much longer each step of the job takes with something than without it, and their sum.
std::string effect_text(const char* name, i64 steps, const JobSteps& with, const JobSteps& without) {
  const size_t known = std::min(with.size(), without.size());
  std::optional<i64> total;
  if (known == static_cast<size_t>(steps)) total = 0;
  std::string text = fmt::format("\"{}_ns\": ", name) + list(steps, [&](i64 step) {
                       const auto s = static_cast<size_t>(step);
                       if (s >= known) return number_or_null({});
                       if (total) *total += with[s] - without[s];
                       return number_or_null(with[s] - without[s]);
                     });
  return text + fmt::format(", \"{}_total_ns\": {}", name, number_or_null(total));
}

std::string job_text(i64 steps, const Effects& effects) {
  const auto each = [&](const JobSteps& of) {
    return list(steps, [&](i64 step) {
      const auto s = static_cast<size_t>(step);
      return s < of.size() ? std::to_string(of[s]) : number_or_null({});
    });
  };
  return fmt::format("    \"step_ns\": {},\n    \"step_without_faults_ns\": {},\n    {}", each(effects.job),
                     each(effects.job_without_faults),
                     effect_text("effect", steps, effects.job, effects.job_without_faults));
}

std::string fault_text(const Job& job, size_t f, const std::vector<RankNumbers>& ranks,
                       const Effects& effects) {
  const Fault& fault = job.spec.faults[f];
  const FaultEffect& effect = effects.faults[f];
  const auto& without = effect.steps_without;
  const auto each = [&](const std::function<std::string(size_t, size_t)>& value) {
    return list(job.spec.ranks, [&](i64 r) {
      return list(job.spec.steps,
                  [&](i64 s) { return value(static_cast<size_t>(r), static_cast<size_t>(s)); });
    });
  };
  std::string text =
      fmt::format("    {{\"fault\": {}, \"type\": {},\n     \"injected_ns\": ", quoted(fault.text),
                  quoted(kind_of(fault.type).name));
  text += each([&](size_t r, size_t s) {
    return std::to_string(ranks[r].injected[f * static_cast<size_t>(job.spec.steps) + s]);
  });
  text += ",\n     \"effect_ns\": ";
  text += each([&](size_t r, size_t s) {
    const auto& steps = ranks[r].steps;
    if (s >= steps.size() || steps[s].step < 0 || s >= without[r].size()) return number_or_null({});
    return number_or_null(steps[s].step - without[r][s]);
  });
  const i64 steps = job.spec.steps;
  text += ",\n     " + effect_text("job_effect", steps, effects.job, effect.job_without);
  text += ",\n     " +
          effect_text("job_effect_alone", steps, effect.job_with_it_alone, effects.job_without_faults);
  return text + "}";
}

}  // namespace

std::string truth_text(const Job& job, const std::vector<std::string>& files,
                       const std::vector<RankNumbers>& ranks, const Effects& effects) {
  const Spec& spec = job.spec;
  std::string text =
      fmt::format("{{\n  \"version\": 1,\n  \"exact\": {},\n  \"options\": {},\n  \"ranks\": {},\n",
                  !spec.era->whole_us && spec.clock_offset == 0, spec_text(spec), spec.ranks);
  text += "  \"hosts\": " + list(spec.ranks, [&](i64 r) { return quoted(job.layout.host(r)); });
  text += ",\n  \"files\": " + list(spec.ranks, [&](i64 r) {
            return spec.omits(r) ? number_or_null({}) : quoted(files[static_cast<size_t>(r)]);
          });
  if (spec.clock_offset > 0) text += clocks_text(job);
  text += ",\n  \"events\": " +
          list(spec.ranks, [&](i64 r) { return std::to_string(ranks[static_cast<size_t>(r)].events); });
  if (spec.all_shapes)
    text += ",\n  \"step_flops\": " +
            list(spec.ranks, [&](i64 r) { return std::to_string(job.program(r).flops); });
  text += fmt::format(",\n  \"groups\": {{{}}}", groups_text(job.layout));
  text += ",\n  \"steps\": " + list(spec.steps, [&](i64 s) { return std::to_string(spec.first_step + s); });
  if (spec.inference) text += fmt::format(",\n  \"iterations\": [\n{}\n  ]", iterations_text(spec));
  text += fmt::format(",\n  \"by_rank_and_step\": {{\n{}\n  }}", schedule_text(ranks));
  text += fmt::format(",\n  \"by_rank\": {{\n{}\n  }}", whole_text(ranks));
  text += fmt::format(",\n  \"collectives\": [{}]", collectives_text(job, ranks));
  if (spec.all_memory_events)
    text += fmt::format(",\n  \"memory_at_peak\": {{\n{}\n  }}", memory_text(ranks));
  text += fmt::format(",\n  \"job\": {{\n{}\n  }}", job_text(spec.steps, effects));
  text += ",\n  \"faults\": [";
  for (size_t f = 0; f < spec.faults.size(); ++f)
    text += (f > 0 ? ",\n" : "\n") + fault_text(job, f, ranks, effects);
  return text + (spec.faults.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

}  // namespace spotter::simulate
