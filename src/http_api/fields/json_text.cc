#include "http_api/fields/json_text.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <boost/json/basic_parser_impl.hpp>

#include "http_api/fields/json_request.h"

namespace duewheel {
namespace {

namespace json = boost::json;

// Accepts all events of a parser.
struct Taker {
    static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

    using Code = json::error_code;
    bool on_document_begin(Code&) { return true; }
    bool on_document_end(Code&) { return true; }
    bool on_object_begin(Code&) { return true; }
    bool on_object_end(std::size_t, Code&) { return true; }
    bool on_array_begin(Code&) { return true; }
    bool on_array_end(std::size_t, Code&) { return true; }
    bool on_key_part(json::string_view, std::size_t, Code&) { return true; }
    bool on_key(json::string_view, std::size_t, Code&) { return true; }
    bool on_string_part(json::string_view, std::size_t, Code&) { return true; }
    bool on_string(json::string_view, std::size_t, Code&) { return true; }
    bool on_number_part(json::string_view, Code&) { return true; }
    bool on_int64(std::int64_t, json::string_view, Code&) { return true; }
    bool on_uint64(std::uint64_t, json::string_view, Code&) { return true; }
    bool on_double(double, json::string_view, Code&) { return true; }
    bool on_bool(bool, Code&) { return true; }
    bool on_null(Code&) { return true; }
    bool on_comment_part(json::string_view, Code&) { return true; }
    bool on_comment(json::string_view, Code&) { return true; }
};

constexpr std::string_view kBlanks = " \t\r\n";

void skip_blanks(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
}

// The length of the string that starts with a quote, including both quotes.
std::size_t string_size(std::string_view text) {
    std::size_t at = 1;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    return std::min(at + 1, text.size());
}

// The length of the value at the start of the text.
std::size_t value_size(std::string_view text) {
    if (text.starts_with('"')) return string_size(text);
    if (!text.starts_with('{') && !text.starts_with('[')) {
        return std::min(text.find_first_of(",]} \t\r\n"), text.size());
    }
    std::size_t open = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '"') at += string_size(text.substr(at)) - 1;
        if (c == '{' || c == '[') ++open;
        if ((c == '}' || c == ']') && --open == 0) return at + 1;
    }
    return text.size();
}

// Removes the next value, and the blanks around it, from the text.
std::string_view take_value(std::string_view& text) {
    skip_blanks(text);
    const std::string_view value = text.substr(0, value_size(text));
    text.remove_prefix(value.size());
    skip_blanks(text);
    return value;
}

// Removes the opening bracket from the text; false if it is another one, or nothing is in it.
bool enter(std::string_view& text, char open, char close) {
    skip_blanks(text);
    if (!text.starts_with(open)) return false;
    text.remove_prefix(1);
    skip_blanks(text);
    return !text.empty() && !text.starts_with(close);
}

// Removes the comma that follows; false if there is none.
bool goes_on(std::string_view& text) {
    if (!text.starts_with(',')) return false;
    text.remove_prefix(1);
    return true;
}

}  // namespace

bool is_json_text(std::string_view text) {
    json::parse_options options;
    options.max_depth = kJsonDepthMax - 1;
    json::error_code code;
    json::basic_parser<Taker> parser(options);
    const std::size_t read = parser.write_some(false, text.data(), text.size(), code);
    return !code && text.find_first_not_of(kBlanks, std::min(read, text.size())) == std::string_view::npos;
}

std::string on_one_line(std::string_view json) {
    std::string line(json);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return line;
}

std::vector<std::pair<std::string_view, std::string_view>> member_texts(std::string_view object) {
    std::vector<std::pair<std::string_view, std::string_view>> members;
    for (bool more = enter(object, '{', '}'); more; more = goes_on(object)) {
        const std::string_view name = take_value(object);
        if (!object.starts_with(':') || name.size() < 2) break;
        object.remove_prefix(1);
        members.emplace_back(name.substr(1, name.size() - 2), take_value(object));
    }
    return members;
}

std::string_view member_text(std::string_view object, std::string_view name) {
    for (const auto& [each, value] : member_texts(object)) {
        if (each == name) return value;
    }
    return {};
}

std::vector<std::string_view> element_texts(std::string_view array) {
    std::vector<std::string_view> elements;
    for (bool more = enter(array, '[', ']'); more; more = goes_on(array)) elements.push_back(take_value(array));
    return elements;
}

}  // namespace duewheel
