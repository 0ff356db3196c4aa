// What a fake library answers: a text file, named by the environment variable SPOTTER_FAKE_SCENARIO and read
// anew at each call. A line is a few words: whose value ("gpu 3", "gpu *"), which, and the value. Of several
// lines the last that fits counts.
//
//   gpus 8                                          how many there are; 1 without
//   gpu 0 power 420000                              what a library's own file says of its words
//   gpu * error nvmlDeviceGetPowerUsage 4           a function fails for a GPU ...
//   error nvmlInit_v2 9                             ... or altogether
#pragma once
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace fake {

using Words = std::vector<std::string>;

class Scenario {
 public:
  // That of the file as it is now.
  static const Scenario& now() {
    static Scenario scenario;
    const char* path = std::getenv("SPOTTER_FAKE_SCENARIO");
    std::ostringstream text;
    if (path) text << std::ifstream(path).rdbuf();
    if (text.str() != scenario.text_) scenario.read(text.str());
    return scenario;
  }

  // The words behind `gpu INDEX KEY` of each such line.
  std::vector<Words> all(int gpu, const std::string& key) const {
    std::vector<Words> found;
    for (const Words& line : lines_) {
      if (line.size() >= 3 && line[0] == "gpu" && (line[1] == "*" || line[1] == std::to_string(gpu)) &&
          line[2] == key)
        found.emplace_back(line.begin() + 3, line.end());
    }
    return found;
  }
  bool has(int gpu, const std::string& key) const { return !all(gpu, key).empty(); }
  // The value of the last line `gpu INDEX KEY VALUE`.
  std::string text(int gpu, const std::string& key, const std::string& otherwise) const {
    const std::vector<Words> found = all(gpu, key);
    return found.empty() || found.back().empty() ? otherwise : found.back()[0];
  }
  double number(int gpu, const std::string& key, double otherwise) const {
    const std::string word = text(gpu, key, "");
    return word.empty() ? otherwise : std::strtod(word.c_str(), nullptr);
  }
  // The value of the last line `gpu INDEX KEY ID VALUE`.
  std::optional<std::string> text_of(int gpu, const std::string& key, const std::string& id) const {
    std::optional<std::string> value;
    for (const Words& words : all(gpu, key)) {
      if (words.size() >= 2 && words[0] == id) value = words[1];
    }
    return value;
  }
  // The value of the last line `KEY VALUE`.
  std::optional<std::string> global(const std::string& key) const {
    std::optional<std::string> value;
    for (const Words& line : lines_) {
      if (line.size() >= 2 && line[0] == key) value = line[1];
    }
    return value;
  }
  int gpus() const { return std::atoi(global("gpus").value_or("1").c_str()); }
  // The code with which a function fails; 0: it does not.
  int error(const std::string& function, int gpu = -1) const {
    int code = 0;
    for (const Words& line : lines_) {
      if (line.size() >= 3 && line[0] == "error" && line[1] == function) code = std::atoi(line[2].c_str());
    }
    if (const auto own = text_of(gpu, "error", function)) code = std::atoi(own->c_str());
    return code;
  }

 private:
  void read(const std::string& text) {
    text_ = text;
    lines_.clear();
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      Words words;
      std::istringstream parts(line);
      for (std::string word; parts >> word;) words.push_back(word);
      if (!words.empty() && words[0][0] != '#') lines_.push_back(words);
    }
  }

  std::string text_;
  std::vector<Words> lines_;
};

}  // namespace fake
