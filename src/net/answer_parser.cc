#include "net/answer_parser.h"

#include <charconv>

namespace duewheel {
namespace {

// Digits only: no sign, no blank, no list.
std::optional<std::uint64_t> parse_length(std::string_view text) {
    std::uint64_t length = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, failed] = std::from_chars(text.data(), end, length);
    if (failed != std::errc() || stopped != end) return std::nullopt;
    return length;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

std::optional<std::string_view> HttpAnswer::header(std::string_view name) const {
    for (const HttpHeader& header : headers) {
        if (equal_ignoring_case(header.name, name)) return header.value;
    }
    return std::nullopt;
}

AnswerParser::AnswerParser(std::string_view method, const AnswerLimits& limits)
    : limits_(limits),
      head_only_(method == "HEAD"),
      head_reader_({limits.start_line_bytes_max, limits.header_bytes_max, limits.header_count_max}) {}

AnswerParser::State AnswerParser::read(std::string_view bytes, std::size_t& consumed) {
    consumed = 0;
    while (!in_body_) {
        std::size_t of_head = 0;
        const State state = read_head(bytes.substr(consumed), of_head);
        consumed += of_head;
        if (state != State::complete) return state;
        if (answer_.status >= 200) in_body_ = true;  // interim answers say only that a final one follows
    }
    if (body_state_ != BodyReader::State::need_more) return take_body(body_state_);
    std::size_t of_body = 0;
    const State state = read_body(bytes.substr(consumed), of_body);
    consumed += of_body;
    return state;
}

AnswerParser::State AnswerParser::end() {
    if (in_body_ && until_close_ && body_state_ == BodyReader::State::need_more) return State::complete;
    refuse("it broke off");
    return State::refused;
}

// Complete: one head was read, which may be that of an interim answer.
AnswerParser::State AnswerParser::read_head(std::string_view bytes, std::size_t& consumed) {
    const HeadReader::State state = head_reader_.read(bytes);
    if (state == HeadReader::State::need_more) return State::need_more;
    if (state != HeadReader::State::complete) {
        refuse("its answer is not HTTP/1.1");
        return State::refused;
    }
    answer_ = {};
    if (!understand_start_line(head_reader_.start_line(bytes))) return State::refused;
    std::vector<HttpField> fields;
    head_reader_.fields(bytes, fields);
    for (const HttpField& field : fields) {
        answer_.headers.push_back({std::string(field.name), std::string(field.value)});
    }
    consumed = head_reader_.size();
    head_reader_.reset();
    return answer_.status < 200 || understand_framing() ? State::complete : State::refused;
}

AnswerParser::State AnswerParser::read_body(std::string_view bytes, std::size_t& consumed) {
    return take_body(body_reader_.read(bytes, consumed, answer_.body));
}

AnswerParser::State AnswerParser::take_body(BodyReader::State state) {
    body_state_ = state;
    if (state == BodyReader::State::need_more) return State::need_more;
    if (state == BodyReader::State::complete) return State::complete;
    refuse(state == BodyReader::State::too_large ? "its answer is too large" : "its answer's chunks are malformed");
    return State::refused;
}

bool AnswerParser::understand_start_line(std::string_view line) {
    const bool shaped = line.size() >= 12 && line.starts_with("HTTP/1.") && is_digit(line[7]) && line[8] == ' ' &&
                        is_digit(line[9]) && is_digit(line[10]) && is_digit(line[11]) &&
                        (line.size() == 12 || line[12] == ' ');
    if (shaped) std::from_chars(line.data() + 9, line.data() + 12, answer_.status);
    // A switch to another protocol was never asked for.
    if (answer_.status < 100 || answer_.status == 101) return refuse("its answer is not HTTP/1.1");
    keeps_connection_ = shaped && line[7] != '0';
    return true;
}

bool AnswerParser::understand_framing() {
    std::optional<std::uint64_t> length;
    int codings = 0;
    for (const HttpHeader& header : answer_.headers) {
        if (equal_ignoring_case(header.name, "Content-Length")) {
            const std::optional<std::uint64_t> stated = parse_length(header.value);
            if (!stated || (length && *length != *stated)) return refuse("its answer has no clear length");
            length = stated;
        } else if (equal_ignoring_case(header.name, "Transfer-Encoding")) {
            ++codings;
            if (!equal_ignoring_case(header.value, "chunked")) return refuse("its answer has an unknown coding");
        } else if (equal_ignoring_case(header.name, "Connection") && list_holds(header.value, "close")) {
            keeps_connection_ = false;
        }
    }
    if (codings > 1 || (codings > 0 && length)) return refuse("its answer has no clear length");
    const bool bodiless = head_only_ || answer_.status == 204 || answer_.status == 304;
    if (bodiless) {
        body_state_ = BodyReader::State::complete;
        return true;
    }
    until_close_ = codings == 0 && !length;
    if (until_close_) keeps_connection_ = false;
    body_state_ = codings > 0    ? body_reader_.expect_chunks(limits_.body_bytes_max)
                  : until_close_ ? body_reader_.expect_until_close(limits_.body_bytes_max)
                                 : body_reader_.expect_length(*length, limits_.body_bytes_max);
    return true;
}

bool AnswerParser::refuse(std::string_view objection) {
    objection_ = objection;
    return false;
}

}  // namespace duewheel
