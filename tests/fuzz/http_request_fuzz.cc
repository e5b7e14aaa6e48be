// Requests as sent by clients: split into pieces at any position, they are the same requests, with the same end.
//
// If a parser treats a request differently when it arrives in two packets, it may disagree with a proxy in front of it.
// The limits are small, so that inputs reach them.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "net/http/request_parser.h"

namespace duewheel::http_request_fuzz {
namespace {

constexpr std::size_t kCutsMax = 64;

HttpLimits small_limits() {
    HttpLimits limits;
    limits.target_bytes_max = 48;
    limits.header_bytes_max = 200;
    limits.header_count_max = 6;
    limits.body_bytes_max = 100;
    return limits;
}

// What came out of a stream of bytes: the requests in their order, and whether one was refused after them.
struct Heard {
    std::vector<std::string> requests;
    bool refused = false;

    bool operator==(const Heard&) const = default;
};

void append(std::string& to, std::string_view text) {
    to.append(std::to_string(text.size())).append(":").append(text).append(",");
}

// All of a request as one text.
std::string told(const HttpRequest& request) {
    std::string text;
    for (const std::string_view part : {request.method, request.target, request.path, request.query, request.body}) {
        append(text, part);
    }
    for (const std::string_view segment : request.segments) append(text, segment);
    for (const HttpField& field : request.fields) {
        append(text, field.name);
        append(text, field.value);
    }
    return text + std::to_string(request.minor_version) + (request.keep_alive ? "k" : "c");
}

void judge(const HttpRequest& request, const HttpLimits& limits) {
    require(request.body.size() <= limits.body_bytes_max, "a body is over its limit");
    require(request.target.size() <= limits.target_bytes_max, "a target is over its limit");
    require(request.fields.size() <= limits.header_count_max, "there are more fields than the limit");
    require(request.target == "*" || request.target.starts_with('/'), "a target does not begin with a slash");
    std::string path;
    for (const std::string_view segment : request.segments) path.append("/").append(segment);
    require(request.path == "*" || path == request.path, "the segments are not the path");
    const bool asks = request.target.size() != request.path.size();
    require(std::string(request.path) + (asks ? "?" : "") + std::string(request.query) == request.target,
            "path and query are not the target");
    int lengths = 0, codings = 0;
    for (const HttpField& field : request.fields) {
        for (const std::string_view text : {field.name, field.value}) {
            const bool clean = std::none_of(text.begin(), text.end(), [](char c) {
                return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
            });
            require(clean, "a field holds a control character");
        }
        require(!field.name.empty(), "a field has no name");
        lengths += equal_ignoring_case(field.name, "Content-Length") ? 1 : 0;
        codings += equal_ignoring_case(field.name, "Transfer-Encoding") ? 1 : 0;
    }
    require(lengths == 0 || codings == 0, "a request was taken that can be framed in two ways");
    require(request.body.empty() || lengths + codings > 0, "a body came from nowhere");
}

// Hands the bytes over as they would come: those of one piece, and what is left of the pieces before it.
Heard listen(std::string_view input, const std::vector<std::size_t>& cuts) {
    const HttpLimits limits = small_limits();
    RequestParser parser(limits);
    Heard heard;
    std::string waiting;
    std::size_t from = 0;
    for (std::size_t piece = 0; piece <= cuts.size(); ++piece) {
        const std::size_t until = piece < cuts.size() ? cuts[piece] : input.size();
        waiting.append(input.substr(from, until - from));
        from = until;
        // A block of its own of just this size, so that a look beyond its end is seen.
        const std::string bytes(waiting);
        std::string_view rest = bytes;
        while (!rest.empty()) {
            std::size_t consumed = 0;
            const RequestParser::State state = parser.read(rest, consumed);
            require(consumed <= rest.size(), "more was consumed than there is");
            rest.remove_prefix(consumed);
            if (state == RequestParser::State::refused) {
                const int status = parser.refusal().status;
                require(status >= 400 && status <= 505, "a refusal has no status");
                require(parser.refusal().code != ErrorCode::none, "a refusal has no code");
                heard.refused = true;
                return heard;
            }
            if (state != RequestParser::State::complete) break;
            judge(parser.request(), limits);
            heard.requests.push_back(told(parser.request()));
            parser.reset();
        }
        waiting = rest;
    }
    return heard;
}

}  // namespace

void fuzz(std::string_view input) {
    if (input.size() > 2000) return;
    const Heard whole = listen(input, {});
    const std::size_t step = std::max<std::size_t>(1, input.size() / kCutsMax);
    for (std::size_t cut = 1; cut < input.size(); cut += step) {
        require(listen(input, {cut}) == whole, "cut in two it is something else, at", std::to_string(cut));
    }
    std::vector<std::size_t> everywhere;
    for (std::size_t cut = 1; cut < input.size(); ++cut) everywhere.push_back(cut);
    require(listen(input, everywhere) == whole, "byte by byte it is something else");
}

}  // namespace duewheel::http_request_fuzz
