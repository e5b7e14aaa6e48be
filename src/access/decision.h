// The access decision: whether a client may make a call, given what the call requires and what the client's token
// allows. A call that is not allowed is refused.
//
// It is made before the body of a request is read. The queue of a message or of a lease is known only to the engine,
// which compares it with the limits that are passed with the command (message/access_token.h).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "message/access_token.h"

namespace duewheel {

// The part of the data that a call can affect or show.
enum class Reach : std::uint8_t {
    undecided,        // not a call: always refused
    no_token,         // open to all
    any_token,        // shows no data
    queue,            // the queue that it names
    name_space,       // items in the namespace; the engine omits those of other queues
    whole_namespace,  // all queues of the namespace together
    list,   // all namespaces, each with all of its queues; the engine omits those that the token does not allow
    server  // all namespaces and queues together
};

// What a call requires of a token.
struct Need {
    Reach reach = Reach::undecided;
    Scope scope = Scope::admin;

    constexpr bool operator==(const Need&) const = default;
};

// The client of a request. Valid as long as the token is.
struct Principal {
    static constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();

    const AccessToken* token = nullptr;   // null: authentication is not required, and every call is allowed
    std::int64_t until_ms = kAlways;      // from then on the same credentials are refused
    std::optional<SecretHash> session{};  // the key of the dashboard's session, if that is what identifies the client

    SharedLimits limits() const { return token == nullptr ? nullptr : token->limits; }
};

// Whether the client may administer everything: it needs no token, or has one with the scope admin and without limits.
bool administers_server(const Principal& principal);

// The names are decoded; `queue` is empty if the call names none. Code: `forbidden`.
Status decide(const Principal& principal, Need need, std::string_view name_space, std::string_view queue);

}  // namespace duewheel
