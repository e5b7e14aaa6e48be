#include "http_api/calls/call_path.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "http_api/fields/field_syntax.h"

namespace duewheel {
namespace {

using What = CallPath::What;

// "/v1/COLLECTION/NAME:VERB" or "/v1/COLLECTION/NAME/PART"; without a name "/v1/COLLECTION:VERB". A part "groups/{}"
// has a name too, and may have a verb after it.
struct Shape {
    What what;
    bool named;
    std::string_view collection;
    std::string_view verb;
    std::string_view part;
    std::string_view methods;
    MethodNeeds needs;
};

constexpr Reach kQueue = Reach::queue;
constexpr Reach kSpace = Reach::name_space;
constexpr Reach kWhole = Reach::whole_namespace;
constexpr Reach kList = Reach::list;
constexpr Reach kServer = Reach::server;

constexpr std::string_view kSettingMethods = "GET, HEAD, PUT, PATCH, DELETE";

// To read settings or a rule, and to put, patch or remove it.
constexpr MethodNeeds setting_needs(Need read, Need write) {
    return {.get = read, .put = write, .patch = write, .del = write};
}

// To read a message, and to move or cancel it.
constexpr MethodNeeds kMessageNeeds{
    .get = {kSpace, Scope::read}, .patch = {kSpace, Scope::cancel}, .del = {kSpace, Scope::cancel}};

// In the order of What.
constexpr Shape kShapes[] = {
    {What::put,
     true,
     "queues",
     "",
     "messages",
     "GET, HEAD, POST",
     {.get = {kQueue, Scope::read}, .post = {kQueue, Scope::put}}},
    {What::put_batch, true, "queues", "", "messages:batch", "POST", {.post = {kQueue, Scope::put}}},
    {What::lease, true, "queues", "lease", "", "POST", {.post = {kQueue, Scope::consume}}},
    {What::message, true, "messages", "", "", "GET, HEAD, DELETE, PATCH", kMessageNeeds},
    {What::fire, true, "messages", "fire", "", "POST", {.post = {kSpace, Scope::cancel}}},
    {What::ack, true, "leases", "ack", "", "POST", {.post = {kSpace, Scope::consume}}},
    {What::fail, true, "leases", "fail", "", "POST", {.post = {kSpace, Scope::consume}}},
    {What::extend, true, "leases", "extend", "", "POST", {.post = {kSpace, Scope::consume}}},
    {What::release, true, "leases", "release", "", "POST", {.post = {kSpace, Scope::consume}}},
    {What::queue, true, "queues", "", "", kSettingMethods,
     setting_needs({kQueue, Scope::read}, {kQueue, Scope::admin})},
    {What::pause, true, "queues", "pause", "", "POST", {.post = {kQueue, Scope::admin}}},
    {What::resume, true, "queues", "resume", "", "POST", {.post = {kQueue, Scope::admin}}},
    {What::purge, true, "queues", "purge", "", "POST", {.post = {kQueue, Scope::admin}}},
    {What::redrive, true, "queues", "redrive", "", "POST", {.post = {kQueue, Scope::admin}}},
    {What::discard, true, "queues", "discard", "", "POST", {.post = {kQueue, Scope::admin}}},
    {What::hold, true, "messages", "hold", "", "POST", {.post = {kSpace, Scope::cancel}}},
    {What::kick, true, "messages", "kick", "", "POST", {.post = {kSpace, Scope::cancel}}},
    {What::discard_message, true, "messages", "discard", "", "POST", {.post = {kSpace, Scope::cancel}}},
    {What::hold_lease, true, "leases", "hold", "", "POST", {.post = {kSpace, Scope::consume}}},
    {What::queues, false, "queues", "", "", "GET, HEAD", {.get = {kSpace, Scope::read}}},
    {What::ack_batch, false, "leases", "ack", "", "POST", {.post = {kSpace, Scope::consume}}},
    {What::fail_batch, false, "leases", "fail", "", "POST", {.post = {kSpace, Scope::consume}}},
    {What::extend_batch, false, "leases", "extend", "", "POST", {.post = {kSpace, Scope::consume}}},
    {What::release_batch, false, "leases", "release", "", "POST", {.post = {kSpace, Scope::consume}}},
    {What::history, false, "history", "", "", "GET, HEAD", {.get = {kSpace, Scope::read}}},
    {What::schedule, true, "schedules", "", "", kSettingMethods,
     setting_needs({kSpace, Scope::read}, {kSpace, Scope::schedule})},
    {What::pause_schedule, true, "schedules", "pause", "", "POST", {.post = {kSpace, Scope::schedule}}},
    {What::resume_schedule, true, "schedules", "resume", "", "POST", {.post = {kSpace, Scope::schedule}}},
    {What::fire_schedule, true, "schedules", "fire", "", "POST", {.post = {kSpace, Scope::schedule}}},
    {What::preview_schedule,
     true,
     "schedules",
     "preview",
     "",
     "GET, HEAD, POST",
     {.get = {kSpace, Scope::read}, .post = {kSpace, Scope::read}}},
    {What::schedules, false, "schedules", "", "", "GET, HEAD", {.get = {kSpace, Scope::read}}},
    {What::commit, true, "messages", "commit", "", "POST", {.post = {kSpace, Scope::put}}},
    {What::roll_back, true, "messages", "rollback", "", "POST", {.post = {kSpace, Scope::put}}},
    {What::watchdog, true, "watchdogs", "", "", kSettingMethods,
     setting_needs({kSpace, Scope::read}, {kSpace, Scope::schedule})},
    {What::feed_watchdog, true, "watchdogs", "feed", "", "POST", {.post = {kSpace, Scope::schedule}}},
    {What::watchdogs, false, "watchdogs", "", "", "GET, HEAD", {.get = {kSpace, Scope::read}}},
    {What::name_space, true, "namespaces", "", "", kSettingMethods,
     setting_needs({kWhole, Scope::read}, {kServer, Scope::admin})},  // a tenant must not lift its own limits
    {What::name_spaces, false, "namespaces", "", "", "GET, HEAD", {.get = {kList, Scope::read}}},
    {What::message_by_key, false, "messages", "", "", "GET, HEAD, DELETE, PATCH", kMessageNeeds},
    {What::forecast, false, "forecast", "", "", "GET, HEAD", {.get = {kSpace, Scope::read}}},
    {What::token, true, "tokens", "", "", kSettingMethods,
     setting_needs({kServer, Scope::admin}, {kServer, Scope::admin})},
    {What::rotate_token, true, "tokens", "rotate", "", "POST", {.post = {kServer, Scope::admin}}},
    {What::tokens, false, "tokens", "", "", "GET, HEAD", {.get = {kServer, Scope::admin}}},
    {What::groups, true, "queues", "", "groups", "GET, HEAD", {.get = {kQueue, Scope::read}}},
    {What::group, true, "queues", "", "groups/{}", kSettingMethods,
     setting_needs({kQueue, Scope::read}, {kQueue, Scope::admin})},
    {What::back_off_group, true, "queues", "", "groups/{}:backoff", "POST", {.post = {kQueue, Scope::consume}}},
};

constexpr std::string_view kAllMethods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};

// Whether each method has its needs, and nothing else has.
constexpr bool is_decided(std::string_view methods, const MethodNeeds& needs) {
    for (const std::string_view method : kAllMethods) {
        if (allows(methods, method) != (needs.of(method).reach != Reach::undecided)) return false;
    }
    return true;
}
constexpr bool are_all_decided() {
    unsigned place = 0;
    for (const Shape& shape : kShapes) {
        if (static_cast<unsigned>(shape.what) != place++ || !is_decided(shape.methods, shape.needs)) return false;
    }
    for (const ServerPage& page : kServerPages) {
        if (static_cast<unsigned>(page.what) != place++ || !is_decided(page.methods, page.needs)) return false;
    }
    return place == static_cast<unsigned>(What::docs) + 1;
}
static_assert(are_all_decided(), "a call is missing, out of order, or has a method of which no scope is said");

constexpr std::size_t kFirstPage = std::size(kShapes);

// Cuts the part after the last colon off; false if it is empty.
bool cut_verb(std::string_view& name, std::string_view& verb) {
    const std::size_t colon = name.rfind(':');
    if (colon == std::string_view::npos) return true;
    verb = name.substr(colon + 1);
    name = name.substr(0, colon);
    return !verb.empty();
}

// Whether the part of a shape has a name with this verb, in this collection.
bool is_of_inner(std::string_view part, std::string_view collection, std::string_view verb) {
    if (!part.starts_with(collection)) return false;
    part.remove_prefix(collection.size());
    if (!part.starts_with("/{}")) return false;
    part.remove_prefix(3);
    return verb.empty() ? part.empty() : part.starts_with(':') && part.substr(1) == verb;
}

}  // namespace

