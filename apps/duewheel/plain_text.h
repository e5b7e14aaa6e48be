// Text for a terminal: what came from elsewhere made harmless, and tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace duewheel {

// Control characters and broken UTF-8 are shown as escapes ("\n", "\x1b"), so that a message's body cannot move the
// cursor, change colours or fake a line. Beyond `letters_max` letters the rest is left out, with "..." at the end.
std::string printable(std::string_view text, std::size_t letters_max = std::string::npos);

// As printable(), but lines stay lines: for content that stands alone at the end of the output.
std::string printable_lines(std::string_view text);

using Rows = std::vector<std::vector<std::string>>;

// A name and its value on each line. Columns as wide as their widest cell, two spaces between them.
std::string fields(const Rows& rows);

// The same under a heading, the first row; columns of numbers stand right.
std::string table(const Rows& rows);
// The same with cells of one column cut, "..." at their ends, so that no line takes more columns of the terminal; but a
// cell keeps 12.
std::string table(Rows rows, std::size_t column, std::size_t width_max);

// "jitter_ms" -> "jitter": the name of a member whose value is shown with its units.
std::string setting_name(std::string_view member);

// The beginning of a text, which is printable already, that takes up to this many columns of the terminal.
std::string_view cut_to_width(std::string_view text, std::size_t columns_max);

}  // namespace duewheel
