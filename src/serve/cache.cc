#include "serve/cache.h"

namespace spotter::serve {

std::shared_ptr<const Body> Cache::find(const std::string& key) {
  const auto place = places_.find(key);
  if (place == places_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, place->second);
  return place->second->body;
}

void Cache::put(const std::string& key, std::shared_ptr<const Body> body) {
  if (const auto place = places_.find(key); place != places_.end()) remove(place->second);
  entries_.push_front({key, std::move(body)});
  if (entries_.front().bytes() > most_) return entries_.pop_front();
  places_[key] = entries_.begin();
  bytes_ += entries_.front().bytes();
  while (bytes_ > most_) remove(std::prev(entries_.end()));
}

void Cache::remove(std::list<Entry>::iterator entry) {
  bytes_ -= entry->bytes();
  places_.erase(entry->key);
  entries_.erase(entry);
}

}  // namespace spotter::serve
