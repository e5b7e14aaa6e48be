#include "ingress/call_path.h"

#include <algorithm>

namespace duewheel {
namespace {

using What = CallPath::What;

// "/v1/COLLECTION/NAME:VERB" or "/v1/COLLECTION/NAME/PART".
struct Shape {
    What what;
    std::string_view collection;
    std::string_view verb;
    std::string_view part;
    std::string_view methods;
};

// In the order of What.
constexpr Shape kShapes[] = {
    {What::put, "queues", "", "messages", "GET, HEAD, POST"},
    {What::lease, "queues", "lease", "", "POST"},
    {What::message, "messages", "", "", "GET, HEAD, DELETE, PATCH"},
    {What::fire, "messages", "fire", "", "POST"},
    {What::ack, "leases", "ack", "", "POST"},
    {What::fail, "leases", "fail", "", "POST"},
    {What::extend, "leases", "extend", "", "POST"},
    {What::release, "leases", "release", "", "POST"},
    {What::queue, "queues", "", "", "GET, HEAD, PUT, DELETE"},
    {What::pause, "queues", "pause", "", "POST"},
    {What::resume, "queues", "resume", "", "POST"},
    {What::purge, "queues", "purge", "", "POST"},
    {What::queues, "", "", "", "GET, HEAD"},
};

}  // namespace

std::optional<CallPath> find_call(std::span<const std::string_view> segments) {
    if (segments.empty() || segments.front() != "v1") return std::nullopt;
    segments = segments.subspan(1);
    CallPath path;
    if (segments.size() > 2 && segments.front() == "namespaces") {
        path.name_space = segments[1];
        segments = segments.subspan(2);
    }
    if (segments.size() == 1 && segments.front() == "queues") {
        path.what = What::queues;
        return path;
    }
    if (segments.size() != 2 && segments.size() != 3) return std::nullopt;
    path.name = segments[1];
    std::string_view verb;
    std::string_view part;
    if (segments.size() == 3) {
        part = segments[2];
        if (part.empty()) return std::nullopt;
    } else if (const std::size_t colon = path.name.rfind(':'); colon != std::string_view::npos) {
        verb = path.name.substr(colon + 1);
        path.name = path.name.substr(0, colon);
        if (verb.empty()) return std::nullopt;
    }
    const auto* shape = std::find_if(std::begin(kShapes), std::end(kShapes), [&](const Shape& each) {
        return each.collection == segments[0] && each.verb == verb && each.part == part;
    });
    if (shape == std::end(kShapes)) return std::nullopt;
    path.what = shape->what;
    return path;
}

std::string_view allowed_methods(const CallPath& path) {
    return kShapes[static_cast<std::size_t>(path.what)].methods;
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
