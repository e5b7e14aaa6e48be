#include "net/http/request_parser.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/error_codes.h"
#include "net/http/http_target.h"

namespace duewheel {
namespace {

constexpr std::size_t kMethodBytesMax = 32;
constexpr std::size_t kKeptBytesMax = 16 * 1024;  // the capacity that a buffer may keep between requests

bool is_method_word(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
}

// Digits only: no sign, no blank, no list.
std::optional<std::uint64_t> parse_length(std::string_view text) {
    std::uint64_t length = 0;
    if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return length;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

RequestParser::RequestParser(const HttpLimits& limits, HttpPeer peer)
    : limits_(&limits),
      head_reader_({limits.target_bytes_max + kMethodBytesMax + sizeof " HTTP/1.1", limits.header_bytes_max,
                    limits.header_count_max}) {
    request_.peer = std::move(peer);
}

RequestParser::State RequestParser::read(std::string_view bytes, std::size_t& consumed) {
    consumed = 0;
    if (in_body_) return read_body(bytes, consumed);
    const std::size_t passed = pass_empty_line(bytes);
    const State state = read_head(bytes.substr(passed), consumed);
    consumed += passed;
    return state;
}

// Its two bytes may be received separately: the head's reader has then seen the first one.
std::size_t RequestParser::pass_empty_line(std::string_view bytes) {
    if (empty_line_passed_ || !bytes.starts_with("\r\n")) return 0;
    empty_line_passed_ = true;
    head_reader_.reset();
    return 2;
}

void RequestParser::reset() {
    head_reader_.reset();
    in_body_ = chunked_ = continue_expected_ = empty_line_passed_ = false;
    head_.clear();
    body_.clear();
    if (body_.capacity() > kKeptBytesMax) body_.shrink_to_fit();
}

RequestParser::State RequestParser::read_head(std::string_view bytes, std::size_t& consumed) {
    const HeadReader::State state = head_reader_.read(bytes);
    if (state == HeadReader::State::need_more) return State::need_more;
    if (state != HeadReader::State::complete) return refuse_head(state);
    const std::size_t head_size = head_reader_.size();
    if (!understand_head(bytes)) return State::refused;
    if (body_state_ == BodyReader::State::too_large) return refuse_body(body_state_);
    if (body_state_ == BodyReader::State::complete) {
        request_.body = {};
        consumed = head_size;
        return State::complete;
    }
    if (!chunked_ && bytes.size() - head_size >= content_length_) {
        request_.body = bytes.substr(head_size, content_length_);
        consumed = head_size + content_length_;
        return State::complete;
    }
    // The body is received later, when `bytes` may have moved: from here on the request refers to a copy of its head.
    in_body_ = true;
    request_.body = {};
    head_.assign(bytes.substr(0, head_size));
    understand_head(head_);
    consumed = head_size;
    if (bytes.size() > head_size) {
        std::size_t of_body = 0;
        const State body = read_body(bytes.substr(head_size), of_body);
        consumed += of_body;
        // A client that has started to send does not wait for 100 Continue.
        return body;
    }
    return std::exchange(continue_expected_, false) ? State::body_expected : State::need_more;
}

RequestParser::State RequestParser::read_body(std::string_view bytes, std::size_t& consumed) {
    const BodyReader::State state = body_reader_.read(bytes, consumed, body_);
    if (state == BodyReader::State::need_more) return State::need_more;
    if (state != BodyReader::State::complete) return refuse_body(state);
    request_.body = body_;
    return State::complete;
}

bool RequestParser::understand_head(std::string_view head) {
    request_.keep_alive = true;
    request_.is_head_only = false;
    if (!understand_request_line(head_reader_.start_line(head))) return false;
    head_reader_.fields(head, request_.fields);
    return understand_fields() && understand_expectation() && understand_framing();
}

bool RequestParser::understand_request_line(std::string_view line) {
    const auto method_end = line.find(' ');
    const auto target_end = line.rfind(' ');
    if (method_end == std::string_view::npos || method_end == target_end) {
        return refuse(400, "bad_request"_code, "The request line is not \"METHOD TARGET HTTP/1.1\".");
    }
    request_.method = line.substr(0, method_end);
    if (!is_method_word(request_.method)) return refuse(400, "bad_request"_code, "The request's method is not a word.");
    if (request_.method.size() > kMethodBytesMax) {
        return refuse(501, "not_implemented"_code, "The request's method is unknown.");
    }
    const std::string_view version = line.substr(target_end + 1);
    if (version.size() != 8 || !version.starts_with("HTTP/") || !is_digit(version[5]) || version[6] != '.' ||
        !is_digit(version[7])) {
        return refuse(400, "bad_request"_code, "The request line does not end in an HTTP version.");
    }
    if (version != "HTTP/1.1" && version != "HTTP/1.0") {
        return refuse(505, "http_version"_code, "Only HTTP/1.1 and HTTP/1.0 are supported.");
    }
    request_.minor_version = version[7] - '0';
    return understand_target(line.substr(method_end + 1, target_end - method_end - 1));
}

bool RequestParser::understand_target(std::string_view target) {
    if (target.size() > limits_->target_bytes_max) {
        return refuse(414, "target_too_long"_code,
                      "The request target is longer than " + std::to_string(limits_->target_bytes_max) + " bytes.");
    }
    const bool visible = std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c != '#'; });
    if (!visible) {
        return refuse(400, "bad_request"_code, "The request target contains a character that must be percent-encoded.");
    }
    // A proxy's form, "http://host/path", means the same as "/path" to the host it names.
    if (target.size() > 7 && equal_ignoring_case(target.substr(0, 7), "http://")) {
        const auto path = target.find('/', 7);
        target = path == std::string_view::npos ? std::string_view("/") : target.substr(path);
    }
    const bool whole_server = target == "*" && request_.method == "OPTIONS";
    if (!whole_server && !target.starts_with('/')) {
        return refuse(400, "bad_request"_code, "The request target does not start with a slash.");
    }
    const auto lookup = std::min(target.find('?'), target.size());
    request_.target = target;
    request_.path = target.substr(0, lookup);
    request_.query = target.substr(std::min(lookup + 1, target.size()));
    split_path(request_.path, request_.segments);
    return true;
}

bool RequestParser::understand_fields() {
    int hosts = 0;
    bool close = false;
    bool keep_alive = false;
    for (const HttpField& field : request_.fields) {
        if (equal_ignoring_case(field.name, "Host")) {
            ++hosts;
            if (field.value.find_first_of(" \t,/@?#\\") != std::string_view::npos) {
                return refuse(400, "bad_request"_code, "The Host field is not a host name with an optional port.");
            }
        } else if (equal_ignoring_case(field.name, "Connection")) {
            close |= list_holds(field.value, "close");
            keep_alive |= list_holds(field.value, "keep-alive");
        }
    }
    if (hosts > 1) return refuse(400, "bad_request"_code, "The request has more than one Host field.");
    if (hosts == 0 && request_.minor_version == 1) {
        return refuse(400, "bad_request"_code, "The request has no Host field.");
    }
    request_.keep_alive = !close && (request_.minor_version == 1 || keep_alive);
    return true;
}

bool RequestParser::understand_expectation() {
    continue_expected_ = false;
    const auto expect = request_.header("Expect");
    if (!expect || request_.minor_version == 0) return true;
    if (!equal_ignoring_case(*expect, "100-continue")) {
        return refuse(417, "expectation_failed"_code, "The only supported expectation is 100-continue.");
    }
    continue_expected_ = true;
    return true;
}

bool RequestParser::understand_framing() {
    std::optional<std::uint64_t> length;
    int codings = 0;
    for (const HttpField& field : request_.fields) {
        if (equal_ignoring_case(field.name, "Content-Length")) {
            const auto stated = parse_length(field.value);
            if (!stated) return refuse(400, "bad_request"_code, "The Content-Length is not a number.");
            if (length && *length != *stated)
                return refuse(400, "bad_request"_code, "Two Content-Length fields differ.");
            length = stated;
        } else if (equal_ignoring_case(field.name, "Transfer-Encoding")) {
            ++codings;
            if (!equal_ignoring_case(field.value, "chunked")) {
                return refuse(501, "not_implemented"_code, "The only supported Transfer-Encoding is chunked.");
            }
        }
    }
    if (codings > 0 && length) {
        return refuse(400, "bad_request"_code, "The request has both a Content-Length and a Transfer-Encoding.");
    }
    if (codings > 1) return refuse(400, "bad_request"_code, "The request has more than one Transfer-Encoding field.");
    if (codings > 0 && request_.minor_version == 0) {
        return refuse(400, "bad_request"_code, "HTTP/1.0 has no Transfer-Encoding.");
    }
    chunked_ = codings > 0;
    content_length_ = static_cast<std::size_t>(length.value_or(0));
    body_state_ = chunked_ ? body_reader_.expect_chunks(limits_->body_bytes_max)
                           : body_reader_.expect_length(length.value_or(0), limits_->body_bytes_max);
    return true;
}

bool RequestParser::refuse(int status, ErrorCode code, std::string message) {
    refusal_ = {status, code, std::move(message)};
    return false;
}

RequestParser::State RequestParser::refuse_head(HeadReader::State state) {
    switch (state) {
        case HeadReader::State::start_line_too_long:
            refuse(414, "target_too_long"_code,
                   "The request target is longer than " + std::to_string(limits_->target_bytes_max) + " bytes.");
            break;
        case HeadReader::State::fields_too_large:
            refuse(431, "header_too_large"_code,
                   "The request's header has more than " + std::to_string(limits_->header_bytes_max) + " bytes or " +
                       std::to_string(limits_->header_count_max) + " fields.");
            break;
        default:
            refuse(400, "bad_request"_code, std::string(head_reader_.reason()));
            break;
    }
    return State::refused;
}

RequestParser::State RequestParser::refuse_body(BodyReader::State state) {
    if (state == BodyReader::State::too_large) {
        refuse(413, "body_too_large"_code,
               "The request's body is longer than " + std::to_string(limits_->body_bytes_max) + " bytes.");
    } else {
        refuse(400, "bad_request"_code,
               "The request's chunks are malformed: send each chunk as its size in hexadecimal digits and its bytes, "
               "and end with a chunk of size 0.");
    }
    return State::refused;
}

}  // namespace duewheel