std::optional<CallPath> find_call(std::span<const std::string_view> segments) {
    if (segments.empty() || segments.front() != "v1") return std::nullopt;
    segments = segments.subspan(1);
    CallPath path;
    if (segments.size() > 2 && segments.front() == "namespaces") {
        path.name_space = segments[1];
        segments = segments.subspan(2);
        // These do not belong to a namespace.
        if (segments.front() == "namespaces" || segments.front().starts_with("tokens")) return std::nullopt;
    }
    if (segments.empty() || segments.size() > 4) return std::nullopt;
    std::string_view collection = segments[0];
    std::string_view verb;
    std::string_view part;
    const bool named = segments.size() > 1;
    if (named) path.name = segments[1];
    const bool has_inner = segments.size() == 4;
    std::string_view inner_verb;
    if (segments.size() >= 3) {
        part = segments[2];
        if (part.empty()) return std::nullopt;
        if (has_inner) {
            path.inner_name = segments[3];
            if (!cut_verb(path.inner_name, inner_verb)) return std::nullopt;
        }
    } else if (!cut_verb(named ? path.name : collection, verb)) {
        return std::nullopt;
    }
    const auto* shape = std::find_if(std::begin(kShapes), std::end(kShapes), [&](const Shape& each) {
        return each.named == named && each.collection == collection && each.verb == verb &&
               (has_inner ? is_of_inner(each.part, part, inner_verb) : each.part == part);
    });
    if (shape == std::end(kShapes)) return std::nullopt;
    path.what = shape->what;
    if (path.what == What::name_space) path.name_space = std::exchange(path.name, {});
    return path;
}

