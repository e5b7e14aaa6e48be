// A path is split into three parts, and so is the shape of each call: the collection, whether a name follows, and the
// verb, after a colon or a slash.
//
//     /v1/queues/q/lease      queues, named, lease          /lease      lease may be a collection or the word alone
//
// A verb must be similar to one of ours, or be the name in another system. Then the more similar collection decides.
#include "http_api/calls/nearest_call.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <vector>

#include "http_api/calls/call_path.h"
#include "shared/nearest_name.h"

namespace duewheel {
namespace {

constexpr std::size_t kSegmentBytesMax = 32;

// The names of our calls in other systems.
struct ForeignWord {
    std::string_view word;
    std::string_view ours;
};
constexpr ForeignWord kForeignWords[] = {
    {"acknowledge", "ack"}, {"bury", "hold"},       {"complete", "ack"},     {"consume", "lease"},
    {"dequeue", "lease"},   {"done", "ack"},        {"enqueue", "messages"}, {"heartbeat", "extend"},
    {"nack", "fail"},       {"poll", "lease"},      {"pop", "lease"},        {"publish", "messages"},
    {"push", "messages"},   {"put", "messages"},    {"receive", "lease"},    {"reject", "fail"},
    {"renew", "extend"},    {"requeue", "release"}, {"reserve", "lease"},    {"retry", "fail"},
    {"run", "fire"},        {"send", "messages"},   {"touch", "extend"},     {"trigger", "fire"},
    {"unpause", "resume"},
};

struct PathParts {
    std::string_view collection;
    bool named = false;
    std::string_view word;
};

std::string_view our_word(std::string_view word) {
    const auto* foreign = std::find_if(std::begin(kForeignWords), std::end(kForeignWords),
                                       [&](const ForeignWord& each) { return each.word == word; });
    return foreign == std::end(kForeignWords) ? word : foreign->ours;
}

std::string_view after_colon(std::string_view& segment) {
    const std::size_t colon = segment.rfind(':');
    if (colon == std::string_view::npos) return {};
    const std::string_view word = segment.substr(colon + 1);
    segment = segment.substr(0, colon);
    return word;
}

// Splits a shape such as "/v1/queues/{}:lease" or "/v1/queues/{}/messages".
PathParts path_parts(std::string_view shape) {
    PathParts parts;
    shape.remove_prefix(std::string_view("/v1/").size());
    const std::size_t name = shape.find("/{}");
    parts.named = name != std::string_view::npos;
    parts.collection = shape.substr(0, name);
    if (!parts.named) {
        parts.word = after_colon(parts.collection);
    } else if (name + 3 < shape.size()) {
        parts.word = shape.substr(name + 4);
    }
    return parts;
}

std::optional<PathParts> path_parts(std::span<const std::string_view> segments) {
    if (!segments.empty() && segments.front() == "v1") segments = segments.subspan(1);
    if (segments.size() > 2 && segments.front() == "namespaces") segments = segments.subspan(2);
    if (!segments.empty() && segments.back().empty()) segments = segments.first(segments.size() - 1);
    if (segments.size() == 4) segments = segments.subspan(2);  // /v1/queues/q/messages/12
    if (segments.empty() || segments.size() > 3) return std::nullopt;
    PathParts parts{segments[0], segments.size() > 1, {}};
    if (segments.size() == 3) {
        parts.word = segments[2];
    } else if (segments.size() == 2) {
        std::string_view name = segments[1];
        parts.word = after_colon(name);
    } else {
        parts.word = after_colon(parts.collection);
    }
    if (parts.collection.size() > kSegmentBytesMax || parts.word.size() > kSegmentBytesMax) return std::nullopt;
    return parts;
}

// The distance of a call, for sorting; none if it is not similar.
using Apart = std::tuple<std::size_t, std::size_t, bool>;
std::optional<Apart> distance_to(const PathParts& requested, const PathParts& call) {
    const std::string_view word = our_word(requested.word);
    const bool same_kind = requested.word.empty() == call.word.empty();
    if (!same_kind || (!word.empty() && !is_near(word, call.word))) return std::nullopt;
    const bool near_collection = is_near(requested.collection, call.collection);
    if (word.empty() && !near_collection) return std::nullopt;
    const std::size_t of_collection =
        near_collection ? edit_distance(requested.collection, call.collection) : kSegmentBytesMax;
    return Apart{edit_distance(word, call.word), of_collection, requested.named != call.named};
}

// "/v1/queues/{}:lease" as the contract shows it.
std::string shown_path(std::string_view shape) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNames = {{{"queues", "{queue}"},
                                                                                      {"messages", "{id}"},
                                                                                      {"leases", "{token}"},
                                                                                      {"schedules", "{schedule}"},
                                                                                      {"watchdogs", "{watchdog}"},
                                                                                      {"tokens", "{token_id}"},
                                                                                      {"namespaces", "{namespace}"}}};
    std::string text(shape);
    const std::size_t name = text.find("{}");
    for (const auto& [collection, placeholder] : kNames) {
        if (name != std::string::npos && text.starts_with("/v1/" + std::string(collection) + "/")) {
            text.replace(name, 2, placeholder);
        }
    }
    if (const std::size_t group = text.find("{}"); group != std::string::npos) text.replace(group, 2, "{group}");
    return text;
}

std::string nearest_shape(const PathParts& requested) {
    std::string nearest;
    std::optional<Apart> least;
    for (const CallShape& shape : call_shapes()) {
        const std::optional<Apart> found = distance_to(requested, path_parts(shape.path));
        if (!found || (least && *found >= *least)) continue;
        least = found;
        nearest = shown_path(shape.path);
    }
    return nearest;
}

// /health, /v1/metrics
std::string nearest_page(std::span<const std::string_view> segments) {
    if (segments.size() > 2) return {};
    std::string path;
    for (const std::string_view segment : segments) path.append("/").append(segment.substr(0, kSegmentBytesMax));
    std::string nearest;
    std::size_t least = ~std::size_t{0};
    for (const ServerPage& page : kServerPages) {
        if (page.what >= CallPath::What::dashboard) continue;  // its files are no calls
        // The common prefix /v1 does not make a page similar.
        const std::size_t distance = edit_distance(path, page.path);
        if (3 * distance > std::max(path.size(), page.path.size()) || distance >= least) continue;
        nearest = page.path;
        least = distance;
    }
    return nearest;
}

}  // namespace

std::string nearest_call(std::span<const std::string_view> segments) {
    if (std::string page = nearest_page(segments); !page.empty()) return page;
    const std::optional<PathParts> parts = path_parts(segments);
    if (!parts) return {};
    std::string nearest = nearest_shape(*parts);
    // A single segment may be the verb.
    const bool alone = !parts->named && parts->word.empty();
    return nearest.empty() && alone ? nearest_shape({{}, true, parts->collection}) : nearest;
}

}  // namespace duewheel
