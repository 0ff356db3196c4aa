#include <algorithm>
#include <map>

#include "base/saturated.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

// Of the roofline: what operators reach that are long enough to fill their device. cuBLAS and the like come
// to 60 to 80 % of a data sheet's peak in large products, streaming kernels to 80 to 90 % of its bandwidth.
constexpr double kAttainable = 0.7;
constexpr double kLow = 0.4;      // below it, something other than the usual losses is at work
constexpr Ns kLongCall = 50'000;  // shorter ones do not fill a device: that is no matter of efficiency

// Of a rank: what its slow operators take, and would at what is attainable.
struct Slow {
  Ns device = 0;
  i64 operators = 0;  // with their shapes
  double excess = 0;
  const OperatorRate* worst = nullptr;  // that has most of it
  double most = 0;
};

std::map<i64, Slow> slow_by_rank(const JobModel& model) {
  std::map<i64, Slow> ranks;
  for (const OperatorRate& one : model.evidence.operators) {
    if (one.ratio <= 0 || one.ratio >= kLow || one.calls == 0 || one.device / one.calls < kLongCall) continue;
    const double excess = static_cast<double>(one.device) * (1 - one.ratio / kAttainable);
    Slow& slow = ranks[one.rank];
    slow.device = add_saturated(slow.device, one.device);
    slow.excess += excess;
    ++slow.operators;
    if (excess <= slow.most) continue;
    slow.most = excess;
    slow.worst = &one;
  }
  return ranks;
}

// Of "[[64, 32], [64, 32], []]": "2 × [64, 32]". What is no tensor has no shape.
std::string shapes_words(std::string_view list) {
  std::vector<std::pair<std::string_view, int>> shapes;
  while (!list.empty()) {
    const size_t end = list.find(']');
    if (end == std::string_view::npos) break;
    const size_t begin = list.rfind('[', end);
    const std::string_view shape =
        begin == std::string_view::npos ? "[]" : list.substr(begin, end + 1 - begin);
    list.remove_prefix(end + 1);
    if (shape == "[]") continue;
    if (shapes.empty() || shapes.back().first != shape)
      shapes.emplace_back(shape, 1);
    else
      ++shapes.back().second;
  }
  std::string words;
  for (const auto& [shape, times] : shapes)
    words +=
        fmt::format("{}{}{}", words.empty() ? "" : ", ", times > 1 ? fmt::format("{} × ", times) : "", shape);
  return words;
}

// By what keeps such an operator below its peak.
std::string remedy_of(const OperatorRate& one) {
  const auto has = [&](std::string_view word) { return one.name.find(word) != std::string::npos; };
  std::vector<std::string_view> ways;
  if (one.dtype == "float32" && one.bound == "compute")
    ways.emplace_back(
        "compute in bfloat16 (torch.autocast) or allow TF32 (torch.set_float32_matmul_precision(\"high\"))");
  const bool is_attention = has("attention") || has("flash_attn");
  if (is_attention) {
    ways.emplace_back("give attention more or longer sequences in a call");
    if (!has("cudnn"))
      ways.emplace_back("try its other kernels (torch.nn.attention.sdpa_kernel), such as cuDNN's");
  } else if (has("conv"))
    ways.emplace_back(
        "keep tensors in channels_last, and let torch.backends.cudnn.benchmark choose the algorithm");
  else if (one.bound == "memory" && (has("mm") || has("matmul") || has("linear")))
    ways.emplace_back("give it more rows in a call (larger batches): it waits for its operands");
  else if (one.bound == "memory")
    ways.emplace_back("keep its operands contiguous, and fuse it with what is around it (torch.compile)");
  else
    ways.emplace_back("make sizes multiples of 64 or more, operands contiguous, and batches larger");
  if (!is_attention) ways.emplace_back("torch.compile(mode=\"max-autotune\") tries other kernels");
  std::string text = fmt::format("{}.", fmt::join(ways, "; "));
  text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

Ns device_of(const JobModel& model, u32 r) {
  Ns device = 0;
  for (u32 s = 0; s < model.cells.steps(r); ++s) device = add_saturated(device, model.cells.at(r, s).device);
  return device;
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  const std::map<i64, Slow> by_rank = slow_by_rank(model);
  std::vector<std::pair<u32, double>> kept;  // rank, part of its device's time that stays
  const Slow* worst = nullptr;
  for (u32 r = 0; r < model.job.ranks.size(); ++r) {
    const auto slow = by_rank.find(model.job.ranks[r].rank.value_or(-1));
    const Ns device = device_of(model, r);
    if (slow == by_rank.end() || device <= 0) continue;
    kept.emplace_back(r, std::max(0.0, 1 - slow->second.excess / static_cast<double>(device)));
    if (!worst || slow->second.excess > worst->excess) worst = &slow->second;
  }
  if (kept.empty()) return {};
  Candidate c;
  for (const auto& [r, part] : kept) c.ranks.push_back(r);
  c.subject = worst->worst->name;
  const OperatorRate& first = *worst->worst;
  const std::string shapes = render::short_name(shapes_words(first.shapes), 40);
  c.what =
      fmt::format("{} ({}{}{}) reaches {} of what its device can do{}; at {}, which such work can reach",
                  c.subject, first.dtype, shapes.empty() ? "" : ", ", shapes, percent_of(first.ratio),
                  worst->operators > 1 ? fmt::format(", and {} more {} under {}", worst->operators - 1,
                                                     worst->operators > 2 ? "are" : "is", percent_of(kLow))
                                       : "",
                  percent_of(kAttainable));
  c.remedy = remedy_of(first);
  c.is_opportunity = true;
  c.undo = [&model, kept](analyze::Scenario& s) {
    for (const auto& [r, part] : kept)
      for (u32 step = 0; step < model.cells.steps(r); ++step) s.device[model.step_index(r, step)] *= part;
  };
  return {std::move(c)};
}

}  // namespace

const Mechanism kLowEfficiency = {
    .name = "low_efficiency",
    .summary =
        "Operators whose calls run 50 µs or longer on the device reach under 40 % of their roofline: of the peak of their type or of the memory's bandwidth, whichever is nearer "
        "(operator_efficiency; shapes must be recorded and the device known). What the job would gain if they reached 70 % of it, as large products and streaming kernels "
        "do. What one device does more slowly than its peers is slow_device.",
    .remedy = "",  // each has its own
    .evidence = "--table operator_efficiency",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose
