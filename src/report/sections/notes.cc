// What was lost, mended or is worth knowing, and no finding tells.
#include "report/list.h"

namespace spotter::report {

const Section kUntoldNotes = {
    .name = "notes",
    .is_shown = [](const Subject& s) { return !diagnose::notes_beside_findings(s.facts.notes).empty(); },
    .title = [](const Subject&) { return std::string("Notes"); },
    .parts = [](const Subject& s) -> std::vector<Part> {
      return {diagnose::notes_beside_findings(s.facts.notes)};
    },
};

}  // namespace spotter::report
