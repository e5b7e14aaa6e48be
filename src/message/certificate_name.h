// Subject alternative names of certificates as text, with their type: "dns:host.example",
// "uri:spiffe://example.org/worker", "email:ann@example.org".
//
// An authority that lets its clients choose a URI does not thereby let them choose a DNS name: names of two types are
// different names, even if they are spelled alike. A name that a token was given without a type has the one that it
// looks like.
#pragma once

#include <string>
#include <string_view>

namespace duewheel {

inline constexpr std::string_view kDnsName = "dns:";
inline constexpr std::string_view kUriName = "uri:";
inline constexpr std::string_view kEmailName = "email:";

// With the type: "spiffe://a/b" is a URI because it has a scheme, "ann@example.org" an email address, anything else a
// DNS name.
inline std::string typed_certificate_name(std::string_view name) {
    for (const std::string_view type : {kDnsName, kUriName, kEmailName}) {
        if (name.starts_with(type)) return std::string(name);
    }
    std::string_view type = name.find('@') != std::string_view::npos ? kEmailName : kDnsName;
    if (name.find(':') != std::string_view::npos) type = kUriName;
    return std::string(type).append(name);
}

}  // namespace duewheel
