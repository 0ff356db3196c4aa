#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/pause_sums.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

std::vector<Candidate> find_candidates(const JobModel& model) {
  const auto all =
      pauses_by_rank(model, [](const PauseAt& p) { return p.kind == analyze::Cause::compilation; });
  if (all.empty()) return {};
  const PauseFacts facts = facts_of(model, all);
  Candidate c;
  c.ranks = ranks_of(all);
  c.steps = few_steps(model, all);
  c.subject = facts.first.name;
  c.what = fmt::format(
      "{} {} code within the recording, {} in all{}", who(model, c.ranks),
      c.ranks.size() == 1 || are_all(model, c.ranks) ? "compiles or loads" : "compile or load",
      human(facts.host / static_cast<Ns>(c.ranks.size())),
      c.steps.empty()
          ? ""
          : fmt::format(", in {} {}", c.steps.size() == 1 ? "step" : "steps", steps_text(c.steps)));
  c.is_named = true;
  if (c.steps.size() == 1 && c.steps[0] == model.step_number(c.ranks[0], 0))
    c.against = "it is the first step of the recording: it may be warming up";
  c.undo = [&model, all](analyze::Scenario& s) { end_pauses(model, all, s); };
  return {std::move(c)};
}

}  // namespace

const Mechanism kCompilation = {
    .name = "compilation",
    .summary =
        "The host launches nothing while torch.compile (spans of dynamo_timed, Inductor, Triton) compiles, or while the driver loads code (cuModuleLoad..., cuLibraryLoad...). In a program "
        "with compiled regions also a silence in which the driver loads functions, or in which operators run on tensors without data, as they do while a graph is traced.",
    .remedy =
        "Warm up before it counts; TORCH_LOGS=recompiles says why a graph is compiled again: mark dynamic shapes, pad to a few sizes, keep caches.",
    .evidence = "--table call_tree",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose
