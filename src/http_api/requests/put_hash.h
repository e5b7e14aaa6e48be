// The hash of what a put says, which tells whether two puts with one idempotency key are the same.
//
// It compares members and content, not bytes: `{"body":"x","delay":"60s"}` and `{ "delay":"1m", "body":"x" }` are the
// same put. The order of members, of headers and within JSON content does not matter, nor do spaces, escapes and units.
// Numbers in JSON content are compared as written: 1.0 is not 1. A `due` is compared as an instant, a `delay` as a
// duration, so that a put with a delay can be repeated later. What the put does about its key is no part of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/commands/command.h"

namespace duewheel {

// `when`: as the client gave it. Part of the log format: the same in every version, for the members that it has. A new
// member gets a new field number, and is omitted if it has its default. O(content).
std::uint64_t hash_put(const PutCommand& put, const When& when);

// The JSON value without spaces, its objects in the order of their names; as it is if it is not JSON.
std::string canonical_json(std::string_view text);

}  // namespace duewheel
