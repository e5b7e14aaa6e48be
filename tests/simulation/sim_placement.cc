#include "simulation/sim_placement.h"

#include <cassert>
#include <string_view>
#include <variant>
#include <vector>

#include <xxhash.h>

#include "http_api/answers/lease_text.h"
#include "http_api/calls/shard_placement.h"

namespace duewheel {
namespace {

std::uint32_t shard_of_name(std::string_view name, std::uint32_t shards) {
    return static_cast<std::uint32_t>(XXH3_64bits(name.data(), name.size()) % shards);
}

}  // namespace

std::optional<std::uint32_t> shard_of_command(const Command& command, std::uint32_t shards) {
    std::string text;
    const std::vector<std::string_view> segments = std::visit(
        [&](const auto& each) -> std::vector<std::string_view> {
            if constexpr (requires { each.lease.id; }) {
                text = lease_text(each.lease) + ":ack";
                return {"v1", "leases", text};
            } else if constexpr (requires {
                                     each.name_space.size();
                                     each.queue.size();
                                 }) {
                return {"v1", "namespaces", each.name_space, "queues", "any"};
            } else if constexpr (requires { each.name_space.size(); }) {
                return {"v1", "namespaces", each.name_space};
            } else {
                return {};
            }
        },
        command);
    const std::optional<CallPath> call = find_call(segments);
    return call ? shard_of_request({}, *call, shards) : std::nullopt;
}

std::optional<std::uint32_t> documented_shard(const Command& command, std::uint32_t shards) {
    return std::visit(
        [&](const auto& each) -> std::optional<std::uint32_t> {
            if constexpr (requires { each.lease.id; }) {
                const std::uint64_t shard = each.lease.id % kShardsMax;
                return shard < shards ? std::optional(static_cast<std::uint32_t>(shard)) : std::nullopt;
            } else if constexpr (requires { each.name_space.size(); }) {
                return shard_of_name(each.name_space, shards);
            } else {
                return std::nullopt;
            }
        },
        command);
}

std::array<std::string, 2> namespaces_of_shard(std::uint32_t shard, std::uint32_t shards) {
    constexpr std::string_view kNames[] = {"default", "other", "orders", "mail", "stock", "night", "billing", "audit"};
    std::array<std::string, 2> chosen;
    std::size_t count = 0;
    for (const std::string_view name : kNames) {
        if (count < chosen.size() && shard_of_name(name, shards) == shard) chosen[count++] = name;
    }
    assert(count == chosen.size());
    return chosen;
}

}  // namespace duewheel
