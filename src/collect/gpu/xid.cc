#include "collect/gpu/xid.h"

#include <algorithm>
#include <iterator>

namespace spotter::collect {
namespace {

constexpr std::string_view kInfo = "info", kError = "error", kCritical = "critical";

constexpr struct {
  i64 xid;
  Xid what;
} kXids[] = {
    {8, {kCritical, "the GPU stopped processing"}},
    {11, {kError, "invalid or corrupted push buffer stream"}},
    {12, {kCritical, "driver error while handling a GPU exception"}},
    {13, {kError, "graphics engine exception: mostly an address out of range in a kernel"}},
    {16, {kError, "display engine hung"}},
    {18, {kCritical, "bus mastering is off in PCI configuration space"}},
    {19, {kError, "display engine error"}},
    {25, {kError, "invalid or illegal push buffer stream"}},
    {27, {kCritical, "memory interface error"}},
    {31, {kError, "memory page fault: a kernel used an address that is not mapped"}},
    {32, {kError, "corrupted push buffer: driver, bus or memory"}},
    {38, {kCritical, "driver firmware error"}},
    {43, {kError, "a process's work was stopped: mostly a fault of the program"}},
    {44, {kError, "graphics engine fault during a context switch"}},
    {45, {kInfo, "a process was ended and its channels removed: follows other errors"}},
    {46, {kCritical, "the GPU stopped processing"}},
    {48, {kCritical, "memory error of two bits (ECC): not correctable"}},
    {54, {kCritical, "auxiliary power is not connected"}},
    {56, {kError, "display engine error"}},
    {57, {kCritical, "error while programming the video memory interface"}},
    {58, {kCritical, "unstable video memory interface, or a memory error"}},
    {61, {kCritical, "internal microcontroller halted with a breakpoint"}},
    {62, {kCritical, "internal microcontroller halted"}},
    {63, {kInfo, "a memory page is retired or a row remapped after errors"}},
    {64, {kCritical, "a memory page could not be retired or a row not remapped"}},
    {68, {kError, "video processor exception"}},
    {69, {kError, "graphics engine class error"}},
    {74, {kCritical, "NVLink error"}},
    {78, {kCritical, "virtual GPU could not start"}},
    {79, {kCritical, "the GPU has fallen off the bus: it cannot be reached"}},
    {80, {kCritical, "corrupted data sent to the GPU"}},
    {92, {kInfo, "many corrected memory errors"}},
    {94, {kError, "memory error that is contained: only its process ends"}},
    {95, {kCritical, "memory error that is not contained: the GPU needs a reset"}},
    {109, {kError, "context switch timed out"}},
    {110, {kCritical, "security fault"}},
    {119, {kCritical, "the GPU's system processor (GSP) did not answer in time"}},
    {120, {kCritical, "error of the GPU's system processor (GSP)"}},
    {121, {kInfo, "corrected error between the chips (C2C)"}},
    {122, {kError, "a read of the board's SPI failed"}},
    {123, {kError, "a write to the board's SPI failed"}},
    {136, {kCritical, "training of an NVLink link failed (ALI)"}},
    {137, {kError, "an address that a peer used over NVLink is not allowed (FLA)"}},
    {140, {kCritical, "memory error that could not be recovered (ECC)"}},
    {143, {kCritical, "the GPU could not be initialised"}},
    {144, {kCritical, "NVLink error (unit SAW)"}},
    {145, {kCritical, "NVLink error (unit RLW)"}},
    {146, {kCritical, "NVLink error (unit TLW)"}},
    {147, {kCritical, "NVLink error (unit TREX)"}},
    {148, {kCritical, "NVLink error (unit NVLPW_CTRL)"}},
    {149, {kCritical, "NVLink error (unit NETIR)"}},
    {150, {kCritical, "NVLink error (unit MSE)"}},
    {151, {kInfo, "a key rotation failed"}},
    {154, {kCritical, "the driver says what the GPU needs to recover: see the kernel's log"}},
    {155, {kInfo, "NVLink error that software defines"}},
    {156, {kInfo, "a resource of the GPU is retired"}},
    {157, {kCritical, "a resource of the GPU could not be retired"}},
    {158, {kCritical, "fatal timeout on the GPU"}},
    {159, {kCritical, "error on the coherent bus (CHI)"}},
    {160, {kInfo, "a memory channel is retired"}},
    {161, {kCritical, "a memory channel could not be retired"}},
};

}  // namespace

Xid xid_of(i64 number) {
  const auto it = std::ranges::find(kXids, number, [](const auto& entry) { return entry.xid; });
  return it == std::end(kXids) ? Xid{kError, {}} : it->what;
}

}  // namespace spotter::collect
