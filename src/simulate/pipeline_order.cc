#include "simulate/pipeline_order.h"

#include <algorithm>

namespace spotter::simulate {
namespace {

class Order {
 public:
  Order(const Spec& spec, i64 stage) : spec_(spec), stage_(stage) {}

  // A stage runs ahead as far as it needs to keep the later ones busy.
  std::vector<PipelineItem> of_all() {
    const i64 p = spec_.pipeline, v = spec_.virtual_stages, all = spec_.micro_batches * v;
    const i64 ahead = std::min(v == 1 ? p - stage_ - 1 : 2 * (p - stage_ - 1) + (v - 1) * p, all);
    for (i64 i = 0; i < all + ahead; ++i) {
      const bool has_forward = i < all, has_backward = i >= ahead;
      if (has_forward) add_forward(i, couples(i > ahead), couples(has_backward));
      if (has_forward && has_backward && couples(!is_last(0))) add({.what = What::exchange_next});
      if (has_backward) add_backward(i - ahead, couples(has_forward), couples(has_forward && i + 1 < all));
      if (has_backward && i + 1 < all && couples(!is_first(0))) add({.what = What::exchange_previous});
    }
    return std::move(items_);
  }

 private:
  using What = PipelineItem::What;

  bool couples(bool both) const { return spec_.coupled_sends && both; }
  bool is_first(i64 chunk) const { return chunk_number(spec_, stage_, chunk) == 0; }
  bool is_last(i64 chunk) const {
    return chunk_number(spec_, stage_, chunk) + 1 == spec_.pipeline * spec_.virtual_stages;
  }
  void add(PipelineItem item) { items_.push_back(item); }

  // Of the i-th pass: as many micro-batches as there are stages pass a part before the next part has its
  // turn.
  i64 micro_batch(i64 i) const {
    return i / (spec_.pipeline * spec_.virtual_stages) * spec_.pipeline + i % spec_.pipeline;
  }
  i64 chunk(i64 i) const { return i / spec_.pipeline % spec_.virtual_stages; }

  // `has_come`, `is_fetched`: an exchange brought what is received, and takes what is sent.
  void add_forward(i64 i, bool has_come, bool is_fetched) {
    const i64 c = chunk(i);
    add({What::forward, micro_batch(i), c, !is_first(c) && !has_come, !is_last(c) && !is_fetched});
  }
  void add_backward(i64 i, bool has_come, bool is_fetched) {
    const i64 c = spec_.virtual_stages - 1 - chunk(i);
    add({What::backward, micro_batch(i), c, !is_last(c) && !has_come, !is_first(c) && !is_fetched});
  }

  const Spec& spec_;
  i64 stage_;
  std::vector<PipelineItem> items_;
};

}  // namespace

std::vector<PipelineItem> pipeline_order(const Spec& spec, i64 stage) { return Order(spec, stage).of_all(); }

}  // namespace spotter::simulate
