// IncidentJournal: what becomes of incidents, on the disk and to notifiers: a thread of its own puts each
// change into the store together with the words that notifiers are to get, and wakes the delivery. What waits
// is bounded; what was lost is counted. The loop's thread, which never waits for the disk.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "notify/delivery.h"
#include "respond/incidents.h"
#include "store/incident_store.h"

namespace spotter::agent {

class IncidentJournal {
 public:
  // Where the file cannot be had it goes on in memory, and says so: what is wrong is told all the same.
  // Errors: those of the store; busy (no thread can be had).
  static Result<std::unique_ptr<IncidentJournal>> open(store::IncidentStoreOptions options,
                                                       std::vector<notify::Receiver> receivers);
  ~IncidentJournal();  // what waits is put first

  // What the store has, from before this process: before anything is put.
  struct Restored {
    std::vector<respond::Incident> incidents;  // in the order in which they were opened
    std::vector<respond::Silence> silences;
    Notes notes;  // what could not be read
  };
  Result<Restored> restore(Ns now);

  void put(const respond::IncidentChange& change, Ns now);
  void put(const respond::Silence& silence);

  std::vector<notify::NotifierState> notifiers() const;
  i64 lost() const;                          // changes that could not be put
  const std::string& why_in_memory() const;  // empty: there is a file

 private:
  struct Body;
  explicit IncidentJournal(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace spotter::agent
