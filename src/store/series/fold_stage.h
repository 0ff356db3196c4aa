// FoldStage: folds blocks of any schemas of a table, in the order of time, and hands on what it has made of
// each schema.
#pragma once
#include "store/series/fold.h"

namespace spotter::store {

class FoldStage {
 public:
  FoldStage(Ns step, std::function<void(const Block&)> next) : step_(step), next_(std::move(next)) {}

  void add(const Block& block) {
    if (folder_ && *source_ != *block.schema) finish();
    if (!folder_) {
      source_ = block.schema;
      const Folding folding = folding_of(*source_);
      out_ = std::make_unique<Block>(folding.target);
      folder_ = std::make_unique<RowFolder>(
          folding, step_, [this](Ns time, std::span<const Value> row) { out_->append(time, row); });
    }
    folder_->add(block);
  }
  void finish() {
    if (!folder_) return;
    folder_->finish();
    folder_.reset();
    next_(*out_);
    out_.reset();
  }
  size_t cells() const { return out_ ? out_->cells() : 0; }

 private:
  Ns step_;
  std::function<void(const Block&)> next_;
  SharedSchema source_;
  std::unique_ptr<Block> out_;
  std::unique_ptr<RowFolder> folder_;
};

}  // namespace spotter::store
