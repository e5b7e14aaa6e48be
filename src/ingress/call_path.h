// Which call a path names: a table of their shapes, and nothing else. Paths are split before they are decoded, so that
// "%2F" and "%3A" are letters of a name and never a separator.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "message/message.h"

namespace duewheel {

struct CallPath {
    // `put` stands for the messages of a queue: GET lists them.
    enum class What {
        put,
        put_batch,
        lease,
        message,
        fire,
        ack,
        fail,
        extend,
        release,
        queue,
        pause,
        resume,
        purge,
        redrive,
        discard,
        hold,
        kick,
        discard_message,
        hold_lease,
        queues,  // all of them: without a name
        ack_batch,
        fail_batch,
        extend_batch,
        release_batch,
        history,
        schedule,
        pause_schedule,
        resume_schedule,
        fire_schedule,
        preview_schedule,
        schedules,  // all of them: without a name
        commit,
        roll_back,
        watchdog,
        feed_watchdog,
        watchdogs,   // all of them: without a name
        name_space,  // itself
        name_spaces,
        message_by_key,  // without a name: of parameters
        forecast
    } what = What::put;
    std::string_view name_space = kDefaultNamespace;  // this and the name: raw, not decoded and not checked
    std::string_view name;                            // of the queue, schedule or watchdog, the message's id, the token
};

// The path under /v1, from its raw segments; nothing where there is no such call.
std::optional<CallPath> find_call(std::span<const std::string_view> segments);

// The server's own pages, which are no calls under /v1 or of no namespace.
struct ServerPage {
    std::string_view path;
    std::string_view methods;  // as in the Allow field
};
inline constexpr ServerPage kServerPages[] = {{"/healthz", "GET, HEAD"},      {"/readyz", "GET, HEAD"},
                                              {"/metrics", "GET, HEAD"},      {"/v1/stats", "GET, HEAD"},
                                              {"/openapi.json", "GET, HEAD"}, {"/v1/clock", "GET, HEAD"},
                                              {"/v1/clock:accept", "POST"},   {"/v1/clock:advance", "POST"}};

// For the Allow field: "GET, HEAD, DELETE, PATCH".
std::string_view allowed_methods(const CallPath& path);

// The shape of every call, such as "/v1/queues/{}:lease", and its methods as in the Allow field.
struct CallShape {
    std::string path;
    std::string_view methods;
};
std::vector<CallShape> call_shapes();

// Method names are case-sensitive.
bool allows(std::string_view allowed, std::string_view method);

}  // namespace duewheel
