// Any answer of NCCL's RAS: what is taken of it is within its bounds, and an answer is stuck only where it
// says that ranks have launched fewer than others.
#include "wire/nccl_ras.h"

#include "base/result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace spotter;
  const auto answer = wire::read_ras_answer({reinterpret_cast<const char*>(data), size});
  if (!answer) return 0;
  for (const wire::RasCommunicator& communicator : answer->communicators)
    CHECK(communicator.ranks.size() + communicator.missing.size() <= size);
  for (const wire::StuckRanks& stuck : wire::stuck_ranks(*answer, *answer)) {
    CHECK(stuck.launched <= stuck.most);
    CHECK(stuck.ranks.size() <= size);
  }
  return 0;
}
