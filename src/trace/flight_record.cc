#include "trace/flight_record.h"

#include "trace/facts/collective_marks.h"

namespace spotter {

bool FlightRecord::Call::has_ended() const {
  if (state == State::completed) return true;
  return is_retired && trace::backend_of_mark(name).backend == trace::CollectiveBackend::on_host;
}

}  // namespace spotter
