// The page of web/, as it was built: one file with its style and script, which is a report once data are in
// it, and what servers send. The bytes are in the program.
#pragma once
#include <string>
#include <string_view>

namespace spotter::page {

std::string_view html();
std::string_view licences();  // of what is in it
// How the static part of a report looks: rules that begin with kStaticRoot, and the variables of the page.
std::string_view static_style();
constexpr std::string_view kStaticRoot = "#static";

// The content of the page's own policy: what a browser lets it do. A report keeps it.
std::string_view policy();
// What a server sends as the header Content-Security-Policy: the same, and the page may ask its own server.
std::string served_policy();

// The page as servers send it: without its own policy, which would forbid it to ask.
std::string served();

// What a report is made of, as HTML. Who makes it escapes all texts.
struct Report {
  std::string title;   // of the document
  std::string body;    // what is there without script
  std::string blocks;  // the data, for the script
};
std::string filled(const Report& report);

}  // namespace spotter::page
