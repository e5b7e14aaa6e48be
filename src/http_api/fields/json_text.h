// JSON values as written. A parser that builds a tree loses the spelling of numbers, repeated members and order; JSON
// content of a client must be returned unchanged.
//
// These functions only find the ends of values, so they are fast and need no tree. Their input must be valid JSON.
// O(size) each.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace duewheel {

// Whether a text is one JSON value and nothing else, nested no deeper than the member `json` of a put allows.
bool is_json_text(std::string_view text);

// The same JSON on one line: line breaks between tokens become spaces; strings contain none.
std::string on_one_line(std::string_view json);

// Name and value of each member of an object, in order. Names are as written, with their escapes and without quotes;
// values are without surrounding whitespace. Empty if the text is not an object.
std::vector<std::pair<std::string_view, std::string_view>> member_texts(std::string_view object);

// The value of a member; empty if there is none. `name` is compared with names as written.
std::string_view member_text(std::string_view object, std::string_view name);

// The values of an array; empty if the text is not an array.
std::vector<std::string_view> element_texts(std::string_view array);

}  // namespace duewheel
