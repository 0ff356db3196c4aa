// A revision of a program's source, as "URL@COMMIT" with a web address: https://github.com/OWNER/REPO@0123...
// What it is made from is somebody else's, and so is where it is read again: what is not exactly so is none.
#pragma once
#include <string>
#include <string_view>

namespace spotter {

// In hexadecimal digits, as SHA-1 or SHA-256 has so many.
bool is_commit(std::string_view text);

// The web page of a repository whose remote address this is: https://, ssh:// and git:// of a host, or
// USER@HOST:PATH; without user, password and ".git". Empty: it is none of these, or more than that.
std::string web_page_of(std::string_view remote);

// Where the files of that revision are on the web, as GitHub and GitLab have them. Empty: it is no revision.
std::string web_root_of(std::string_view revision);

}  // namespace spotter
