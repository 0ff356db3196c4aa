// Bodies of any bytes that others send about their alerts and changes (src/wire/alert_frame,
// src/wire/change): refused, or of bounded, printable texts.
#include <cstdlib>

#include "base/text/utf8.h"
#include "respond/alerts/alert_target.h"
#include "wire/alert_frame.h"
#include "wire/change.h"

using namespace spotter;

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  constexpr Ns kNow = 1'795'409'206 * kSecond;
  if (const auto frame = wire::read_alert_frame(bytes)) {
    const std::vector<respond::Resident> residents = {{.job = "4711", .rank = 0}};
    for (const respond::Alert& alert : frame->alerts) {
      expect(alert.summary.size() <= 200 && to_printable(alert.summary) == alert.summary);
      for (const auto& [name, value] : alert.labels) expect(to_printable(value) == value);
      const auto target = respond::target_of(alert, residents, "gpu01");
      expect(!target || target->job == "4711");
    }
  }
  if (const auto change = wire::read_change(bytes, kNow)) {
    expect(!change->change.what.empty() && change->change.what.size() <= respond::kMostChangeText);
    const auto again = wire::read_change(wire::change_text(*change), kNow);
    expect(again && wire::change_text(*again) == wire::change_text(*change));
    expect(wire::changes_table(std::span(&*change, 1)).rows() == 1);
  }
  return 0;
}
