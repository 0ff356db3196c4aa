// The answer to a what-if: the sentence, then the steps.
#include "report/list.h"

namespace spotter::report {
namespace {

std::vector<Part> parts(const Subject& subject) {
  Points points;
  for (const Note& note : subject.what_if->notes.all())
    if (note.kind.starts_with(diagnose::kWhatIfTable)) points.push_back({note.sentence + "."});
  std::vector<Part> all = {points};
  if (subject.what_if->rows() > 0) all.emplace_back(*subject.what_if);
  return all;
}

}  // namespace

const Section kAnswer = {
    .name = "answer",
    .is_shown = [](const Subject& subject) { return subject.what_if != nullptr; },
    .title = [](const Subject&) { return std::string("What if"); },
    .parts = parts,
};

}  // namespace spotter::report
