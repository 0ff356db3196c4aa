#include "wire/mapped_shard.h"

#include <bit>
#include <cstring>
#include <stdexcept>

#include "analyze/list.h"
#include "base/text/utf8.h"
#include "base/version.h"
#include "base/zstd_frame.h"
#include "wire/file_results.h"
#include "wire/json.h"
#include "wire/notes_json.h"

namespace spotter::wire {
namespace {

namespace json = boost::json;
using analyze::MappedShard;

constexpr std::string_view kMagic = "spotter part 1\n";
constexpr int kLevel = 3;
constexpr Writer kWriter = {"its writer", "use one program for `map` and `reduce`"};
constexpr i64 kMostShards = i64{1} << 20;

std::string length_of(std::string_view frame) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8)
    bytes.push_back(static_cast<char>(u64{frame.size()} >> shift & 0xff));
  return bytes;
}

// Takes it off the front.
std::optional<std::string_view> next_frame(std::string_view& bytes) {
  constexpr size_t kLength = 8;
  if (bytes.size() < kLength) return {};
  u64 size = 0;
  for (size_t i = 0; i < kLength; ++i) size |= u64{static_cast<u8>(bytes[i])} << (8 * i);
  bytes.remove_prefix(kLength);
  if (size > bytes.size()) return {};
  const std::string_view frame = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return frame;
}

json::array ranges_json(const std::vector<analyze::Range>& ranges) {
  json::array all;
  for (const auto& [first, last] : ranges) all.push_back(json::array{first, last});
  return all;
}

json::object settings_json(const ParamSettings& settings) {
  json::object all;
  for (const auto& [name, value] : settings)
    std::visit([&all, &key = name](const auto& v) { all[key] = v; }, value);
  return all;
}

std::string header_text(const MappedShard& part) {
  json::array paths, job, records, analyses, places;
  for (const std::string& path : part.paths) paths.push_back(mended(path));
  for (const analyze::JobFile& file : part.job) job.push_back(json::array{mended(file.path), file.bytes});
  for (const FlightRecordFile& file : part.flight_records)
    records.push_back(json::array{mended(file.path), file.rank});
  for (size_t i = 0; i < part.tables.analyses.size(); ++i)
    analyses.push_back(json::array{part.tables.analyses[i]->name, settings_json(part.tables.settings[i])});
  for (const size_t place : part.places) places.push_back(i64{static_cast<i64>(place)});
  std::vector<analyze::Range> steps;
  if (part.tables.steps) steps.push_back(*part.tables.steps);
  return json::serialize(json::object{{"version", kVersion},
                                      {"shard", part.shard.number},
                                      {"shards", part.shard.count},
                                      {"paths", std::move(paths)},
                                      {"job", std::move(job)},
                                      {"flight_records", std::move(records)},
                                      {"notes", json_of(part.notes)},
                                      {"analyses", std::move(analyses)},
                                      {"ranks", ranges_json(part.tables.ranks)},
                                      {"steps", ranges_json(steps)},
                                      {"places", std::move(places)}});
}

// The functions below throw where a value has another type or form; read_shard() catches it.

std::vector<analyze::Range> ranges_in(const json::value& list) {
  std::vector<analyze::Range> ranges;
  for (const json::value& one : list.as_array()) {
    const json::array& ends = one.as_array();
    expect(ends.size() == 2, "a first and a last");
    ranges.push_back({ends[0].as_int64(), ends[1].as_int64()});
    expect(ranges.back().first <= ranges.back().last, "a range");
  }
  return ranges;
}

ParamSettings settings_in(const json::value& object, const Analysis& analysis) {
  ParamSettings settings;
  for (const auto& [key, value] : object.as_object()) {
    const std::string name(key.data(), key.size());
    if (value.is_string())
      settings.emplace_back(name, std::string(text_in(value)));
    else
      settings.emplace_back(name, value.as_int64());
  }
  expect(settings.size() == analysis.params.size(), "a value of each parameter");
  return settings;
}

