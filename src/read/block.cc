#include "read/block.h"

namespace spotter::read {

void Block::clear() {
  events = cell_count = 0;
  texts.clear();
  new_strings.clear();
  new_kinds.clear();
  new_tracks.clear();
  new_args.clear();
  new_shapes.clear();
  damaged = repaired = negative_dur = sub_ns = bad_time = half_spans = no_category = not_finite =
      duplicate_key = args_left_out = kinds_left_out = {};
}

void Block::make_room(size_t more_events, size_t more_cells) {
  if (events + more_events > ts.capacity()) {
    const size_t n = events + more_events + 1024;
    ts.reserve(n, events);
    dur.reserve(n, events);
    name.reserve(n, events);
    track.reserve(n, events);
    first_cell.reserve(n, events);
    shape.reserve(n, events);
    kind.reserve(n, events);
  }
  if (cell_count + more_cells > cells.capacity()) cells.reserve(cell_count + more_cells + 4096, cell_count);
}

}  // namespace spotter::read
