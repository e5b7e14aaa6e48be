// JSON as it is written. Content of messages must arrive unchanged, and a tree of values loses the spelling of numbers,
// so these functions find and write values as text.
//
// The functions that take JSON apart read no further than its end, whatever it is, but make sense only of valid JSON.
// O(size) each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace duewheel::client {

// Whether a text is one JSON value in UTF-8, nested up to 64 levels deep.
bool is_json(std::string_view text);

bool is_utf8(std::string_view text);

// The text itself, or, if it is not UTF-8, with `?` in place of what is not ASCII.
std::string to_utf8(std::string_view text);

// Name and value of each member of an object, in order, with names as written; empty if it is no object.
std::vector<std::pair<std::string_view, std::string_view>> members_of(std::string_view object);

// The value of a member; empty if there is none.
std::string_view member_of(std::string_view object, std::string_view name);

// The values of an array; empty if it is no array.
std::vector<std::string_view> elements_of(std::string_view array);

// The text that a JSON string stands for; nothing if it is no string.
std::optional<std::string> unquoted(std::string_view json);

// Appends the JSON string that stands for a text. Precondition: the text is UTF-8.
void append_quoted(std::string& json, std::string_view text);

std::string to_base64(std::string_view bytes);

// Characters that are not base64 are skipped.
std::string from_base64(std::string_view text);

}  // namespace duewheel::client
