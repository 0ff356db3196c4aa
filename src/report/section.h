// Section: the record that one part of a report is; and what a person is shown of it, as plain data that any
// rendering takes (text.h is the first).
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "diagnose/run.h"

namespace spotter::report {

// What sections are made of. A further kind is a struct here, one more member of Part, and a function of that
// name in each rendering: no rendering compiles without it.
struct Point {
  std::string text;
  std::string about = {};  // a line below it; may be empty
};
using Points = std::vector<Point>;
using Part = std::variant<Points, Table, Notes>;

struct ShownSection {
  std::string name, title;
  std::vector<Part> parts;
  std::string sentence = {};  // below them: how to read them; may be empty
};

// What sections are told of.
struct Subject {
  const diagnose::JobFacts& facts;
  const Table& findings;
  const Table* what_if;  // the answer to the user's question; nullptr: none was asked
  size_t names;          // how many kernels and operators are listed
};

struct Section {
  const char* name;  // a word that no other section has
  bool (*is_shown)(const Subject& subject);
  std::string (*title)(const Subject& subject);
  std::vector<Part> (*parts)(const Subject& subject);
  const char* sentence = "";
};

}  // namespace spotter::report
