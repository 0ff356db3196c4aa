// Mechanism: the record that one way of a job to lose time is. It looks at the job's model for where it may
// be at work and says for each such place, as a candidate, how the job would be without it. What that is
// worth the search finds out (search.h): no mechanism adds up waits.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "diagnose/model/job_model.h"

namespace spotter::diagnose {

struct Candidate {
  std::vector<u32> ranks = {};  // of the program, ascending; empty: the whole job
  std::set<i64> untraced = {};  // further ones, by number: of which there is no trace
  std::vector<i64> steps = {};  // their numbers; empty: all
  std::string group = {};       // of ranks, by name
  std::string subject = {};     // text from the job that the sentence speaks of: an operator, a call, a group
  std::string what = {};        // what is seen, with numbers and comparison: a sentence without its full stop
  std::string against = {};     // what speaks against it here
  std::string remedy = {};      // where the mechanism's own does not fit
  std::string evidence = {};    // the same
  bool is_opportunity = false;
  bool is_caveat = false;     // told beside the others, whatever they have taken away
  bool is_certain = false;    // told whatever it costs: the job got no further
  Ns most = kMaxTime;         // that the job can gain without it at most, in all steps: its plain excess
  Ns known_gain = 0;          // instead of `undo`: what the job would gain, where its schedule tells
  bool is_confirmed = false;  // a second measurement, of another kind, agrees; that its ranks come last to
                              // their calls is one that the search looks for
  bool is_named = false;      // the trace says itself what it is: a call, a span
  bool is_doubtful = false;   // what it is told from is likely to have another reason
  std::function<void(analyze::Scenario&)> undo = {};  // takes it out of the job
};

struct Mechanism {
  const char* name;
  const char* summary;  // what it looks at, from which threshold on, and what it is mistaken for
  const char* remedy;
  const char* evidence;  // what shows the rows, behind `spotter analyze PATH`
  std::vector<Candidate> (*candidates)(const JobModel& model);
  bool is_rest = false;         // what is left when the others are gone: faults before opportunities
  bool needs_a_trace = true;    // else evidence beside the traces is enough
  bool compares_ranks = false;  // its evidence is what ranks have together: none of them is left out
};

}  // namespace spotter::diagnose
