// Determines which call a request makes: the table of all calls, with the shape of their paths, their methods, and what
// each requires of an access token. A request is classified once, when it is complete, and the result is stored with
// it.
//
// Paths are split before they are decoded, so that "%2F" and "%3A" are characters of a name and never separators.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "access/decision.h"
#include "message/message.h"
#include "net/http/http_message.h"

namespace duewheel {

struct CallPath {
    // `put` also represents the messages of a queue, which GET lists.
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
        forecast,
        token,  // an access token
        rotate_token,
        tokens,
        groups,  // all of a queue
        group,
        back_off_group,
        // Pages of the server itself.
        healthz,
        readyz,
        metrics,
        stats,
        events,
        lateness,
        wheel,
        contract,
        clock,
        accept_clock,
        advance_clock,
        session,  // of the dashboard
        // Files of the dashboard.
        dashboard,
        asset,
        docs  // pages of the documentation
    } what = What::put;
    std::string_view name_space = kDefaultNamespace;  // this and the name: raw, not decoded and not checked
    std::string_view name;          // of the queue, schedule, watchdog or token, the message's id, the lease token
    std::string_view inner_name{};  // of the group of that queue
    bool is_raw_put = false;        // its body is the message's, and its members came as header fields
};

// The call of a request; none if there is no such call. Does not check whether the method is allowed.
std::optional<CallPath> find_call(const HttpRequest& request);
// The call of a path under /v1, from its raw segments.
std::optional<CallPath> find_call(std::span<const std::string_view> segments);

// For HttpServer: the call, and which calls of one connection may be in progress at once. Puts are accepted in order,
// cancels in any order, and calls that end or extend leases are executed in order for each message. Every other call
// that changes something runs alone, such as a lease or a move.
HttpRoute classify(const HttpRequest& request);
// The result of classify().
std::optional<CallPath> call_of(const HttpRoute& route);

// What a call with this method, which must be allowed, requires of a token.
Need need_of(CallPath::What what, std::string_view method);

// What each method of a call requires; HEAD requires the same as GET. `undecided` for a method that the call does not
// have.
struct MethodNeeds {
    Need get, post, put, patch, del;

    constexpr Need of(std::string_view method) const {
        if (method == "GET" || method == "HEAD") return get;
        if (method == "POST") return post;
        if (method == "PUT") return put;
        if (method == "PATCH") return patch;
        return method == "DELETE" ? del : Need{};
    }
};

// The server's own pages: not under /v1, or independent of a namespace.
struct ServerPage {
    CallPath::What what;
    std::string_view path;
    std::string_view methods;  // as in the Allow field
    MethodNeeds needs;
};
inline constexpr ServerPage kServerPages[] = {
    {CallPath::What::healthz, "/healthz", "GET, HEAD", {.get = {Reach::no_token}}},
    {CallPath::What::readyz, "/readyz", "GET, HEAD", {.get = {Reach::any_token}}},
    {CallPath::What::metrics, "/metrics", "GET, HEAD", {.get = {Reach::server, Scope::read}}},
    {CallPath::What::stats, "/v1/stats", "GET, HEAD", {.get = {Reach::server, Scope::read}}},
    {CallPath::What::events, "/v1/events", "GET, HEAD", {.get = {Reach::server, Scope::read}}},
    {CallPath::What::lateness, "/v1/lateness", "GET, HEAD", {.get = {Reach::server, Scope::read}}},
    {CallPath::What::wheel, "/v1/wheel", "GET, HEAD", {.get = {Reach::server, Scope::read}}},
    {CallPath::What::contract, "/openapi.json", "GET, HEAD", {.get = {Reach::any_token}}},
    {CallPath::What::clock, "/v1/clock", "GET, HEAD", {.get = {Reach::server, Scope::read}}},
    {CallPath::What::accept_clock, "/v1/clock:accept", "POST", {.post = {Reach::server, Scope::admin}}},
    {CallPath::What::advance_clock, "/v1/clock:advance", "POST", {.post = {Reach::server, Scope::admin}}},
    {CallPath::What::session,
     "/v1/session",
     "GET, HEAD, POST, DELETE",
     {.get = {Reach::no_token}, .post = {Reach::no_token}, .del = {Reach::no_token}}},
    {CallPath::What::dashboard, "/", "GET, HEAD", {.get = {Reach::no_token}}},
    {CallPath::What::asset, "/assets/{file}", "GET, HEAD", {.get = {Reach::no_token}}},
    {CallPath::What::docs, "/docs/{page}", "GET, HEAD", {.get = {Reach::no_token}}},
};

// Whether it is a page of the server itself.
constexpr bool is_page(CallPath::What what) {
    return what >= CallPath::What::healthz;
}

// For the Allow field: "GET, HEAD, DELETE, PATCH".
std::string_view allowed_methods(const CallPath& path);

// The shape of every call, such as "/v1/queues/{}:lease", and its methods as in the Allow field.
struct CallShape {
    CallPath::What what;
    std::string path;
    std::string_view methods;
};
std::vector<CallShape> call_shapes();

// Method names are case-sensitive.
constexpr bool allows(std::string_view allowed, std::string_view method) {
    while (!allowed.empty()) {
        const std::size_t end = allowed.find(", ");
        if (allowed.substr(0, end) == method) return true;
        if (end == std::string_view::npos) return false;
        allowed.remove_prefix(end + 2);
    }
    return false;
}

}  // namespace duewheel
