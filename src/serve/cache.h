// Cache: the newest answers, up to so many bytes; what was asked for least recently goes first. One thread.
#pragma once
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "serve/body.h"

namespace spotter::serve {

class Cache {
 public:
  explicit Cache(size_t most_bytes) : most_(most_bytes) {}

  std::shared_ptr<const Body> find(const std::string& key);            // nullptr: it is not there
  void put(const std::string& key, std::shared_ptr<const Body> body);  // one that is too large is not kept
  size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Body> body;
    size_t bytes() const { return 2 * key.size() + body->bytes(); }
  };
  void remove(std::list<Entry>::iterator entry);

  size_t most_, bytes_ = 0;
  std::list<Entry> entries_;  // the last used first
  std::unordered_map<std::string, std::list<Entry>::iterator> places_;
};

}  // namespace spotter::serve
