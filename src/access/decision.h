// The one decision of access: whether a caller may make a call, by what the call needs and what the caller's token
// allows. What is not allowed is refused.
//
// It is made before anything is read from a request's body. What only the engine knows, the queue of a message or of a
// lease, the engine compares with the limits that travel with the command (message/access_token.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "message/access_token.h"

namespace duewheel {

// How far a call reaches into the data.
enum class Reach : std::uint8_t {
    undecided,        // not a call: nothing may make it
    no_token,         // open to all
    any_token,        // says nothing about the data
    queue,            // the queue that it names
    name_space,       // things in the namespace, of which the engine leaves out those of other queues
    whole_namespace,  // all queues of the namespace together
    list,             // all namespaces, of which the engine leaves out the others, each with all of its queues
    server            // all namespaces and queues together
};

// What a call needs of a token.
struct Need {
    Reach reach = Reach::undecided;
    Scope scope = Scope::admin;

    constexpr bool operator==(const Need&) const = default;
};

// Who makes a request. Valid as long as the token is.
struct Principal {
    const AccessToken* token = nullptr;  // null: authentication is not required, and all is allowed

    SharedLimits limits() const { return token == nullptr ? nullptr : token->limits; }
};

// The names are decoded; `queue` is that of a call that names one. Code: `forbidden`.
Status decide(const Principal& principal, Need need, std::string_view name_space, std::string_view queue);

}  // namespace duewheel