Result<MappedShard> header_in(const json::object& object) {
  const std::string_view version = text_in(object.at("version"));
  if (version != kVersion)
    return fail(
        Code::unsupported,
        "it was written by spotter {}, but this is spotter {}; use one version for `map` and `reduce`",
        to_printable(version.substr(0, 32)), kVersion);
  MappedShard part;
  part.shard = {object.at("shard").as_int64(), object.at("shards").as_int64()};
  expect(0 < part.shard.count && part.shard.count <= kMostShards && 0 <= part.shard.number &&
             part.shard.number <= part.shard.count,
         "a shard");
  for (const json::value& path : object.at("paths").as_array()) part.paths.emplace_back(text_in(path));
  for (const json::value& file : object.at("job").as_array())
    part.job.push_back({std::string(text_in(file.as_array().at(0))), file.as_array().at(1).as_int64()});
  for (const json::value& file : object.at("flight_records").as_array())
    part.flight_records.push_back(
        {std::string(text_in(file.as_array().at(0))), file.as_array().at(1).as_int64()});
  size_t count = 0;
  part.notes = notes_in(object.at("notes"), count);
  for (const json::value& one : object.at("analyses").as_array()) {
    const std::string name(text_in(one.as_array().at(0)));
    const Analysis* analysis = analyze::find_analysis(name);
    if (!analysis)
      return fail(Code::unsupported, "it has tables of {}, which this build of spotter {} does not know",
                  to_printable(name), kVersion);
    part.tables.analyses.push_back(analysis);
    part.tables.settings.push_back(settings_in(one.as_array().at(1), *analysis));
  }
  part.tables.ranks = ranges_in(object.at("ranks"));
  const std::vector<analyze::Range> steps = ranges_in(object.at("steps"));
  expect(steps.size() <= 1, "one range of steps");
  if (!steps.empty()) part.tables.steps = steps[0];
  for (const json::value& place : object.at("places").as_array()) {
    const i64 at = place.as_int64();
    expect(0 <= at && static_cast<size_t>(at) < part.job.size() &&
               (part.places.empty() || part.places.back() < static_cast<size_t>(at)),
           "places in the job");
    part.places.push_back(static_cast<size_t>(at));
  }
  return part;
}

Result<MappedShard> read(std::string_view bytes) {
  constexpr const char* kCutOff = "it is cut off or damaged; run its `spotter map` again";
  if (!bytes.starts_with(kMagic)) return fail(Code::corrupt, "it is no part that `spotter map` has written");
  bytes.remove_prefix(kMagic.size());
  const auto text_of_next = [&]() -> Result<std::string> {
    const auto frame = next_frame(bytes);
    if (!frame) return fail(Code::corrupt, "{}", kCutOff);
    auto text = from_zstd_frame(*frame, kMostResultsBytes);
    if (!text) return fail(Code::corrupt, "{}", kCutOff);
    return std::move(*text);
  };
  TRY_ASSIGN(const std::string header, text_of_next());
  TRY_ASSIGN(const json::object object, read_object(header));
  TRY_ASSIGN(MappedShard part, header_in(object));
  while (part.files.size() < part.places.size()) {
    TRY_ASSIGN(const std::string text, text_of_next());
    TRY_ASSIGN(std::vector<analyze::FileResult> files,
               read_file_results(text, part.tables.analyses, kWriter));
    expect(files.size() == 1, "one file");
    for (Table& table : files[0].tables) table.pack();
    part.files.push_back(std::move(files[0]));
  }
  expect(bytes.empty(), "nothing behind the last file");
  return part;
}

}  // namespace

Result<void> write_shard(const MappedShard& part,
                         const std::function<Result<void>(std::string_view)>& write) {
  const auto write_frame = [&](std::string_view text) -> Result<void> {
    const std::string frame = zstd_frame(text, kLevel);
    TRY(write(length_of(frame)));
    return write(frame);
  };
  TRY(write(kMagic));
  TRY(write_frame(header_text(part)));
  for (const analyze::FileResult& file : part.files) {
    const std::string text = file_results_text(std::span(&file, 1), part.tables.analyses);
    if (text.size() > kMostResultsBytes)
      return fail(Code::invalid, "{}: its tables have {} bytes; {} at most: map fewer of those on request",
                  file.evidence.path, text.size(), kMostResultsBytes);
    TRY(write_frame(text));
  }
  return {};
}

Result<MappedShard> read_shard(std::string_view bytes) {
  try {
    return read(bytes);
  } catch (const std::invalid_argument& error) {
    return fail(Code::corrupt, "it is damaged: {} was expected", error.what());
  } catch (const std::exception&) {
    return fail(Code::corrupt, "it is damaged: a member is missing or of another type");
  }
}

}  // namespace spotter::wire
