// An access token as a value, and in its byte form: the value of a `conf` record whose subject is a token, and of a row
// of the index. It determines what a client may do. It contains only the SHA-256 of the secret, never the secret
// itself.
//
// As for a namespace (namespace_settings.h), each record contains the whole token, in ascending tags with defaults
// omitted. A field that this version does not know is an error, because the server could not enforce an unknown
// restriction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "message/state.h"

namespace duewheel {

// What a token may be used for. The numbers are part of the log format.
enum class Scope : std::uint8_t { put = 0, read = 1, consume = 2, cancel = 3, schedule = 4, admin = 5 };
inline constexpr std::size_t kScopeCount = 6;
inline constexpr std::string_view kScopeNames[kScopeCount] = {"put", "read", "consume", "cancel", "schedule", "admin"};

class ScopeSet {
  public:
    constexpr ScopeSet() = default;
    constexpr ScopeSet(std::initializer_list<Scope> scopes) {
        for (const Scope scope : scopes) insert(scope);
    }
    static constexpr ScopeSet of_bits(std::uint8_t bits) {
        ScopeSet set;
        set.bits_ = bits;
        return set;
    }

    constexpr void insert(Scope scope) {
        bits_ = static_cast<std::uint8_t>(bits_ | 1u << static_cast<unsigned>(scope));
    }
    constexpr bool contains(Scope scope) const { return (bits_ >> static_cast<unsigned>(scope) & 1u) != 0; }
    constexpr bool empty() const { return bits_ == 0; }
    constexpr std::uint8_t bits() const { return bits_; }
    constexpr bool operator==(const ScopeSet&) const = default;

  private:
    std::uint8_t bits_ = 0;
};

// SHA-256. A secret has 256 random bits, so a slow hash would add nothing.
using SecretHash = std::array<std::byte, 32>;

// The part of the data that a token may see.
struct AccessLimits {
    std::vector<std::string> namespaces;  // empty: all
    std::string queue_prefix;             // empty: all queues

    bool admits_namespace(std::string_view name_space) const {
        if (namespaces.empty()) return true;
        for (const std::string& each : namespaces) {
            if (each == name_space) return true;
        }
        return false;
    }
    bool admits_queue(std::string_view queue) const { return queue.starts_with(queue_prefix); }
    bool admits(std::string_view name_space, std::string_view queue) const {
        return admits_queue(queue) && admits_namespace(name_space);
    }
    bool operator==(const AccessLimits&) const = default;
};
// Shared: a command in flight keeps the limits of its token when that is changed or removed. Null: no limits.
using SharedLimits = std::shared_ptr<const AccessLimits>;

// The refusal of anything outside of them. Code: `forbidden`.
Error outside_queues(const AccessLimits& limits, std::string field);
Error outside_namespaces(std::string_view name_space);

// 0: never, none, no limit.
struct AccessToken {
    std::string id;              // the name of the record; not in its value
    std::uint32_t revision = 0;  // incremented by each change; 0: there is no such token
    ScopeSet scopes;
    SharedLimits limits;
    std::string description;
    std::int64_t created_ms = 0;
    std::int64_t expires_ms = 0;
    SecretHash secret{};
    SecretHash old_secret{};  // valid until `old_until_ms`, after a rotation
    std::int64_t old_until_ms = 0;
    std::uint64_t requests_per_second = 0;
    std::uint64_t bytes_per_second = 0;          // of request bodies
    std::vector<std::string> certificate_names;  // a client certificate with one of these names has the token's rights

    bool has_expired(std::int64_t now_ms) const { return expires_ms != 0 && expires_ms <= now_ms; }
    // Whether it can change all tokens, and therefore grant and revoke every right.
    bool is_full_admin() const { return scopes.contains(Scope::admin) && limits == nullptr; }
    // Until when it can do that; 0: never, or no longer.
    std::int64_t admin_until_ms() const {
        if (!is_full_admin()) return 0;
        return expires_ms == 0 ? std::numeric_limits<std::int64_t>::max() : expires_ms;
    }
    // Equal ids and values; revisions may differ.
    bool says_the_same(const AccessToken& other) const;
};

// The maximum size of the value in bytes, which writers check.
inline constexpr std::size_t kTokenDescriptionBytesMax = 200;
inline constexpr std::size_t kTokenNamespacesMax = 20;
inline constexpr std::size_t kTokenCertificateNamesMax = 10;
inline constexpr std::size_t kCertificateNameBytesMax = 253;
inline constexpr std::size_t kTokenBytesMax = 8u << 10;

// Empty for a token without a revision.
std::string encode_access_token(const AccessToken& token);

// Codes: `damaged_record`, `newer_format`.
Result<AccessToken> decode_access_token(std::string_view id, std::string_view bytes);

}  // namespace duewheel
