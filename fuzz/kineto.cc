// Datagrams and config texts of any bytes (src/kineto): refused, or read and written back the same.
#include <cstdlib>

#include "kineto/config.h"
#include "kineto/message.h"

using namespace spotter;

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto message = kineto::decode({data, size})) {
    const std::string again = kineto::encode(*message);
    expect(again.substr(kineto::kHeaderBytes) == text.substr(kineto::kHeaderBytes));
  }
  Notes notes;
  if (const auto config = kineto::read_config(text, notes)) {
    const std::string written = kineto::config_text(*config);
    const auto back = kineto::read_config(written, notes);
    expect(back && kineto::config_text(*back) == written);
    kineto::output_path(config->log_file, 1);
    kineto::start_of(*config, 1'763'740'800'000);
  }
  return 0;
}
