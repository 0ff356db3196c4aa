// Assembler: appends blocks to the columns of a trace, in file order, and translates each scanner's own ids
// into the trace's. Ids are given out in order of first appearance in the file, so the columns do not depend
// on how the text was cut or on how many scanners shared it. One thread at a time.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "read/block.h"

namespace spotter::read {

class Assembler {
 public:
  // `most_texts`: of LoadRequest.
  explicit Assembler(size_t scanners, size_t most_texts = SIZE_MAX);

  // `text` is what the block was scanned from and `offset` its place in the file. Fails where a trace has
  // more events or arguments than row numbers of 32 bits can tell apart.
  Result<void> append(size_t scanner, const Block& block, const char* text, i64 offset);

  // For a block that is not wanted: its scanner will go on using the ids that it gave out there.
  void skip(size_t scanner, const Block& block) { learn(maps_[scanner], block); }

  TraceData data;

 private:
  struct Map {  // from a scanner's ids
    std::vector<StringId> strings{0};
    std::vector<u8> kinds;
    std::vector<u32> tracks;
    std::vector<ArgId> args;
    std::vector<u16> shapes;
  };
  struct ShapeKey {
    bool operator()(const std::vector<Shape::Item>& a, const std::vector<Shape::Item>& b) const;
  };
  void learn(Map& map, const Block& block);
  StringId intern(std::string_view text);
  u8 kind_of(Kind kind, StringId category);
  ArgId arg_of(const std::string& name);
  u16 shape_of(const Map& map, const Shape& shape);
  void limit_durations(std::span<Ns> durations);
  void note(const Block& block, const char* text, i64 offset);

  size_t most_texts_;
  std::string texts_left_out_;  // says so
  std::vector<Map> maps_;
  std::unordered_map<std::string, StringId> mended_;  // by the text as it was
  std::map<std::tuple<char, StringId, bool>, u8> kinds_;
  std::map<std::tuple<i64, i64, StringId, StringId>, u32> tracks_;
  std::unordered_map<std::string, ArgId> args_;
  std::map<std::vector<Shape::Item>, u16, ShapeKey> shapes_;
  std::vector<std::vector<u16>> text_cells_;  // per shape: cells that hold string ids
  u64 duration_units_ = 0;                    // of all events so far
};

}  // namespace spotter::read
