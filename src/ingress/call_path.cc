#include "ingress/call_path.h"

#include <algorithm>
#include <utility>

namespace duewheel {
namespace {

using What = CallPath::What;

// "/v1/COLLECTION/NAME:VERB" or "/v1/COLLECTION/NAME/PART"; without a name "/v1/COLLECTION:VERB".
struct Shape {
    What what;
    bool named;
    std::string_view collection;
    std::string_view verb;
    std::string_view part;
    std::string_view methods;
};

// In the order of What.
constexpr Shape kShapes[] = {
    {What::put, true, "queues", "", "messages", "GET, HEAD, POST"},
    {What::put_batch, true, "queues", "", "messages:batch", "POST"},
    {What::lease, true, "queues", "lease", "", "POST"},
    {What::message, true, "messages", "", "", "GET, HEAD, DELETE, PATCH"},
    {What::fire, true, "messages", "fire", "", "POST"},
    {What::ack, true, "leases", "ack", "", "POST"},
    {What::fail, true, "leases", "fail", "", "POST"},
    {What::extend, true, "leases", "extend", "", "POST"},
    {What::release, true, "leases", "release", "", "POST"},
    {What::queue, true, "queues", "", "", "GET, HEAD, PUT, PATCH, DELETE"},
    {What::pause, true, "queues", "pause", "", "POST"},
    {What::resume, true, "queues", "resume", "", "POST"},
    {What::purge, true, "queues", "purge", "", "POST"},
    {What::redrive, true, "queues", "redrive", "", "POST"},
    {What::discard, true, "queues", "discard", "", "POST"},
    {What::hold, true, "messages", "hold", "", "POST"},
    {What::kick, true, "messages", "kick", "", "POST"},
    {What::discard_message, true, "messages", "discard", "", "POST"},
    {What::hold_lease, true, "leases", "hold", "", "POST"},
    {What::queues, false, "queues", "", "", "GET, HEAD"},
    {What::ack_batch, false, "leases", "ack", "", "POST"},
    {What::fail_batch, false, "leases", "fail", "", "POST"},
    {What::extend_batch, false, "leases", "extend", "", "POST"},
    {What::release_batch, false, "leases", "release", "", "POST"},
    {What::history, false, "history", "", "", "GET, HEAD"},
    {What::schedule, true, "schedules", "", "", "GET, HEAD, PUT, PATCH, DELETE"},
    {What::pause_schedule, true, "schedules", "pause", "", "POST"},
    {What::resume_schedule, true, "schedules", "resume", "", "POST"},
    {What::fire_schedule, true, "schedules", "fire", "", "POST"},
    {What::preview_schedule, true, "schedules", "preview", "", "GET, HEAD"},
    {What::schedules, false, "schedules", "", "", "GET, HEAD"},
    {What::commit, true, "messages", "commit", "", "POST"},
    {What::roll_back, true, "messages", "rollback", "", "POST"},
    {What::watchdog, true, "watchdogs", "", "", "GET, HEAD, PUT, PATCH, DELETE"},
    {What::feed_watchdog, true, "watchdogs", "feed", "", "POST"},
    {What::watchdogs, false, "watchdogs", "", "", "GET, HEAD"},
    {What::name_space, true, "namespaces", "", "", "GET, HEAD, PUT, PATCH, DELETE"},
    {What::name_spaces, false, "namespaces", "", "", "GET, HEAD"},
    {What::message_by_key, false, "messages", "", "", "GET, HEAD, DELETE, PATCH"},
    {What::forecast, false, "forecast", "", "", "GET, HEAD"},
};

// Cuts what follows the last colon off; false where nothing follows it.
bool cut_verb(std::string_view& name, std::string_view& verb) {
    const std::size_t colon = name.rfind(':');
    if (colon == std::string_view::npos) return true;
    verb = name.substr(colon + 1);
    name = name.substr(0, colon);
    return !verb.empty();
}

}  // namespace

std::optional<CallPath> find_call(std::span<const std::string_view> segments) {
    if (segments.empty() || segments.front() != "v1") return std::nullopt;
    segments = segments.subspan(1);
    CallPath path;
    if (segments.size() > 2 && segments.front() == "namespaces") {
        path.name_space = segments[1];
        segments = segments.subspan(2);
        if (segments.front() == "namespaces") return std::nullopt;  // none is in another
    }
    if (segments.empty() || segments.size() > 3) return std::nullopt;
    std::string_view collection = segments[0];
    std::string_view verb;
    std::string_view part;
    const bool named = segments.size() > 1;
    if (named) path.name = segments[1];
    if (segments.size() == 3) {
        part = segments[2];
        if (part.empty()) return std::nullopt;
    } else if (!cut_verb(named ? path.name : collection, verb)) {
        return std::nullopt;
    }
    const auto* shape = std::find_if(std::begin(kShapes), std::end(kShapes), [&](const Shape& each) {
        return each.named == named && each.collection == collection && each.verb == verb && each.part == part;
    });
    if (shape == std::end(kShapes)) return std::nullopt;
    path.what = shape->what;
    if (path.what == What::name_space) path.name_space = std::exchange(path.name, {});
    return path;
}

std::string_view allowed_methods(const CallPath& path) {
    return kShapes[static_cast<std::size_t>(path.what)].methods;
}

std::vector<CallShape> call_shapes() {
    std::vector<CallShape> shapes;
    for (const Shape& shape : kShapes) {
        std::string path = "/v1/" + std::string(shape.collection) + (shape.named ? "/{}" : "");
        if (!shape.verb.empty()) path.append(":").append(shape.verb);
        if (!shape.part.empty()) path.append("/").append(shape.part);
        shapes.push_back({std::move(path), shape.methods});
    }
    return shapes;
}

bool allows(std::string_view allowed, std::string_view method) {
    while (!allowed.empty()) {
        const std::size_t end = std::min(allowed.find(", "), allowed.size());
        if (allowed.substr(0, end) == method) return true;
        allowed.remove_prefix(std::min(end + 2, allowed.size()));
    }
    return false;
}

}  // namespace duewheel
