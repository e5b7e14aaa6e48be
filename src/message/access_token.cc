#include "message/access_token.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "message/fields.h"

namespace duewheel {
namespace {

// Field numbers. They are in the log: never change or re-use one.
enum Tag : std::uint32_t {
    kRevision = 1,
    kScopes = 2,
    kNamespaces = 3,
    kQueuePrefix = 4,
    kDescription = 5,
    kCreated = 6,
    kExpires = 7,
    kSecret = 8,
    kOldSecret = 9,
    kOldUntil = 10,
    kRequestsPerSecond = 11,
    kBytesPerSecond = 12,
    kCertificateNames = 13,
};

// Names contain no zero byte, so a zero byte separates them.
std::string joined(std::span<const std::string> names) {
    std::string text;
    for (const std::string& name : names) {
        if (!text.empty()) text.push_back('\0');
        text.append(name);
    }
    return text;
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> names;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\0'), text.size());
        names.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return names;
}

std::string_view bytes_of(const SecretHash& hash) {
    return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

void read_hash(FieldsReader& from, std::uint32_t tag, SecretHash& into) {
    std::string_view bytes;
    if (!from.text(tag, bytes)) return;
    if (bytes.size() != into.size()) return from.refuse();
    std::memcpy(into.data(), bytes.data(), into.size());
}

}  // namespace

std::string encode_access_token(const AccessToken& token) {
    std::string out;
    if (token.revision == 0) return out;
    const AccessLimits none;
    const AccessLimits& limits = token.limits ? *token.limits : none;
    FieldWriter to(out);
    to.number(kRevision, token.revision);
    to.number(kScopes, token.scopes.bits());
    to.text(kNamespaces, joined(limits.namespaces));
    to.text(kQueuePrefix, limits.queue_prefix);
    to.text(kDescription, token.description);
    to.signed_number(kCreated, token.created_ms);
    to.signed_number(kExpires, token.expires_ms);
    to.text(kSecret, bytes_of(token.secret));
    if (token.old_until_ms != 0) to.text(kOldSecret, bytes_of(token.old_secret));
    to.signed_number(kOldUntil, token.old_until_ms);
    to.number(kRequestsPerSecond, token.requests_per_second);
    to.number(kBytesPerSecond, token.bytes_per_second);
    to.text(kCertificateNames, joined(token.certificate_names));
    return out;
}

Result<AccessToken> decode_access_token(std::string_view id, std::string_view bytes) {
    AccessToken token;
    token.id = id;
    AccessLimits limits;
    std::string_view namespaces;
    std::string_view certificate_names;
    std::uint8_t scopes = 0;
    FieldsReader from(bytes);
    from.number(kRevision, token.revision);
    from.number(kScopes, scopes);
    from.text(kNamespaces, namespaces);
    from.text(kQueuePrefix, limits.queue_prefix);
    from.text(kDescription, token.description);
    from.signed_number(kCreated, token.created_ms);
    from.signed_number(kExpires, token.expires_ms);
    read_hash(from, kSecret, token.secret);
    read_hash(from, kOldSecret, token.old_secret);
    from.signed_number(kOldUntil, token.old_until_ms);
    from.number(kRequestsPerSecond, token.requests_per_second);
    from.number(kBytesPerSecond, token.bytes_per_second);
    from.text(kCertificateNames, certificate_names);
    limits.namespaces = split(namespaces);
    token.certificate_names = split(certificate_names);
    if (Status known = from.end("an access token holds"); !known) return std::move(known).error();
    if (from.damaged() || (token.revision == 0) != bytes.empty()) {
        return Error{"damaged_record", "an access token cannot be read"};
    }
    if (scopes >> kScopeCount != 0) {
        return Error{"newer_format",
                     "an access token has a scope that this version does not know: open the data with the version that "
                     "wrote it"};
    }
    token.scopes = ScopeSet::of_bits(scopes);
    if (limits != AccessLimits{}) token.limits = std::make_shared<const AccessLimits>(std::move(limits));
    return token;
}

Error outside_queues(const AccessLimits& limits, std::string field) {
    return {"forbidden",
            "this token may use only queues whose names begin with `" + limits.queue_prefix +
                "`: name one of these, or use a token for the other queue",
            std::move(field)};
}

Error outside_namespaces(std::string_view name_space) {
    return {"forbidden",
            "this token may not use the namespace `" + std::string(name_space) +
                "`: use one of its own namespaces, or a token for this one",
            "namespace"};
}

bool AccessToken::says_the_same(const AccessToken& other) const {
    AccessToken left = *this;
    AccessToken right = other;
    left.revision = right.revision = 1;
    return id == other.id && encode_access_token(left) == encode_access_token(right);
}

}  // namespace duewheel
