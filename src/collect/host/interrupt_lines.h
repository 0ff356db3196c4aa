// The lines of /proc/interrupts and /proc/softirqs: a header that names the online processors, then a label,
// a count for each processor and a text. With 256 processors and 2,000 lines that is 6 MB, so it is read
// piece by piece and never held whole.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/system/descriptor.h"
#include "base/types.h"

namespace spotter::collect {

struct InterruptLine {
  std::string_view label;  // "24", "NMI", "NET_RX"
  std::string_view text;   // "PCI-MSIX-0000:00:01.0    0-edge      virtio0-config"
  i64 count = 0;           // of all processors
};

// The file stays open, and is opened anew after it could not be read.
class InterruptFile {
 public:
  explicit InterruptFile(std::string path) : path_(std::move(path)) {}

  // A hash of the processors and labels: another one means that counters came or went. Lines that are none
  // are skipped. Errors: not_found, denied, io; corrupt where there is no header.
  Result<u64> read(const std::function<void(const InterruptLine&)>& take);

 private:
  Result<u64> read_open(const std::function<void(const InterruptLine&)>& take);

  std::string path_;
  Descriptor file_;
  std::vector<char> buffer_;
};

// Of the text of a device's line: what the drivers call it, "ehci_hcd:usb1, i801_smbus"; empty: nobody has
// it.
std::string_view action_of(std::string_view text);

// The first word of that without the number of device and queue: "mlx5_comp" of
// "mlx5_comp12@pci:0000:18:00.0", "nvme" of "nvme0q12", "virtio" of "virtio0-config".
std::string_view device_class_of(std::string_view text);

}  // namespace spotter::collect
