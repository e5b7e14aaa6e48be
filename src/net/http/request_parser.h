// Parses the bytes of a connection into an HttpRequest, or into the error that the client gets.
//
// The grammar is in two strict parsers, http_head and http_body; this adds the parts of a request: the request line,
// Host, the length of the body, and the limits. Requests with ambiguous framing (both Content-Length and
// Transfer-Encoding, lengths that differ, a coding other than chunked) are refused, never guessed.
//
// One empty line before a request line, left over from the body of a careless client, is skipped; a second one is not.
//
// A request that arrives at once is used in place, without a copy. Of one that arrives in pieces, the parser keeps the
// head and collects the body, so that the caller need not keep bytes that the parser consumed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "net/http/http_body.h"
#include "net/http/http_head.h"
#include "net/http/http_limits.h"
#include "net/http/http_message.h"

namespace duewheel {

// Why a request is refused: the status of the response, a stable code and a sentence for the client.
struct HttpRefusal {
    int status = 0;
    ErrorCode code = ErrorCode::none;
    std::string message;
};

class RequestParser {
  public:
    enum class State {
        need_more,
        body_expected,  // once per request with `Expect: 100-continue`: the client may continue now
        complete,
        refused,
    };

    // `limits` must outlive the parser.
    explicit RequestParser(const HttpLimits& limits, HttpPeer peer = {});
    explicit RequestParser(HttpLimits&& limits, HttpPeer peer = {}) = delete;

    // Continues reading. `bytes` starts where the last call stopped. On `complete` the request is valid until the next
    // call and as long as `bytes` stays in place.
    State read(std::string_view bytes, std::size_t& consumed);
    // To be called after `complete`, before the next request.
    void reset();

    const HttpRequest& request() const { return request_; }
    // The client certificate of all requests from now on.
    void set_certificate(std::vector<std::string> names, InstantMs expires_ms) {
        request_.peer.certificate_names = std::move(names);
        request_.peer.certificate_expires_ms = expires_ms;
    }
    // Sets the route of the request that is complete, or whose head is; its views are as long-lived as the others.
    void set_route(const HttpRoute& route) { request_.route = route; }
    // Drops the body that is being read: the request becomes one without, and the last one.
    void withhold_body() {
        request_.is_head_only = true;
        request_.keep_alive = false;
    }
    const HttpRefusal& refusal() const { return refusal_; }
    bool in_body() const { return in_body_; }
    // Bytes kept of the request that is being read.
    std::size_t held_bytes() const { return head_.size() + body_.size(); }

  private:
    std::size_t pass_empty_line(std::string_view bytes);
    State read_head(std::string_view bytes, std::size_t& consumed);
    State read_body(std::string_view bytes, std::size_t& consumed);
    bool understand_head(std::string_view head);
    bool understand_request_line(std::string_view line);
    bool understand_target(std::string_view target);
    bool understand_fields();
    bool understand_expectation();
    bool understand_framing();
    bool refuse(int status, ErrorCode code, std::string message);
    State refuse_head(HeadReader::State state);
    State refuse_body(BodyReader::State state);

    const HttpLimits* limits_;
    HeadReader head_reader_;
    BodyReader body_reader_;
    BodyReader::State body_state_ = BodyReader::State::complete;
    std::size_t content_length_ = 0;  // of a body of known length
    bool chunked_ = false;
    bool in_body_ = false;
    bool empty_line_passed_ = false;
    bool continue_expected_ = false;
    std::string head_;  // of a request that came in pieces
    std::string body_;
    HttpRequest request_;
    HttpRefusal refusal_;
};

}  // namespace duewheel