std::optional<CallPath> find_call(const HttpRequest& request) {
    for (const ServerPage& page : kServerPages) {
        if (page.path == request.path) return CallPath{page.what, {}, {}, {}};
    }
    if (request.path.starts_with("/assets/")) return CallPath{What::asset, {}, {}, {}};
    if (request.path == "/docs" || request.path.starts_with("/docs/")) return CallPath{What::docs, {}, {}, {}};
    std::optional<CallPath> call = find_call(request.segments);
    if (call && call->what == What::put && request.method == "POST") call->is_raw_put = !is_json(request);
    return call;
}

namespace {

HttpGroup group_of(const CallPath& call, std::string_view method) {
    constexpr HttpGroup kPuts = kFirstOwnGroup;
    constexpr HttpGroup kCancels = kFirstOwnGroup + 1;
    constexpr HttpGroup kLeaseEnds = kFirstOwnGroup + 2;
    switch (call.what) {
        case What::put:
        case What::put_batch:
            return kPuts;
        case What::message:
        case What::message_by_key:
            return method == "DELETE" ? kCancels : kAlone;
        case What::ack:
        case What::fail:
        case What::extend:
        case What::release:
        case What::ack_batch:
        case What::fail_batch:
        case What::extend_batch:
        case What::release_batch:
            return kLeaseEnds;
        default:
            return kAlone;
    }
}

// Values of HttpRoute::call: 0: no call; otherwise the number of the call, with this bit if it is a raw put.
constexpr unsigned kRawPutBit = 1u << 16;

}  // namespace

HttpRoute classify(const HttpRequest& request) {
    HttpRoute route;
    const bool is_read = request.method == "GET" || request.method == "HEAD";
    if (is_read) route.group = kReadsGroup;
    const std::optional<CallPath> call = find_call(request);
    if (!call) return route;
    if (!is_read) route.group = group_of(*call, request.method);
    if (call->what == What::events) route.group = kAlone;  // its response has no end
    route.call = static_cast<unsigned>(call->what) + 1 + (call->is_raw_put ? kRawPutBit : 0);
    route.outer_name = call->name_space;
    route.name = call->name;
    route.inner_name = call->inner_name;
    return route;
}

std::optional<CallPath> call_of(const HttpRoute& route) {
    const unsigned call = route.call & ~kRawPutBit;
    if (call == 0) return std::nullopt;
    return CallPath{static_cast<What>(call - 1), route.outer_name, route.name, route.inner_name,
                    (route.call & kRawPutBit) != 0};
}

std::string_view allowed_methods(const CallPath& path) {
    const auto number = static_cast<std::size_t>(path.what);
    return number < kFirstPage ? kShapes[number].methods : kServerPages[number - kFirstPage].methods;
}

Need need_of(What what, std::string_view method) {
    const auto number = static_cast<std::size_t>(what);
    const MethodNeeds& needs = number < kFirstPage ? kShapes[number].needs : kServerPages[number - kFirstPage].needs;
    return needs.of(method);
}

std::vector<CallShape> call_shapes() {
    std::vector<CallShape> shapes;
    for (const Shape& shape : kShapes) {
        std::string path = "/v1/" + std::string(shape.collection) + (shape.named ? "/{}" : "");
        if (!shape.verb.empty()) path.append(":").append(shape.verb);
        if (!shape.part.empty()) path.append("/").append(shape.part);
        shapes.push_back({shape.what, std::move(path), shape.methods});
    }
    return shapes;
}

}  // namespace duewheel
