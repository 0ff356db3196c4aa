// Section: the record that one part of a report is; and what a person is shown of it, as plain data that any
// rendering takes (text.h is the first).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "diagnose/run.h"

namespace spotter::report {

// What sections are made of. A further kind is a struct here, one more member of Part, and a function of that
// name in each rendering: no rendering compiles without it.
struct Point {
  std::string text;
  std::string about = {};                // a line below it; may be empty
  std::string kind = {};                 // of a finding: fault, opportunity or caveat
  std::optional<Ns> time = {};           // what it costs
  std::optional<double> share = {};      // that as a share of a step
  std::string command = {}, place = {};  // that shows more: as typed, and in the page (#/VIEW?...)
};
using Points = std::vector<Point>;

// Pictures; a rendering without them leaves them out, the tables beside them say the same. `kind` of a series
// is what colours mean in all pictures: compute, communication, memory, idle, operator, other ...
struct Bars {
  struct Series {
    std::string name, kind;
  };
  struct Row {
    std::string label;
    std::vector<i64> values;  // one per series, not negative; they are stacked
  };
  std::string title;
  Unit unit = Unit::ns;
  std::vector<Series> series;
  std::vector<Row> rows;
};
struct HeatMap {
  std::string title;
  std::string row_name, column_name;  // what rows and columns are: "rank", "step"
  Unit unit = Unit::ns;
  std::vector<std::string> rows, columns;
  std::vector<std::optional<i64>> cells;  // row by row; nullopt: there is none
};
using Part = std::variant<Points, Table, Notes, Bars, HeatMap>;

struct ShownSection {
  std::string name, title;
  std::vector<Part> parts;
  std::string sentence = {};  // below them: how to read them; may be empty
};

// How much a page lists.
struct PageRoom {
  size_t findings = 200, ranks = 256, bars = 64;
};

// What sections are told of.
struct Subject {
  const diagnose::JobFacts& facts;
  const Table& findings;
  const Table* what_if;                // the answer to the user's question; nullptr: none was asked
  size_t names;                        // how many kernels and operators are listed
  std::optional<PageRoom> page = {};   // nullopt: a report is one screen
  std::span<const Table> tables = {};  // the answers of the usual analyses
};

// Of that name; nullptr where there is none, or none with rows.
const Table* find_table(const Subject& subject, std::string_view name);

struct Section {
  const char* name;  // a word that no other section has
  bool (*is_shown)(const Subject& subject);
  std::string (*title)(const Subject& subject);
  std::vector<Part> (*parts)(const Subject& subject);
  const char* sentence = "";
};

}  // namespace spotter::report
