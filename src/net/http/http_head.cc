#include "net/http/http_head.h"

#include <algorithm>
#include <array>

namespace duewheel {
namespace {

using CharacterSet = std::array<bool, 256>;

// RFC 9110, 5.6.2: the characters of a field name.
constexpr CharacterSet kTokenCharacters = [] {
    CharacterSet set{};
    for (int c = '0'; c <= '9'; ++c) set[static_cast<std::size_t>(c)] = true;
    for (int c = 'a'; c <= 'z'; ++c) set[static_cast<std::size_t>(c)] = true;
    for (int c = 'A'; c <= 'Z'; ++c) set[static_cast<std::size_t>(c)] = true;
    for (const char c : std::string_view("!#$%&'*+-.^_`|~")) set[static_cast<unsigned char>(c)] = true;
    return set;
}();

// RFC 9110, 5.5: visible characters, blanks and the bytes beyond ASCII.
constexpr CharacterSet kLineCharacters = [] {
    CharacterSet set{};
    for (std::size_t c = ' '; c < set.size(); ++c) set[c] = true;
    set['\t'] = true;
    set['\x7f'] = false;
    return set;
}();

bool all_in(std::string_view text, const CharacterSet& set) {
    return std::all_of(text.begin(), text.end(), [&](char c) { return set[static_cast<unsigned char>(c)]; });
}

}  // namespace

HeadReader::State HeadReader::read(std::string_view bytes) {
    for (;;) {
        const auto line_feed = bytes.find('\n', searched_);
        if (line_feed == std::string_view::npos) {
            searched_ = bytes.size();
            return check_size(bytes.size());
        }
        if (line_feed == line_start_ || bytes[line_feed - 1] != '\r') {
            return refuse("A line of the header ends in LF without CR.");
        }
        searched_ = line_feed + 1;
        if (const State state = take_line(bytes, line_feed - 1 - line_start_); state != State::need_more) return state;
    }
}

// A line exceeds its limit as soon as its beginning does: there is no need to wait for its end.
HeadReader::State HeadReader::check_size(std::size_t seen) const {
    if (!in_fields_) {
        // The line end itself may have been seen in part.
        return seen > limits_.start_line_bytes_max + 1 ? State::start_line_too_long : State::need_more;
    }
    const std::size_t fields_start = start_line_size_ + 2;
    return seen - fields_start > limits_.field_bytes_max ? State::fields_too_large : State::need_more;
}

HeadReader::State HeadReader::take_line(std::string_view bytes, std::size_t line_size) {
    const std::string_view line = bytes.substr(line_start_, line_size);
    if (!in_fields_ && line_size > limits_.start_line_bytes_max) return State::start_line_too_long;
    if (!all_in(line, kLineCharacters)) return refuse("The header contains a control character.");
    if (!in_fields_) {
        start_line_size_ = line_size;
        line_start_ = searched_;
        in_fields_ = true;
        return State::need_more;
    }
    if (const State state = check_size(searched_); state != State::need_more) return state;
    if (line.empty()) {
        line_start_ = searched_;
        return State::complete;
    }
    const State state = take_field(line);
    line_start_ = searched_;
    return state;
}

HeadReader::State HeadReader::take_field(std::string_view line) {
    if (line.front() == ' ' || line.front() == '\t') {
        return refuse("A header line starts with whitespace; folded lines are not accepted.");
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return refuse("A header line has no colon.");
    if (colon == 0 || !all_in(line.substr(0, colon), kTokenCharacters)) {
        return refuse("The name of a header field is empty or contains a forbidden character.");
    }
    if (places_.size() == limits_.field_count_max) return State::fields_too_large;
    const auto first = std::min(line.find_first_not_of(" \t", colon + 1), line.size());
    const auto end = first == line.size() ? first : line.find_last_not_of(" \t") + 1;
    const auto offset = [&](std::size_t in_line) { return static_cast<std::uint32_t>(line_start_ + in_line); };
    places_.push_back(
        {offset(0), static_cast<std::uint32_t>(colon), offset(first), static_cast<std::uint32_t>(end - first)});
    return State::need_more;
}

HeadReader::State HeadReader::refuse(std::string_view reason) {
    reason_ = reason;
    return State::malformed;
}

void HeadReader::fields(std::string_view bytes, std::vector<HttpField>& into) const {
    into.clear();
    for (const Place& place : places_) {
        into.push_back(
            {bytes.substr(place.name_start, place.name_size), bytes.substr(place.value_start, place.value_size)});
    }
}

void HeadReader::reset() {
    line_start_ = searched_ = start_line_size_ = 0;
    in_fields_ = false;
    places_.clear();
}

}  // namespace duewheel
