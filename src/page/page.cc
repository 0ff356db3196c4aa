#include "page/page.h"

#include "base/result.h"

extern "C" {
extern const char spotter_page[], spotter_page_end[], spotter_licences[], spotter_licences_end[],
    spotter_static_style[], spotter_static_style_end[];
}

namespace spotter::page {
namespace {

constexpr std::string_view kPolicyStart = "<meta http-equiv=\"Content-Security-Policy\" content=\"",
                           kPolicyEnd = "\">";
constexpr std::string_view kTitle = "<title>Spotter</title>", kBody = "<!--spotter:static-->",
                           kBlocks = "<!--spotter:data-->";

struct Piece {
  size_t begin, end;
};

// CHECKs that it is there, and once: web/ and this file are built together.
Piece find_piece(std::string_view text, std::string_view begin, std::string_view end = {}) {
  const size_t at = text.find(begin);
  CHECK(at != text.npos && text.find(begin, at + 1) == text.npos);
  const size_t stop = text.find(end, at + begin.size());
  CHECK(stop != text.npos);
  return {at, stop + end.size()};
}

}  // namespace

std::string_view html() { return {spotter_page, static_cast<size_t>(spotter_page_end - spotter_page)}; }

std::string_view licences() {
  return {spotter_licences, static_cast<size_t>(spotter_licences_end - spotter_licences)};
}

std::string_view static_style() {
  return {spotter_static_style, static_cast<size_t>(spotter_static_style_end - spotter_static_style)};
}

std::string_view policy() {
  const Piece meta = find_piece(html(), kPolicyStart, kPolicyEnd);
  const std::string_view all = html().substr(meta.begin, meta.end - meta.begin);
  return all.substr(kPolicyStart.size(), all.size() - kPolicyStart.size() - kPolicyEnd.size());
}

std::string served_policy() { return std::string(policy()) + "; connect-src 'self'; frame-ancestors 'none'"; }

std::string served() {
  const Piece meta = find_piece(html(), kPolicyStart, kPolicyEnd);
  return std::string(html().substr(0, meta.begin)).append(html().substr(meta.end));
}

std::string filled(const Report& report) {
  const std::string_view page = html();
  const Piece title = find_piece(page, kTitle), body = find_piece(page, kBody),
              blocks = find_piece(page, kBlocks);
  std::string out;
  out.reserve(page.size() + report.body.size() + report.blocks.size());
  out.append(page.substr(0, title.begin)).append("<title>").append(report.title).append("</title>");
  out.append(page.substr(title.end, body.begin - title.end)).append(report.body);
  out.append(page.substr(body.end, blocks.begin - body.end)).append(report.blocks);
  return out.append(page.substr(blocks.end));
}

}  // namespace spotter::page
