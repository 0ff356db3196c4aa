// A capture as the history keeps it: as a whole.
#pragma once
#include "capture/capture.h"
#include "store/catalogue.h"

namespace spotter::agent {

store::CaptureNote note_of(const capture::Capture& capture);

}  // namespace spotter::agent
