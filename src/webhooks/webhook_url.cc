#include "webhooks/webhook_url.h"

#include <algorithm>
#include <charconv>

#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::size_t kHostBytesMax = 253;
constexpr std::size_t kLabelBytesMax = 63;

Error refuse_url(const std::string& why) {
    return {"bad_webhook_url"_code, why, "url"};
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hexadecimal(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
char small(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

// The characters that RFC 3986 allows unescaped in a path or query.
bool may_stand_in_target(char c) {
    return is_letter(c) || is_digit(c) || std::string_view("-._~!$&'()*+,;=:@/?%").find(c) != std::string_view::npos;
}

Status check_target(std::string_view target) {
    for (std::size_t at = 0; at < target.size(); ++at) {
        if (!may_stand_in_target(target[at])) {
            return refuse_url(
                "A path or query contains a byte that must be escaped: write `%20` for a space, and so on.");
        }
        const bool is_cut =
            at + 2 >= target.size() || !is_hexadecimal(target[at + 1]) || !is_hexadecimal(target[at + 2]);
        if (target[at] == '%' && is_cut) return refuse_url("A `%` must be followed by two hexadecimal digits.");
    }
    return {};
}

// Some programs read such a host as an address: "1", "127.1", "0x7f000001", "1.2.3.0x4".
bool ends_in_a_number(std::string_view host) {
    const std::string_view last = host.substr(host.rfind('.') + 1);  // npos + 1 is 0
    if (last.size() >= 2 && last[0] == '0' && (last[1] == 'x' || last[1] == 'X')) return true;
    return !last.empty() && std::all_of(last.begin(), last.end(), is_digit);
}

Status check_name(std::string_view host) {
    if (host.empty()) return refuse_url("It has no host: write `https://example.com/path`.");
    if (host.size() > kHostBytesMax) return refuse_url("Its host is longer than 253 bytes.");
    for (std::size_t begin = 0; begin <= host.size();) {
        const std::size_t end = std::min(host.find('.', begin), host.size());
        const std::string_view label = host.substr(begin, end - begin);
        if (label.empty()) return refuse_url("Its host has an empty part: two dots, or one at its beginning or end.");
        if (label.size() > kLabelBytesMax) return refuse_url("A part of its host is longer than 63 bytes.");
        if (label.front() == '-' || label.back() == '-')
            return refuse_url("A part of its host begins or ends with `-`.");
        const bool fits = std::all_of(label.begin(), label.end(),
                                      [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_'; });
        if (!fits) {
            return refuse_url(
                "A host consists of letters, digits, `-`, `_` and dots; write one in another script as `xn--...`.");
        }
        begin = end + 1;
    }
    return {};
}

Status read_host(std::string_view text, WebhookUrl& url) {
    if (!text.empty() && text.front() == '[') {
        url.address = parse_ip_address(text.substr(1, text.size() - 2));
        if (text.back() != ']' || !url.address || !url.address->is_v6()) {
            return refuse_url("The text in brackets is not an IPv6 address, or has a zone.");
        }
        url.host = url.address->to_string();
        return {};
    }
    if (Status fits = check_name(text); !fits) return fits;
    url.host = text;
    std::transform(url.host.begin(), url.host.end(), url.host.begin(), small);
    if (!ends_in_a_number(url.host)) return {};
    url.address = parse_ip_address(url.host);
    if (url.address) return {};
    return refuse_url(
        "Its host ends in a number, so it must be an address of four numbers without leading zeros, each up to 255.");
}

Status read_port(std::string_view text, WebhookUrl& url) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), url.port);
    const bool is_number = problem == std::errc() && end == text.data() + text.size() && !text.empty();
    if (is_number && url.port != 0 && text.front() != '0') return {};
    return refuse_url("A port is a number from 1 to 65535, without leading zeros.");
}

Status read_authority(std::string_view text, WebhookUrl& url) {
    if (text.find('@') != std::string_view::npos) {
        return refuse_url("A URL must not contain a user name or password: use a secret or a header instead.");
    }
    const std::size_t bracket = text.rfind(']');
    const std::size_t colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
    if (Status host = read_host(text.substr(0, colon), url); !host) return host;
    if (colon == std::string_view::npos) return {};
    return read_port(text.substr(colon + 1), url);
}

}  // namespace

Result<WebhookUrl> WebhookUrl::from(std::string_view text) {
    if (text.size() > kWebhookUrlBytesMax) return refuse_url("It is longer than 2048 bytes.");
    const bool is_plain =
        std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f && c != '\\'; });
    if (!is_plain) {
        return refuse_url(
            "It contains a space, a backslash, a control byte or a byte that is not ASCII: percent-encode them in the "
            "path, and write a host in another script as `xn--...`.");
    }
    const std::size_t colon = text.find("://");
    std::string scheme(text.substr(0, colon == std::string_view::npos ? 0 : colon));
    std::transform(scheme.begin(), scheme.end(), scheme.begin(), small);
    if (scheme != "http" && scheme != "https") return refuse_url("It must begin with `https://` or `http://`.");
    WebhookUrl url;
    url.is_tls = scheme == "https";
    url.port = url.is_tls ? 443 : 80;
    const std::string_view rest = text.substr(colon + 3);
    if (rest.find('#') != std::string_view::npos) return refuse_url("A fragment (`#`) is never sent: remove it.");
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    if (Status authority = read_authority(rest.substr(0, end), url); !authority) return std::move(authority).error();
    url.target = rest.substr(end);
    if (url.target.empty() || url.target.front() != '/') url.target.insert(0, "/");
    if (Status target = check_target(url.target); !target) return std::move(target).error();
    return url;
}

std::string WebhookUrl::authority() const {
    const bool is_v6 = address && address->is_v6();
    std::string text = is_v6 ? "[" + host + "]" : host;
    if (port != (is_tls ? 443 : 80)) text += ":" + std::to_string(port);
    return text;
}

std::string WebhookUrl::text() const {
    return (is_tls ? "https://" : "http://") + authority() + target;
}

}  // namespace duewheel
