#include "net/http/http_message.h"

#include <algorithm>
#include <cassert>
#include <charconv>

namespace duewheel {
namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// With a line break in a value, its author could add headers, or a whole response.
bool is_sendable(const HttpHeader& header) {
    const auto is_control = [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == '\x7f'; };
    return !header.name.empty() && std::none_of(header.name.begin(), header.name.end(), is_control) &&
           std::none_of(header.value.begin(), header.value.end(), is_control);
}

void append_number(std::string& to, std::size_t number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    to.append(digits, end);
}

// Fields of every response, unless the response has its own: answers of calls, refusals of the server itself, streams.
struct StandingField {
    std::string_view name;
    std::string_view value;
    bool only_over_tls = false;
};
constexpr StandingField kStandingFields[] = {
    // No browser takes a body for a script or a page that it was not declared to be.
    {"X-Content-Type-Options", "nosniff"},
    // Responses have message bodies and names of queues.
    {"Cache-Control", "no-store"},
    // Pages of other origins do not load responses, for example as pictures.
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Strict-Transport-Security", "max-age=31536000", true},
};

std::string standing_fields(const std::vector<HttpHeader>& but_for, bool over_tls) {
    std::string lines;
    for (const StandingField& field : kStandingFields) {
        if (field.only_over_tls && !over_tls) continue;
        const auto is_same = [&](const HttpHeader& header) { return equal_ignoring_case(header.name, field.name); };
        if (std::any_of(but_for.begin(), but_for.end(), is_same)) continue;
        lines.append(field.name).append(": ").append(field.value).append("\r\n");
    }
    return lines;
}

// Most responses have no fields of their own.
void append_standing_fields(std::string& to, const HttpResponse& response, bool over_tls) {
    static const std::string kAll[] = {standing_fields({}, false), standing_fields({}, true)};
    to += response.headers.empty() ? kAll[over_tls ? 1 : 0] : standing_fields(response.headers, over_tls);
}

}  // namespace

std::optional<std::string_view> HttpRequest::header(std::string_view name) const {
    for (const HttpField& field : fields) {
        if (equal_ignoring_case(field.name, name)) return field.value;
    }
    return std::nullopt;
}

void append_response(std::string& to, const HttpResponse& response, HttpFraming framing) {
    to += "HTTP/1.1 ";
    append_number(to, static_cast<std::size_t>(response.status));
    to += ' ';
    to += reason_phrase(response.status);
    to += "\r\n";
    if (!framing.date.empty()) {
        to += "Date: ";
        to += framing.date;
        to += "\r\n";
    }
    if (!response.content_type.empty()) {
        to += "Content-Type: ";
        to += response.content_type;
        to += "\r\n";
    }
    for (const HttpHeader& header : response.headers) {
        assert(is_sendable(header));
        if (!is_sendable(header)) continue;
        to += header.name;
        to += ": ";
        to += header.value;
        to += "\r\n";
    }
    append_standing_fields(to, response, framing.over_tls);
    // 204 and 304 have no body by definition, and a 204 must not even have a length.
    const bool bodiless = response.status == 204 || response.status == 304;
    if (framing.chunked) {
        to += "Transfer-Encoding: chunked\r\n";
    } else if (!bodiless && !framing.until_close) {
        to += "Content-Length: ";
        append_number(to, response.body.size());
        to += "\r\n";
    }
    if (framing.close) {
        to += "Connection: close\r\n";
    } else if (framing.old_keep_alive) {
        to += "Connection: keep-alive\r\n";
    }
    to += "\r\n";
    const bool has_stream = framing.chunked || framing.until_close;
    if (!bodiless && !framing.head_request && !has_stream) to += response.body;
}

void append_chunk(std::string& to, std::string_view bytes) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, bytes.size(), 16).ptr;
    to.append(digits, end);
    to += "\r\n";
    to += bytes;
    to += "\r\n";
}

std::string_view reason_phrase(int status) {
    switch (status) {
        case 100:
            return "Continue";
        case 200:
            return "OK";
        case 201:
            return "Created";
        case 202:
            return "Accepted";
        case 204:
            return "No Content";
        case 301:
            return "Moved Permanently";
        case 302:
            return "Found";
        case 303:
            return "See Other";
        case 304:
            return "Not Modified";
        case 307:
            return "Temporary Redirect";
        case 308:
            return "Permanent Redirect";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 406:
            return "Not Acceptable";
        case 408:
            return "Request Timeout";
        case 409:
            return "Conflict";
        case 410:
            return "Gone";
        case 411:
            return "Length Required";
        case 412:
            return "Precondition Failed";
        case 413:
            return "Content Too Large";
        case 414:
            return "URI Too Long";
        case 415:
            return "Unsupported Media Type";
        case 417:
            return "Expectation Failed";
        case 422:
            return "Unprocessable Content";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        case 502:
            return "Bad Gateway";
        case 503:
            return "Service Unavailable";
        case 504:
            return "Gateway Timeout";
        case 505:
            return "HTTP Version Not Supported";
        case 507:
            return "Insufficient Storage";
        default:
            return "Unknown";
    }
}

bool equal_ignoring_case(std::string_view left, std::string_view right) {
    return left.size() == right.size() &&
           std::equal(left.begin(), left.end(), right.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

bool list_holds(std::string_view list, std::string_view token) {
    while (!list.empty()) {
        const auto comma = list.find(',');
        if (equal_ignoring_case(trim(list.substr(0, comma)), token)) return true;
        if (comma == std::string_view::npos) return false;
        list.remove_prefix(comma + 1);
    }
    return false;
}

}  // namespace duewheel
