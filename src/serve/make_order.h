// MakeOrder: an answer that is made alone, by a function.
#pragma once
#include <functional>
#include <utility>

#include "serve/desk.h"

namespace spotter::serve {

class MakeOrder final : public Order {
 public:
  using Make = std::function<Result<Body>(const std::atomic<bool>& cancelled)>;
  MakeOrder(std::string of_key, Make make) : Order(std::move(of_key), {}), make_(std::move(make)) {}
  std::vector<Made> make(std::span<const std::shared_ptr<Order>>,
                         const std::atomic<bool>& cancelled) override {
    std::vector<Made> made;
    made.push_back({key, make_(cancelled)});
    return made;
  }

 private:
  Make make_;
};

}  // namespace spotter::serve
