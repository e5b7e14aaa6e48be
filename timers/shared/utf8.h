// Checks whether bytes are text: well-formed UTF-8 as defined by Unicode, without surrogates or overlong forms.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace duewheel {

// The size of the first character of `text`, which must not be empty; 0 if it is malformed.
std::size_t letter_bytes(std::string_view text);

// O(size); eight bytes at a time if they are ASCII.
bool is_utf8(std::string_view text);

// The text itself. If it is malformed, its ASCII characters, and U+FFFD for each other byte. For quoting bytes of
// clients in a text. O(size).
std::string as_utf8(std::string_view bytes);

// The longest prefix of `text`, which must be UTF-8, that has at most `bytes_max` bytes and ends between characters.
std::string_view cut_utf8(std::string_view text, std::size_t bytes_max);

}  // namespace duewheel
