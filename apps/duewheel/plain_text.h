// Text for a terminal: escapes untrusted text, and formats tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

namespace duewheel {

// Control characters and invalid UTF-8 are shown as escapes ("\n", "\x1b"), so that a message's body cannot move the
// cursor, change colors or fake a line. Other characters that are not drawn, or that change the direction of text, are
// shown by their code points ("[U+202E]"), except those that choose the style of an emoji. A text of more than
// `letters_max` letters is truncated, with "..." at the end.
std::string printable(std::string_view text, std::size_t letters_max = std::string::npos);

// Like printable(), but keeps line breaks: for content at the end of the output.
std::string printable_lines(std::string_view text);

// JSON with escapes in place of U+007F to U+009F, which control some terminals: the same value.
std::string printable_json(std::string_view text);

// JSON as people and programs expect it, where Boost.JSON writes 0.2 as 2E-1: numbers with a fraction in decimals, and
// no exponents. Without spaces; keeps the order of members.
std::string plain_json(const boost::json::value& value);

using Rows = std::vector<std::vector<std::string>>;

// A name and its value on each line. Columns as wide as their widest cell, two spaces between them.
std::string fields(const Rows& rows);

// The same under a heading, the first row; columns of numbers are right-aligned.
std::string table(const Rows& rows);
// The same with the cells of one column truncated, with "..." at their ends, so that each line fits the terminal; a
// cell keeps at least 12 columns.
std::string table(Rows rows, std::size_t column, std::size_t width_max);

// "jitter_ms" -> "jitter": the name of a member whose value is shown with a unit, printable.
std::string setting_name(std::string_view member);

// The beginning of a printable text that fits this number of columns of the terminal.
std::string_view cut_to_width(std::string_view text, std::size_t columns_max);

}  // namespace duewheel
