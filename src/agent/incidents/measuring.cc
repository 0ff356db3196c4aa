#include "agent/incidents/measuring.h"

#include <utility>

namespace spotter::agent {
namespace {

constexpr size_t kMostAtOnce = 4;

}  // namespace

void Measuring::ask(const respond::Incident& incident, const respond::Chosen& whom,
                    std::function<void(const Result<Investigated>&)> done) {
  const std::string id = incident.id();
  if (options_.program.empty() || asked_.size() >= kMostAtOnce || asked_.contains(id))
    return done(fail(Code::busy, "too much is asked for"));
  const InvestigationOrder order{.program = options_.program,
                                 .socket = options_.socket,
                                 .job = incident.job.id,
                                 .ranks = whom.ranks,
                                 .hosts = whom.hosts,
                                 .credentials = options_.credentials,
                                 .only_measured = true,
                                 .slow_since = incident.symptom.since};
  auto begun = Investigation::start(loop_, order, [this, id, done](const Result<Investigated>& investigated) {
    const auto kept = asked_.extract(id);  // until this has returned
    done(investigated);
  });
  if (!begun) return done(tl::unexpected(begun.error()));
  asked_[id] = std::move(*begun);
}

}  // namespace spotter::agent
