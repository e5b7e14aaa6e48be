// Parses the head of an HTTP/1.1 message, a start line and fields, strictly.
//
// If two parsers disagree about the end of a message, the bytes of one client become the request of another. So nothing
// is repaired here: each line ends in CR LF; a bare CR, a bare LF, NUL or another control character, a folded line
// (one that starts with whitespace), whitespace before the colon and a name that is not a token are all refused. The
// words of the start line and the meaning of fields are handled by request_parser and http_client.
//
//   bytes   "GET / HTTP/1.1\r\nHost: a\r\n\r\nrest"
//            start_line()     fields()    ^ size()
//
// Each line is scanned once, as it arrives: a head sent byte by byte costs as much as one sent whole, plus a search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "net/http/http_message.h"

namespace duewheel {

class HeadReader {
  public:
    struct Limits {
        std::size_t start_line_bytes_max;  // without its line end
        std::size_t field_bytes_max;       // all field lines and the empty line
        std::size_t field_count_max;
    };
    enum class State { need_more, complete, start_line_too_long, fields_too_large, malformed };

    explicit HeadReader(const Limits& limits) : limits_(limits) {}

    // `bytes` starts at the message's first byte on every call and only ever grows. After `complete` or a refusal
    // the next call needs a reset() before it.
    State read(std::string_view bytes);
    void reset();

    // Once complete: the size of the head with its empty line, and its parts as views into `bytes`, which must be the
    // bytes that were read, or a copy of them.
    std::size_t size() const { return line_start_; }
    std::string_view start_line(std::string_view bytes) const { return bytes.substr(0, start_line_size_); }
    void fields(std::string_view bytes, std::vector<HttpField>& into) const;
    // Once malformed: the reason, as a sentence.
    std::string_view reason() const { return reason_; }

  private:
    struct Place {
        std::uint32_t name_start, name_size, value_start, value_size;
    };

    State take_line(std::string_view bytes, std::size_t line_size);
    State take_field(std::string_view line);
    State refuse(std::string_view reason);
    State check_size(std::size_t seen) const;

    Limits limits_;
    std::size_t line_start_ = 0;
    std::size_t searched_ = 0;  // no line end before this
    std::size_t start_line_size_ = 0;
    bool in_fields_ = false;
    std::vector<Place> places_;
    std::string_view reason_;
};

}  // namespace duewheel
