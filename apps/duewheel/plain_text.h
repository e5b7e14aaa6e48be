// Text for a terminal: what came from elsewhere made harmless, and tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace duewheel {

// Control characters and broken UTF-8 are shown as escapes ("\n", "\x1b"), so that a message's body cannot move the
// cursor, change colours or fake a line. Beyond `letters_max` letters the rest is left out, with "..." at the end.
std::string printable(std::string_view text, std::size_t letters_max = std::string::npos);

// Columns as wide as their widest cell, two spaces between them. The first row is the heading.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace duewheel
