// The settings by which namespaces are spread over several servers (http_api/calls/shard_placement.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace duewheel {

// As many as ids can tell apart.
inline constexpr std::uint32_t kShardCountMax = 1024;

struct Sharding {
    std::uint32_t number = 0;       // of the shard that this server owns
    std::uint32_t count = 1;        // of shards
    std::vector<std::string> urls;  // of the server of each shard; with a replicated log the owners are in Kafka
};

// Whether another node can be named by it in redirects: http:// or https://, a host, and no path, query or user.
bool is_node_url(std::string_view url);

// Code: bad_shard_setting, with the name of the setting as the field.
Status check_sharding(const Sharding& sharding, bool is_replicated);

}  // namespace duewheel
