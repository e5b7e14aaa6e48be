// Whether bytes are text: well-formed UTF-8 as the Unicode standard has it, without surrogates or longer forms.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace duewheel {

// How many bytes the letter at the beginning of `text` has, which must not be empty; 0 where there is none.
std::size_t letter_bytes(std::string_view text);

// O(size); eight bytes at a time where they are ASCII.
bool is_utf8(std::string_view text);

// The text itself; of bytes that are none, the ASCII among them, and U+FFFD for each other one. For what quotes bytes
// of a stranger inside of a text. O(size).
std::string as_utf8(std::string_view bytes);

// The longest beginning of `text`, which must be UTF-8, that has at most `bytes_max` bytes and ends between letters.
std::string_view cut_utf8(std::string_view text, std::size_t bytes_max);

}  // namespace duewheel
