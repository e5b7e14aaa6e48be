#include "http_api/access/session_cookie.h"

#include <algorithm>

#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::string_view kCookieName = "duewheel_session";
constexpr std::string_view kTlsCookieName = "__Host-duewheel_session";

// The browser speaks TLS: to this server, or to a proxy in front of it, as the origin of its page shows.
bool is_over_tls(const HttpRequest& request) {
    return request.peer.is_tls || request.header("Origin").value_or("").starts_with("https://");
}

std::optional<std::string_view> find_cookie(const HttpRequest& request, std::string_view name) {
    std::optional<std::string_view> found;
    for (const HttpField& field : request.fields) {
        if (!equal_ignoring_case(field.name, "Cookie")) continue;
        std::string_view pairs = field.value;
        while (!pairs.empty()) {
            const std::size_t end = std::min(pairs.find(';'), pairs.size());
            std::string_view pair = pairs.substr(0, end);
            pairs.remove_prefix(std::min(end + 1, pairs.size()));
            while (pair.starts_with(' ')) pair.remove_prefix(1);
            const std::size_t equals = pair.find('=');
            if (equals == std::string_view::npos || pair.substr(0, equals) != name) continue;
            found = found ? std::string_view() : pair.substr(equals + 1);
        }
    }
    return found;
}

HttpHeader set_cookie(const HttpRequest& request, std::string_view value, std::string_view more) {
    const bool over_tls = is_over_tls(request);
    std::string text(over_tls ? kTlsCookieName : kCookieName);
    text.append("=").append(value).append("; HttpOnly; SameSite=Strict; Path=/").append(over_tls ? "; Secure" : "");
    return {"Set-Cookie", text.append(more)};
}

}  // namespace

std::optional<std::string_view> session_id(const HttpRequest& request) {
    const std::optional<std::string_view> secure = find_cookie(request, kTlsCookieName);
    return secure || request.peer.is_tls ? secure : find_cookie(request, kCookieName);
}

HttpHeader begin_session(const HttpRequest& request, std::string_view id) {
    return set_cookie(request, id, "");
}

HttpHeader end_session(const HttpRequest& request) {
    return set_cookie(request, "", "; Max-Age=0");
}

Status check_session_page(const HttpRequest& request) {
    if (request.method == "GET" || request.method == "HEAD") return {};
    if (request.header("Origin") || request.header("Sec-Fetch-Site") == "same-origin") return {};
    return Error{"foreign_origin"_code,
                 "a change with the cookie of the dashboard must come from a page of this server, and this request "
                 "names no page in Origin: programs send the token as `Authorization: Bearer dw_...`",
                 "Origin"};
}

}  // namespace duewheel
