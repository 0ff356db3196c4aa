#include "collect/host/cpu_model.h"

#include "base/text/number.h"
#include "base/text/words.h"
#include "collect/kernel_file.h"

namespace spotter::collect {
namespace {

// "143" or "0x41".
i64 number_of(std::string_view word) {
  if (!word.starts_with("0x")) return to_integer(word).value_or(-1);
  word.remove_prefix(2);
  return number_in<i64>(word, 16).value_or(-1);
}

}  // namespace

CpuModel read_cpu_model(const Host& host) {
  CpuModel cpu;
  KernelFile file(host.proc + "/cpuinfo");
  const Result<std::string_view> read = file.read();
  if (!read) return cpu;
  std::string_view text = *read;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    const size_t colon = line.find(':');
    if (colon == line.npos) {
      if (!cpu.vendor.empty()) break;  // the end of the first processor
      continue;
    }
    const std::string_view key = trimmed(line.substr(0, colon)), value = trimmed(line.substr(colon + 1));
    if (key == "vendor_id") cpu.vendor = value;
    if (key == "cpu family") cpu.family = number_of(value);
    if (key == "model") cpu.model = number_of(value);
    if (key == "CPU implementer") {
      cpu.vendor = "Arm";
      cpu.family = number_of(value);
    }
    if (key == "CPU part") cpu.model = number_of(value);
  }
  return cpu;
}

}  // namespace spotter::collect
