// Secrets: keys, tokens and URLs that are one. They are in files that nobody else may read, and in no error,
// log or status.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace spotter::notify {

// The file's text without the blanks around it; one line of ASCII. Errors: not_found, denied (others may read
// it), invalid (empty, too long, or more than a line), io.
Result<std::string> read_secret(const std::string& path);

// What somebody else says, on one line and not too long, without any of the secrets: servers echo what they
// are asked.
std::string without_secrets(std::string text, const std::vector<std::string>& secrets);

}  // namespace spotter::notify
