#include "sink/json_lines.h"

#include <cmath>
#include <functional>

#include "base/moment.h"
#include "base/text/quantity.h"
#include "base/time.h"
#include "render/json_text.h"
#include "sink/dynolog_names.h"
#include "sink/host_name.h"
#include "sink/line_file.h"
#include "sink/list.h"

namespace spotter::sink {
namespace {

bool has_number(const Value& value) {
  const double* real = std::get_if<double>(&value);
  return !is_null(value) && (!real || std::isfinite(*real));
}

class JsonLines : public Sink {
 public:
  using Format = std::function<std::string(const Share&)>;
  JsonLines(LineFileOptions options, Format format) : file_(std::move(options)), format_(std::move(format)) {}

  Delivery deliver(std::span<const Share> shares) override {
    for (size_t i = 0; i < shares.size(); ++i) {
      // Once: some formats are of what has changed since the last one.
      if (shares[i].batch != formatted_) text_ = format_(shares[i]);
      formatted_ = shares[i].batch;
      const auto written = file_.write(text_);
      if (!written && i == 0) return {.result = written};
      if (!written) return {.batches = i};
    }
    return {.batches = shares.size()};
  }

  void interrupt() override { file_.interrupt(); }

 private:
  LineFile file_;
  Format format_;
  SharedBatch formatted_;
  std::string text_;
};

constexpr const char* kDynolog = "dynolog";

Result<void> are_names(const std::string& value) {
  if (value == "spotter" || value == kDynolog) return {};
  return fail(Code::invalid, "\"{}\" is neither spotter nor dynolog", value);
}

Result<void> is_small_count(const std::string& value) {
  TRY(parse_number(value, 0, 1000));
  return {};
}

constexpr Setting kOptions[] = {
    {"names", "spotter",
     "spotter: a line for each row of each table; dynolog: the records that Dynolog logs, with its names.",
     are_names},
    {"path", "-", "File that the lines are appended to; - is standard output.", is_path},
    {"rotate_size", "100M", "A file that is larger is renamed to NAME.1, NAME.1 to NAME.2 and so on.",
     is_size},
    {"rotate_files", "5", "Renamed files that are kept.", is_small_count},
};

}  // namespace

std::string json_lines(const Share& share, std::string_view host_name) {
  std::string head = "{\"time\":";
  append_json_text(head, utc_text(share.batch->unix_ns));
  head += ",\"host\":";
  append_json_text(head, host_name);
  std::string out;
  for (const Table* table : share.tables) {
    for (size_t row = 0; row < table->rows(); ++row) {
      out += head;
      out += ",\"table\":";
      append_json_text(out, table->name());
      for (size_t c = 0; c < table->columns(); ++c) {
        const Value value = table->at(row, c);
        if (!has_number(value)) continue;
        out += ',';
        append_json_text(out, table->schema()[c].name);
        out += ':';
        render::append_json_value(out, value);
      }
      out += "}\n";
    }
  }
  return out;
}

std::unique_ptr<Sink> json_lines_file(LineFileOptions file, std::string host_name) {
  return std::make_unique<JsonLines>(
      std::move(file), [host = std::move(host_name)](const Share& share) { return json_lines(share, host); });
}

const SinkKind kJsonLines = {
    "json_lines",
    "Lines of JSON in a file or on standard output.",
    [](const Settings& settings) -> Ns {
      constexpr Ns kUsual = 10 * kSecond, kDynologs = kMinute;
      return settings.at("names") == kDynolog ? kDynologs : kUsual;
    },
    false,
    kOptions,
    [](const Settings& settings, const Surroundings& s) -> Result<std::unique_ptr<Sink>> {
      LineFileOptions options;
      options.path = settings.at("path");
      options.most_bytes = parse_size(settings.at("rotate_size")).value_or(1);
      options.old_files = whole_number(settings.at("rotate_files")).value_or(0);
      if (settings.at("names") == kDynolog) {
        return std::make_unique<JsonLines>(
            std::move(options),
            [names = std::make_shared<DynologNames>()](const Share& share) { return names->lines(share); });
      }
      return json_lines_file(std::move(options), host_name(s));
    },
    "path",
};

}  // namespace spotter::sink
