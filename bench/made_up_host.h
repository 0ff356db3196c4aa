// MadeUpHost: samples of a machine that there is not: the shapes that /proc, /sys and NVML give (tables,
// types, how the numbers move), a busy and a quiet time of day, the same for the same seed. About 20 tables
// and 500 series.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "table/batch.h"

namespace spotter::bench {

class MadeUpHost {
 public:
  explicit MadeUpHost(u64 seed);
  // The next second's. Owns nothing of it.
  Batch next();
  i64 series() const;  // metric columns times entities

 private:
  // How a column moves.
  enum class Shape : u8 {
    constant,  // sizes, limits, what never happens
    ticks,     // processor time in units of 10 ms
    ns,        // time to the nanosecond
    bytes,     // traffic in any number of bytes
    packets,   // events, hundreds a second
    rare,      // errors: once in a while
    pages,     // memory in pages: wanders
    small,     // a queue, a number of threads
    percent,   // a real with two digits
    level,     // a temperature, watts to the milliwatt: wanders
  };
  struct Group {
    std::string name;
    std::vector<Field> fields;
    std::vector<Shape> shapes;  // of the metrics
    std::vector<std::string> entities;
    std::vector<double> busy;  // of each entity: share of the time at work
    std::vector<double> values;
    bool has_key = false, has_job = false;
  };
  void add(const char* name, std::vector<std::string> entities, std::vector<Shape> shapes,
           bool has_job = false);
  void move(Shape shape, double work, double& value);

  std::mt19937_64 random_;
  std::vector<Group> groups_;
  std::vector<std::string> names_;  // of columns
  i64 second_ = 0;
};

}  // namespace spotter::bench
