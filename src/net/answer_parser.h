// From a connection's bytes to HttpAnswer: the reading half of the client, without its socket.
//
// Built on the same strict readers as the server's requests. An answer that could be framed in two ways (lengths that
// differ, a length beside a coding, a coding other than chunked) is refused, never guessed: the bytes after it would
// count as the next request's answer. Interim answers (1xx) are read and passed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_body.h"
#include "net/http_head.h"
#include "net/http_message.h"

namespace duewheel {

struct HttpAnswer {
    int status = 0;
    std::vector<HttpHeader> headers;
    std::string body;

    // The first header of this name, whatever its case.
    std::optional<std::string_view> header(std::string_view name) const;
};

struct AnswerLimits {
    std::size_t start_line_bytes_max = 8 * 1024;
    std::size_t header_bytes_max = 64 * 1024;
    std::size_t header_count_max = 1000;
    std::size_t body_bytes_max = std::size_t{256} * 1024 * 1024;
};

// Of one request.
class AnswerParser {
  public:
    enum class State { need_more, complete, refused };

    // `method` is the request's: the answer to HEAD has no body.
    explicit AnswerParser(std::string_view method, const AnswerLimits& limits = {});

    // Reads on. `bytes` starts where the last call stopped consuming; what follows the answer is not consumed. Not to
    // be called after it was complete or refused.
    State read(std::string_view bytes, std::size_t& consumed);
    // The connection ended: only some answers are complete by that.
    State end();

    // Once complete.
    HttpAnswer& answer() { return answer_; }
    // Whether the connection may carry another request.
    bool keeps_connection() const { return keeps_connection_; }
    // Once refused: what is wrong, as the end of a sentence.
    std::string_view objection() const { return objection_; }

  private:
    State read_head(std::string_view bytes, std::size_t& consumed);
    State read_body(std::string_view bytes, std::size_t& consumed);
    State take_body(BodyReader::State state);
    bool understand_start_line(std::string_view line);
    bool understand_framing();
    bool refuse(std::string_view objection);

    const AnswerLimits limits_;
    const bool head_only_;
    HeadReader head_reader_;
    BodyReader body_reader_;
    BodyReader::State body_state_ = BodyReader::State::complete;
    bool in_body_ = false;
    bool until_close_ = false;
    bool keeps_connection_ = false;
    HttpAnswer answer_;
    std::string_view objection_;
};

}  // namespace duewheel
