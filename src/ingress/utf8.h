// Whether bytes are text: well-formed UTF-8 as the Unicode standard has it, without surrogates or longer forms.
#pragma once

#include <cstddef>
#include <string_view>

namespace duewheel {

// O(size); eight bytes at a time where they are ASCII.
bool is_utf8(std::string_view text);

// The longest beginning of `text`, which must be UTF-8, that has at most `bytes_max` bytes and ends between letters.
std::string_view cut_utf8(std::string_view text, std::size_t bytes_max);

}  // namespace duewheel
