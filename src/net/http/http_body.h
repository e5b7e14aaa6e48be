// Reads the body of an HTTP/1.1 message, which arrives in pieces, and decodes chunks.
//
// Strict for the same reason as http_head.h: chunk sizes are plain hexadecimal digits, lines end in CR LF. Chunk
// extensions and trailer fields are read within a limit and ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace duewheel {

class BodyReader {
  public:
    enum class State { need_more, complete, too_large, malformed };

    // Starts over; `bytes_max` limits the decoded body. A length above it is too_large before a byte is read.
    State expect_length(std::uint64_t length, std::size_t bytes_max);
    State expect_chunks(std::size_t bytes_max);

    // Appends to `body` what `bytes` holds of it and sets `consumed`; what follows a complete body is not consumed.
    State read(std::string_view bytes, std::size_t& consumed, std::string& body);

  private:
    // Where in the chunk grammar the next byte stands.
    enum class Place {
        length,         // bytes of known length
        size_first,     // the first digit of a chunk size
        size,           // further digits
        extension,      // after ';' until the line end
        size_end,       // LF of the size line
        data,           // bytes of the chunk
        data_cr,        // CR after the data
        data_end,       // LF after the data
        trailer_first,  // first byte of a trailer line, or CR of the last line
        trailer,        // within a trailer line
        trailer_end,    // LF of a trailer line
        last_end,       // LF of the last line
    };

    State read_data(std::string_view bytes, std::size_t& consumed, std::string& body);
    State read_control(char c, std::size_t body_size);
    State read_size_line(char c, std::size_t body_size);
    State read_trailer(char c);

    Place place_ = Place::length;
    std::uint64_t remaining_ = 0;  // of the body or the chunk
    std::size_t bytes_max_ = 0;
    std::size_t control_bytes_ = 0;  // of the size line, or of all trailers
    int digits_ = 0;
};

}  // namespace duewheel
