#include "net/http/http_body.h"

#include <algorithm>

#include "base/hex.h"

namespace duewheel {
namespace {

constexpr std::size_t kSizeLineBytesMax = 256;
constexpr std::size_t kTrailerBytesMax = 8 * 1024;
constexpr int kSizeDigitsMax = 15;  // more cannot be a real size; these cannot overflow 64 bits

bool is_line_character(char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
}

}  // namespace

BodyReader::State BodyReader::expect_length(std::uint64_t length, std::size_t bytes_max) {
    place_ = Place::length;
    remaining_ = length;
    bytes_max_ = bytes_max;
    if (length > bytes_max) return State::too_large;
    return length == 0 ? State::complete : State::need_more;
}

BodyReader::State BodyReader::expect_chunks(std::size_t bytes_max) {
    place_ = Place::size_first;
    bytes_max_ = bytes_max;
    control_bytes_ = 0;
    return State::need_more;
}

BodyReader::State BodyReader::read(std::string_view bytes, std::size_t& consumed, std::string& body) {
    consumed = 0;
    while (consumed < bytes.size()) {
        const bool in_data = place_ == Place::length || place_ == Place::data;
        const State state = in_data ? read_data(bytes, consumed, body) : read_control(bytes[consumed++], body.size());
        if (state != State::need_more) return state;
    }
    return State::need_more;
}

BodyReader::State BodyReader::read_data(std::string_view bytes, std::size_t& consumed, std::string& body) {
    const std::string_view rest = bytes.substr(consumed);
    const auto take = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, rest.size()));
    body.append(rest.substr(0, take));
    consumed += take;
    remaining_ -= take;
    if (remaining_ != 0) return State::need_more;
    if (place_ == Place::length) return State::complete;
    place_ = Place::data_cr;
    return State::need_more;
}

BodyReader::State BodyReader::read_control(char c, std::size_t body_size) {
    switch (place_) {
        case Place::data_cr:
            place_ = Place::data_end;
            return c == '\r' ? State::need_more : State::malformed;
        case Place::data_end:
            place_ = Place::size_first;
            control_bytes_ = 0;
            return c == '\n' ? State::need_more : State::malformed;
        case Place::trailer_first:
        case Place::trailer:
        case Place::trailer_end:
        case Place::last_end:
            return read_trailer(c);
        default:
            return read_size_line(c, body_size);
    }
}

BodyReader::State BodyReader::read_size_line(char c, std::size_t body_size) {
    if (++control_bytes_ > kSizeLineBytesMax) return State::malformed;
    if (place_ == Place::size_end) {
        if (c != '\n') return State::malformed;
        place_ = remaining_ == 0 ? Place::trailer_first : Place::data;
        control_bytes_ = 0;
        return remaining_ > bytes_max_ - body_size ? State::too_large : State::need_more;
    }
    if (place_ == Place::extension) {
        if (c == '\r') place_ = Place::size_end;
        return c == '\r' || is_line_character(c) ? State::need_more : State::malformed;
    }
    if (place_ == Place::size_first) {
        remaining_ = 0;
        digits_ = 0;
    }
    if (const int value = hex_digit_value(c); value >= 0) {
        place_ = Place::size;
        remaining_ = remaining_ * 16 + static_cast<std::uint64_t>(value);
        return ++digits_ > kSizeDigitsMax ? State::malformed : State::need_more;
    }
    if (digits_ == 0 || (c != '\r' && c != ';')) return State::malformed;
    place_ = c == '\r' ? Place::size_end : Place::extension;
    return State::need_more;
}

BodyReader::State BodyReader::read_trailer(char c) {
    if (++control_bytes_ > kTrailerBytesMax) return State::malformed;
    switch (place_) {
        case Place::last_end:
            return c == '\n' ? State::complete : State::malformed;
        case Place::trailer_end:
            place_ = Place::trailer_first;
            return c == '\n' ? State::need_more : State::malformed;
        case Place::trailer_first:
            place_ = c == '\r' ? Place::last_end : Place::trailer;
            // A trailer that starts with a blank would be a folded line.
            return c == '\r' || (c > ' ' && c != '\x7f') ? State::need_more : State::malformed;
        default:
            if (c == '\r') place_ = Place::trailer_end;
            return c == '\r' || is_line_character(c) ? State::need_more : State::malformed;
    }
}

}  // namespace duewheel
