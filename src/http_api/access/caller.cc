#include "http_api/access/caller.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::size_t kShownBytesMax = 100;

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

bool is_host_letter(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
           c == '_';
}

// "localhost:7420", "dw.example", "[::1]:7420": wholly a host and a port, or a host alone.
std::optional<Site> parse_authority(std::string_view text) {
    Site site;
    std::size_t end = 0;
    if (text.starts_with('[')) {
        end = text.find_first_not_of("0123456789abcdefABCDEF:.", 1);
        if (end == 1 || end == std::string_view::npos || text[end] != ']') return std::nullopt;
        ++end;
    } else {
        end = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_host_letter) - text.begin());
        if (end == 0) return std::nullopt;
    }
    site.host = text.substr(0, end);
    if (end == text.size()) return site;
    const std::string_view port = text.substr(end + 1);
    const auto [stopped, failed] = std::from_chars(port.data(), port.data() + port.size(), site.port);
    const bool is_port = failed == std::errc() && stopped == port.data() + port.size() && site.port != 0;
    if (text[end] != ':' || !is_port) return std::nullopt;
    return site;
}

std::uint16_t default_port(std::string_view scheme) {
    return scheme == "https" ? kHttpsPort : kHttpPort;
}

// The port of `site` if it is called with `scheme`.
std::uint16_t port_of(const Site& site, std::string_view scheme) {
    return site.port != 0 ? site.port : default_port(scheme);
}

bool is_among(std::string_view host, const std::vector<std::string>& hosts) {
    return std::any_of(hosts.begin(), hosts.end(),
                       [&](const std::string& each) { return equal_ignoring_case(each, host); });
}

bool is_own_host(std::string_view host_field, const CallerRules& rules) {
    const std::optional<Site> called = parse_authority(host_field);
    if (!called) return false;
    if (is_among(called->host, rules.own_hosts)) return true;
    return std::any_of(rules.sites.begin(), rules.sites.end(), [&](const Site& site) {
        if (!equal_ignoring_case(site.host, called->host)) return false;
        // Browsers omit the default port, of a scheme that a proxy may have taken away.
        const bool has_default_port = called->port == 0 && (site.port == kHttpPort || site.port == kHttpsPort);
        return site.port == 0 || site.port == called->port || has_default_port;
    });
}

// A page of the server itself, or of a site that the operator named. "null" and extensions of browsers are neither.
bool is_own_page(std::string_view origin, const HttpRequest& request, std::string_view host_field,
                 const CallerRules& rules) {
    const std::optional<Site> page = parse_site(origin);
    if (!page || page->scheme.empty()) return false;
    const std::uint16_t port = port_of(*page, page->scheme);
    const std::optional<Site> called = parse_authority(host_field);
    // A page that was loaded without TLS may be forged. Behind a proxy the server itself need not speak TLS.
    const bool has_scheme = page->scheme == "https" || !request.peer.is_tls;
    if (called && has_scheme && equal_ignoring_case(page->host, called->host) &&
        port == port_of(*called, page->scheme)) {
        return true;
    }
    return std::any_of(rules.sites.begin(), rules.sites.end(), [&](const Site& site) {
        return equal_ignoring_case(site.host, page->host) && port_of(site, page->scheme) == port &&
               (site.scheme.empty() ? has_scheme : site.scheme == page->scheme);
    });
}

// A person who follows a link to the dashboard or to the documentation; their files are requested by their own pages.
bool is_link_to_page(const HttpRequest& request) {
    return (request.path == "/" || request.path == "/docs" || request.path.starts_with("/docs/")) &&
           request.header("Sec-Fetch-Mode") == "navigate";
}

Error foreign_host(std::string_view host) {
    return {"foreign_host"_code,
            "this server does not have the name \"" + std::string(host.substr(0, kShownBytesMax)) +
                "\": call it by its address or as localhost, or add the name to its setting http.hosts",
            "Host"};
}

Error foreign_origin(std::string_view said, std::string_view field) {
    return {"foreign_origin"_code,
            "a web page of \"" + std::string(said.substr(0, kShownBytesMax)) +
                "\" must not call this server: if it is yours, add its host to the setting http.hosts, with scheme and "
                "port if they are not the usual ones",
            std::string(field)};
}

}  // namespace

std::optional<Site> parse_site(std::string_view text) {
    std::string_view scheme;
    for (const std::string_view known : {"https", "http"}) {
        if (!text.starts_with(std::string(known) + "://")) continue;
        scheme = known;
        text.remove_prefix(known.size() + 3);
        break;
    }
    std::optional<Site> site = parse_authority(text);
    if (site) site->scheme = scheme;
    return site;
}

Status check_caller(const HttpRequest& request, const CallerRules& rules) {
    // Only HTTP/1.0 allows requests without Host, and browsers do not use it.
    const std::optional<std::string_view> host = request.header("Host");
    if (rules.check_host && host && !is_own_host(*host, rules)) return foreign_host(*host);
    const bool is_read = request.method == "GET" || request.method == "HEAD";
    const bool is_cross_site = request.header("Sec-Fetch-Site") == "cross-site";
    if (is_read && (!is_cross_site || is_link_to_page(request))) return {};
    return check_page(request, rules);
}

Status check_page(const HttpRequest& request, const CallerRules& rules) {
    const std::string_view host = request.header("Host").value_or("");
    bool has_origin = false;
    // Each one of several Origin fields must be allowed.
    for (const HttpField& field : request.fields) {
        if (!equal_ignoring_case(field.name, "Origin")) continue;
        has_origin = true;
        if (!is_own_page(field.value, request, host, rules)) return foreign_origin(field.value, "Origin");
    }
    // A browser that omits Origin sends Sec-Fetch-Site; requests of pages always have one of the two.
    const std::string_view site = request.header("Sec-Fetch-Site").value_or("");
    const bool own_or_none = site.empty() || site == "same-origin" || site == "none";
    if (!has_origin && !own_or_none) return foreign_origin(site, "Sec-Fetch-Site");
    return {};
}

}  // namespace duewheel
