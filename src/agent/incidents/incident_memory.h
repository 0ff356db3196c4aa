// IncidentMemory: what an agent remembers of incidents (store/incident_store.h), and who is told of them
// (notify/delivery.h).
//
// A file that cannot be used (its folder may not be written, another agent has it, a later version laid it
// out) is no error: incidents are in memory alone then, are told all the same, and the state says why. What
// is put is written by a thread of its own, in order, as a disk may be slow; one that is full for a while
// loses nothing as long as there is room in memory.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "notify/delivery.h"
#include "store/incident_store.h"

namespace spotter::agent {

struct IncidentMemoryOptions {
  std::string path = {};  // of the file; empty: in memory alone
  std::vector<notify::Receiver> receivers = {};
  notify::DeliveryOptions delivery = {};
  store::IncidentStoreOptions store = {};  // but for the path
};

struct IncidentMemoryState {
  std::string path = {};           // empty: they are in memory alone
  std::string why_in_memory = {};  // empty: that was asked for, or there is a file
  i64 unwritten = 0;               // changes that wait for the disk
  i64 lost = 0;                    // changes that it had no room for, or that cannot be written
  store::IncidentStoreState store = {};
  std::vector<notify::NotifierState> notifiers = {};
};

class IncidentMemory {
 public:
  // Errors: busy (no thread can be had).
  static Result<std::unique_ptr<IncidentMemory>> open(IncidentMemoryOptions options);
  // Writes what waits, for a second at most. What is not delivered is told after the next start.
  ~IncidentMemory();
  IncidentMemory(const IncidentMemory&) = delete;
  IncidentMemory& operator=(const IncidentMemory&) = delete;

  // The incident as it is from now on, what became of it since the last time, and on which occasion all
  // notifiers are to be told (nothing: they are not). All of it is remembered, or nothing; they are told once
  // it is. An incident's `sequence` grows with each occasion: the same one is told once. `is_renewal`: only
  // notifiers are told that forget what nobody repeats. Any thread; waits for nobody.
  void put(const respond::Incident& incident, std::vector<store::Transition> transitions,
           std::optional<notify::Occasion> occasion, Ns now, bool is_renewal = false);
  // How often there was one of this key: what is put counts at once. Any thread; waits for nobody.
  i64 last_n(const std::string& key) const;

  // For what was, and silences. Calls wait for the disk.
  store::IncidentStore& store();
  std::shared_ptr<store::IncidentStore> shared_store() const;  // for other threads
  // Those that were open when the agent ended. Errors: of those that cannot be read the first one.
  Result<std::vector<respond::Incident>> open_incidents();

  // Of which incidents notifiers have told since the last call ("tells ops of incident 4711-speed-2:
  // verdict"). Any thread; waits for nobody.
  std::vector<std::string> take_told();

  IncidentMemoryState state() const;  // any thread; waits for nobody

 private:
  struct Body;
  IncidentMemory() = default;
  std::shared_ptr<Body> body_;
  std::unique_ptr<notify::Delivery> delivery_;
};

}  // namespace spotter::agent
