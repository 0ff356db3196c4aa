#include "collect/gpu/xid.h"

namespace spotter::collect {
namespace {

constexpr struct {
  i64 xid;
  std::string_view meaning;
} kMeanings[] = {
    {8, "the GPU stopped processing"},
    {11, "invalid or corrupted push buffer stream"},
    {12, "driver error while handling a GPU exception"},
    {13, "graphics engine exception: mostly an address out of range in a kernel"},
    {16, "display engine hung"},
    {18, "bus mastering is off in PCI configuration space"},
    {19, "display engine error"},
    {25, "invalid or illegal push buffer stream"},
    {27, "memory interface error"},
    {31, "memory page fault: a kernel used an address that is not mapped"},
    {32, "corrupted push buffer: driver, bus or memory"},
    {38, "driver firmware error"},
    {43, "a process's work was stopped: mostly a fault of the program"},
    {44, "graphics engine fault during a context switch"},
    {45, "a process was ended and its channels removed: follows other errors"},
    {46, "the GPU stopped processing"},
    {48, "memory error of two bits (ECC): not correctable"},
    {54, "auxiliary power is not connected"},
    {56, "display engine error"},
    {57, "error while programming the video memory interface"},
    {58, "unstable video memory interface, or a memory error"},
    {61, "internal microcontroller halted with a breakpoint"},
    {62, "internal microcontroller halted"},
    {63, "a memory page is retired or a row remapped after errors"},
    {64, "a memory page could not be retired or a row not remapped"},
    {68, "video processor exception"},
    {69, "graphics engine class error"},
    {74, "NVLink error"},
    {78, "virtual GPU could not start"},
    {79, "the GPU has fallen off the bus: it cannot be reached"},
    {80, "corrupted data sent to the GPU"},
    {92, "many corrected memory errors"},
    {94, "memory error that is contained: only its process ends"},
    {95, "memory error that is not contained: the GPU needs a reset"},
    {109, "context switch timed out"},
    {110, "security fault"},
    {119, "the GPU's system processor (GSP) did not answer in time"},
    {120, "error of the GPU's system processor (GSP)"},
    {121, "corrected error between the chips (C2C)"},
    {122, "a read of the board's SPI failed"},
    {123, "a write to the board's SPI failed"},
    {136, "training of an NVLink link failed (ALI)"},
    {137, "an address that a peer used over NVLink is not allowed (FLA)"},
    {140, "memory error that could not be recovered (ECC)"},
    {143, "the GPU could not be initialised"},
    {144, "NVLink error (unit SAW)"},
    {145, "NVLink error (unit RLW)"},
    {146, "NVLink error (unit TLW)"},
    {147, "NVLink error (unit TREX)"},
    {148, "NVLink error (unit NVLPW_CTRL)"},
    {149, "NVLink error (unit NETIR)"},
    {150, "NVLink error (unit MSE)"},
    {151, "a key rotation failed"},
    {154, "the driver says what the GPU needs to recover: see the kernel's log"},
    {155, "NVLink error that software defines"},
    {156, "a resource of the GPU is retired"},
    {157, "a resource of the GPU could not be retired"},
    {158, "fatal timeout on the GPU"},
    {159, "error on the coherent bus (CHI)"},
    {160, "a memory channel is retired"},
    {161, "a memory channel could not be retired"},
};

}  // namespace

std::string_view xid_meaning(i64 xid) {
  for (const auto& entry : kMeanings) {
    if (entry.xid == xid) return entry.meaning;
  }
  return {};
}

}  // namespace spotter::collect
