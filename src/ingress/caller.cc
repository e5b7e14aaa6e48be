#include "ingress/caller.h"

#include <algorithm>
#include <string_view>

namespace duewheel {
namespace {

constexpr std::size_t kShownBytesMax = 100;

// "localhost:7420" without its port.
std::string_view host_of(std::string_view authority) {
    if (authority.starts_with('[')) return authority.substr(0, authority.find(']') + 1);
    return authority.substr(0, authority.find(':'));
}

bool is_among(std::string_view host, const std::vector<std::string>& hosts) {
    return std::any_of(hosts.begin(), hosts.end(),
                       [&](const std::string& each) { return equal_ignoring_case(each, host); });
}

// "https://example.org:8443" without its scheme; empty for "null" and for schemes other than http and https.
std::string_view authority_of(std::string_view origin) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (origin.starts_with(scheme)) return origin.substr(scheme.size());
    }
    return {};
}

bool is_own_page(std::string_view origin, std::string_view host_field, const CallerRules& rules) {
    const std::string_view authority = authority_of(origin);
    if (authority.empty()) return false;
    return equal_ignoring_case(authority, host_field) || is_among(host_of(authority), rules.trusted_hosts);
}

Error foreign_host(std::string_view host) {
    return {"foreign_host",
            "this server does not have the name \"" + std::string(host.substr(0, kShownBytesMax)) +
                "\": call it by its address or as localhost, or add the name to its setting http.hosts",
            "Host"};
}

Error foreign_origin(std::string_view said, std::string_view field) {
    return {"foreign_origin",
            "a web page of \"" + std::string(said.substr(0, kShownBytesMax)) +
                "\" must not change anything here: if it is yours, add its host to the setting http.hosts",
            std::string(field)};
}

}  // namespace

Status check_caller(const HttpRequest& request, const CallerRules& rules) {
    std::string_view host_field;
    std::string_view fetch_site;
    bool has_host = false;
    bool has_origin = false;
    for (const HttpField& field : request.fields) {
        if (equal_ignoring_case(field.name, "Host")) {
            host_field = field.value;
            has_host = true;
        } else if (equal_ignoring_case(field.name, "Origin")) {
            has_origin = true;
        } else if (equal_ignoring_case(field.name, "Sec-Fetch-Site")) {
            fetch_site = field.value;
        }
    }
    // Only HTTP/1.0 allows requests without Host, and browsers do not use it.
    if (rules.check_host && has_host && !is_among(host_of(host_field), rules.own_hosts)) {
        return foreign_host(host_field);
    }
    if (request.method == "GET" || request.method == "HEAD") return {};
    // Of several Origin fields, each must be allowed.
    for (const HttpField& field : request.fields) {
        if (!equal_ignoring_case(field.name, "Origin") || is_own_page(field.value, host_field, rules)) continue;
        return foreign_origin(field.value, "Origin");
    }
    // A browser that omits Origin sends Sec-Fetch-Site; requests of pages always have one of the two.
    const bool own_or_none = fetch_site.empty() || fetch_site == "same-origin" || fetch_site == "none";
    if (!has_origin && !own_or_none) return foreign_origin(fetch_site, "Sec-Fetch-Site");
    return {};
}

}  // namespace duewheel
