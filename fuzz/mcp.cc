// What a client sends: each line is answered by one line of JSON, or by none, within the bounds.
#include <cstdlib>

#include "mcp/answer.h"
#include "mcp/dispatcher.h"
#include "mcp/test_world.h"
#include "wire/json.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  using namespace spotter::mcp;
  static World world = world_of(findings_of({{"slow_device", "fault", "3", "x"}}));
  Connection connection;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    for (const auto& part : read_messages(line, connection).parts) {
      const auto* refused = std::get_if<std::string>(&part);
      const std::string reply =
          refused ? *refused : answer(std::get<Message>(part), {world, connection}).text;
      if (reply.empty()) continue;
      if (!spotter::wire::read_object(reply) || reply.size() > kMoreBytes + 4096 ||
          reply.find('\n') != std::string::npos)
        std::abort();
    }
  }
  return 0;
}
