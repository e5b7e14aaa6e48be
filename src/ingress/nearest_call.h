// The call that was most likely meant by a path that names none.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace duewheel {

// Such as "/v1/queues/{queue}:lease" for /lease, /v1/queues/q/lease and /v1/queues/q:receive; empty where none is near.
// `segments` are the path's, raw, as for find_call(). O(calls); long segments are near nothing.
std::string nearest_call(std::span<const std::string_view> segments);

}  // namespace duewheel
