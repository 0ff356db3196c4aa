// file: the message as text, appended to a file, or written to standard output.
#include "base/moment.h"
#include "notify/list.h"
#include "notify/message.h"
#include "sink/line_file.h"

namespace spotter::notify {
namespace {

class File : public Notifier {
 public:
  File(std::string path, Surroundings surroundings)
      : file_({.path = std::move(path), .mode = 0640}), surroundings_(std::move(surroundings)) {}

  Outcome tell(const Telling& telling, std::string& /*kept*/) override {
    return write(
        fmt::format("-- {} {}.{}\n", utc_text(telling.at), telling.incident.id(), telling.incident.sequence) +
        text_of(message_of(telling, surroundings_)));
  }
  void interrupt() override { file_.interrupt(); }

 private:
  Outcome write(const std::string& text) {
    const auto written = file_.write(text);
    return written ? Outcome{} : Outcome{Outcome::Kind::again, written.error().message};
  }

  sink::LineFile file_;
  Surroundings surroundings_;
};

constexpr Setting kSettings[] = {
    {"path", "-", "The file; \"-\" is standard output. It is rotated at 100 MB.", is_path},
};

}  // namespace

const NotifierKind kFile = {
    "file",
    "A file, or the terminal: the message as text.",
    kSettings,
    [](const Settings& settings, const Surroundings& surroundings) -> Result<std::unique_ptr<Notifier>> {
      return std::make_unique<File>(settings.at("path"), surroundings);
    },
};

}  // namespace spotter::notify
