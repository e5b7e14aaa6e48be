// Values of JSON as they are written. A parser that builds a tree loses how a number was written, which member stood
// twice and in which order; what a client hands in as JSON has to come back as it was.
//
// These functions look for the ends of values only, so that they are fast and need no tree. They take JSON that a
// parser has found to be right. O(size) each.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace duewheel {

// Whether a text is one JSON value and nothing else, nested no deeper than the member `json` of a put may be.
bool is_json_text(std::string_view text);

// The same JSON on one line: line breaks between its tokens become blanks, and in its texts there are none.
std::string on_one_line(std::string_view json);

// Name and value of each member of an object, in their order. Names stand as they are written, with their escapes,
// without their quotes; values without the blanks around them. Empty of a text that is no object.
std::vector<std::pair<std::string_view, std::string_view>> member_texts(std::string_view object);

// The value of a member; empty where there is none. `name` is compared with names as they are written.
std::string_view member_text(std::string_view object, std::string_view name);

// The values of an array; empty of a text that is none.
std::vector<std::string_view> element_texts(std::string_view array);

}  // namespace duewheel
