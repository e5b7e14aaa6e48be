#include "http_api/calls/shard_placement.h"

#define XXH_INLINE_ALL
#include <charconv>

#include <xxhash.h>

#include "base/error_codes.h"
#include "base/status.h"
#include "http_api/answers/lease_text.h"
#include "http_api/fields/json_text.h"
#include "http_api/problem.h"
#include "message/message.h"
#include "net/http/http_target.h"

namespace duewheel {
namespace {

constexpr std::string_view kInputNamespace = "kafka";
constexpr std::string_view kInputNamespaceStart = "kafka-";

// "kafka-3" -> 3, if there is such a shard.
std::optional<std::uint32_t> shard_of_input(std::string_view name, std::uint32_t shards) {
    if (!name.starts_with(kInputNamespaceStart)) return std::nullopt;
    const std::string_view digits = name.substr(kInputNamespaceStart.size());
    std::uint32_t number = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (failed != std::errc() || number >= shards || std::to_string(number) != digits) return std::nullopt;
    return number;
}

std::optional<std::uint32_t> shard_of_lease(std::string_view text, std::uint32_t shards) {
    const std::optional<LeaseToken> token = parse_lease_text(text);
    if (!token || token->id % kShardsMax >= shards) return std::nullopt;
    return static_cast<std::uint32_t>(token->id % kShardsMax);
}

// {"leases": ["TOKEN", ...]} or {"leases": [{"token": "TOKEN"}, ...]}
std::optional<std::uint32_t> shard_of_leases(std::string_view body, std::uint32_t shards) {
    if (!is_json_text(body)) return std::nullopt;
    const std::vector<std::string_view> leases = element_texts(member_text(body, "leases"));
    if (leases.empty()) return std::nullopt;
    std::string_view first = leases.front();
    if (first.starts_with('{')) first = member_text(first, "token");
    if (first.size() < 2 || !first.starts_with('"')) return std::nullopt;
    return shard_of_lease(first.substr(1, first.size() - 2), shards);
}

}  // namespace

std::uint32_t shard_of_namespace(std::string_view name, std::uint32_t shards) {
    if (const auto input = shard_of_input(name, shards)) return *input;
    return static_cast<std::uint32_t>(XXH3_64bits(name.data(), name.size()) % shards);
}

std::string input_namespace(std::uint32_t shard, std::uint32_t shards) {
    if (shards == 1) return std::string(kInputNamespace);
    return std::string(kInputNamespaceStart) + std::to_string(shard);
}

std::optional<std::uint32_t> shard_of_request(const HttpRequest& request, const CallPath& call, std::uint32_t shards) {
    if (is_page(call.what)) return std::nullopt;
    switch (call.what) {
        case CallPath::What::name_spaces:
        case CallPath::What::token:
        case CallPath::What::rotate_token:
        case CallPath::What::tokens:
            return std::nullopt;
        case CallPath::What::ack:
        case CallPath::What::fail:
        case CallPath::What::extend:
        case CallPath::What::release:
        case CallPath::What::hold_lease: {
            const Result<std::string> lease = percent_decode(call.name);
            return lease ? shard_of_lease(*lease, shards) : std::nullopt;
        }
        case CallPath::What::ack_batch:
        case CallPath::What::fail_batch:
        case CallPath::What::extend_batch:
        case CallPath::What::release_batch:
            return shard_of_leases(request.body, shards);
        default: {
            const Result<std::string> name = percent_decode(call.name_space);
            return name ? std::optional(shard_of_namespace(*name, shards)) : std::nullopt;
        }
    }
}

HttpResponse redirect_to_owner(const HttpRequest& request, std::uint32_t shard, const std::string& owner) {
    const std::string number = std::to_string(shard);
    if (owner.empty()) {
        return problem({"no_owner"_code, "no node is known to own shard " + number + " at the moment: try again"});
    }
    const std::string where = "another node owns shard " + number + ": send the request to " + owner;
    HttpResponse response = problem({"other_node"_code, where + ", as Location says"});
    response.headers.push_back({"Location", owner + std::string(request.target)});
    return response;
}

}  // namespace duewheel
