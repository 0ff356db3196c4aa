#include "store/series/fold.h"

#include <algorithm>
#include <cmath>

namespace spotter::store {
namespace {

double number(const Value& value) {
  if (const i64* whole = std::get_if<i64>(&value)) return static_cast<double>(*whole);
  return std::get<double>(value);
}

bool is_nan(const Value& value) {
  const double* real = std::get_if<double>(&value);
  return real && std::isnan(*real);
}

// Seven digits: what a float tells, and short for the codec.
double rounded(double value) {
  constexpr double kPowers[] = {1,   1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                                1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};
  if (value == 0 || !std::isfinite(value)) return value;
  const double power = 6 - std::floor(std::log10(std::abs(value)));
  if (std::abs(power) >= std::size(kPowers)) return value;
  const double scale = kPowers[static_cast<size_t>(std::abs(power))];
  return power >= 0 ? std::nearbyint(value * scale) / scale : std::nearbyint(value / scale) * scale;
}

}  // namespace

void RowFolder::add_value(Cell& cell, Value value) {
  if (is_null(value)) return;
  if (const auto* text = std::get_if<std::string_view>(&value)) value = words_[words_.intern(*text)];
  cell.last = value;
  const bool is_number = std::holds_alternative<i64>(value) || std::holds_alternative<double>(value);
  if (!is_number || is_nan(value)) return;
  cell.sum += number(value);
  ++cell.count;
  if (is_null(cell.least) || value < cell.least) cell.least = value;
  if (is_null(cell.most) || value > cell.most) cell.most = value;
}

void RowFolder::add_row(const Block& block, size_t row, Open& open) {
  const i64 step = window_of(block.times[row], step_);
  if (open.cells.empty()) {
    open.cells.resize(folding_.from.size());
  } else if (step != open.step) {
    emit(open);
  }
  open.step = step;
  open.last_time = block.times[row];
  for (size_t i = 0; i < open.cells.size(); ++i) add_value(open.cells[i], block.at(row, folding_.from[i]));
}

void RowFolder::add(const Block& block) {
  const Grouping grouping = group(block);
  std::string key;
  for (size_t entity = 0; entity < grouping.entities(); ++entity) {
    key.clear();
    append_entity(block, grouping.of(entity).front(), key);
    Open& open = open_[key];
    for (const u32 row : grouping.of(entity)) add_row(block, row, open);
  }
}

void RowFolder::emit(Open& open) {
  std::vector<Value> row;
  for (size_t i = 0; i < open.cells.size(); ++i) {
    Cell& cell = open.cells[i];
    const StoredField& field = folding_.target->fields[i];
    Value value = cell.last;
    if (field.fold == Fold::least) value = cell.least;
    if (field.fold == Fold::most) value = cell.most;
    if (field.fold == Fold::mean) {
      value = {};
      if (cell.count > 0) {
        const double least = number(cell.least), most = number(cell.most);
        const double mean = rounded(cell.sum / static_cast<double>(cell.count));
        value = least == most ? least : std::isnan(mean) ? mean : std::clamp(mean, least, most);
      }
    }
    row.push_back(value);
    cell = {};
  }
  sink_(open.last_time, row);
}

void RowFolder::finish() {
  for (auto& [key, open] : open_) emit(open);
  open_.clear();
}

Block folded(std::span<const Block> blocks, Ns step) {
  Block out(folding_of(*blocks.front().schema).target);
  RowFolder folder(folding_of(*blocks.front().schema), step,
                   [&](Ns time, std::span<const Value> row) { out.append(time, row); });
  for (const Block& block : blocks) folder.add(block);
  folder.finish();
  return out;
}

}  // namespace spotter::store
