// Finds the call that was probably meant by an unknown path.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace duewheel {

// Such as "/v1/queues/{queue}:lease" for /lease, /v1/queues/q/lease and /v1/queues/q:receive; empty if none is near.
// `segments` are those of the path, raw, as for find_call(). O(calls); long segments are near none.
std::string nearest_call(std::span<const std::string_view> segments);

}  // namespace duewheel
